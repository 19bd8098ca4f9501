package io.onlyonce.observe;

import io.onlyonce.ground.TestDatabase;

class ListenerOnPostgresTest extends ListenerContract {

    ListenerOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
