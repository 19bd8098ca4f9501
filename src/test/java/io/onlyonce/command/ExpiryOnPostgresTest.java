package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class ExpiryOnPostgresTest extends ExpiryContract {

    ExpiryOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
