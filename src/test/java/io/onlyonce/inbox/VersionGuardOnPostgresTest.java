package io.onlyonce.inbox;

import io.onlyonce.ground.TestDatabase;

class VersionGuardOnPostgresTest extends VersionGuardContract {

    VersionGuardOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
