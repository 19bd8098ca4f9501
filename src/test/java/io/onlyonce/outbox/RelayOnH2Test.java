package io.onlyonce.outbox;

import io.onlyonce.ground.TestDatabase;

class RelayOnH2Test extends RelayContract {

    RelayOnH2Test() {
        super(TestDatabase::h2);
    }
}
