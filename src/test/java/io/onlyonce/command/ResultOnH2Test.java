package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class ResultOnH2Test extends ResultContract {

    ResultOnH2Test() {
        super(TestDatabase::h2);
    }
}
