package io.onlyonce.inbox;

import io.onlyonce.ground.TestDatabase;

class InboxBatchOnH2Test extends InboxBatchContract {

    InboxBatchOnH2Test() {
        super(TestDatabase::h2);
    }
}
