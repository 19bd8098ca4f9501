package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class RejectionOnH2Test extends RejectionContract {

    RejectionOnH2Test() {
        super(TestDatabase::h2);
    }
}
