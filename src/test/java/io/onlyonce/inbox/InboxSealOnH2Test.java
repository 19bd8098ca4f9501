package io.onlyonce.inbox;

import io.onlyonce.ground.TestDatabase;

class InboxSealOnH2Test extends InboxSealContract {

    InboxSealOnH2Test() {
        super(TestDatabase::h2);
    }
}
