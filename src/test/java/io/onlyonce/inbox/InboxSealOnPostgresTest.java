package io.onlyonce.inbox;

import io.onlyonce.ground.TestDatabase;

class InboxSealOnPostgresTest extends InboxSealContract {

    InboxSealOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
