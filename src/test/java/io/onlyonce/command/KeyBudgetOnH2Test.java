package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class KeyBudgetOnH2Test extends KeyBudgetContract {

    KeyBudgetOnH2Test() {
        super(TestDatabase::h2);
    }
}
