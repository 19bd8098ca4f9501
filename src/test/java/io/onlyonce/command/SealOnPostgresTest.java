package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class SealOnPostgresTest extends SealContract {

    SealOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
