package io.onlyonce.inbox;

import io.onlyonce.ground.TestDatabase;

class InboxOnPostgresTest extends InboxContract {

    InboxOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
