package io.onlyonce.observe;

import io.onlyonce.ground.TestDatabase;

class PurgeListenerOnPostgresTest extends PurgeListenerContract {

    PurgeListenerOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
