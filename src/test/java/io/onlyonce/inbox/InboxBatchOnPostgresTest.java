package io.onlyonce.inbox;

import io.onlyonce.ground.TestDatabase;

class InboxBatchOnPostgresTest extends InboxBatchContract {

    InboxBatchOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
