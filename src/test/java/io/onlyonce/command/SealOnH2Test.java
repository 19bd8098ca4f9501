package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class SealOnH2Test extends SealContract {

    SealOnH2Test() {
        super(TestDatabase::h2);
    }
}
