package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

class ExpiryOnH2Test extends ExpiryContract {

    ExpiryOnH2Test() {
        super(TestDatabase::h2);
    }
}
