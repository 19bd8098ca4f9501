package io.onlyonce.outbox;

import io.onlyonce.ground.TestDatabase;

class RelayOnPostgresTest extends RelayContract {

    RelayOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
