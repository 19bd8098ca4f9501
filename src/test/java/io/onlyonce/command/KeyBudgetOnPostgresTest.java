package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class KeyBudgetOnPostgresTest extends KeyBudgetContract {

    KeyBudgetOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
