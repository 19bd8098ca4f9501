package io.onlyonce.inbox;

import io.onlyonce.ground.TestDatabase;

class InboxOnH2Test extends InboxContract {

    InboxOnH2Test() {
        super(TestDatabase::h2);
    }
}
