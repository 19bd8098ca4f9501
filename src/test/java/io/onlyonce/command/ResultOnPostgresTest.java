package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class ResultOnPostgresTest extends ResultContract {

    ResultOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
