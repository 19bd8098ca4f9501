package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class RejectionOnPostgresTest extends RejectionContract {

    RejectionOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
