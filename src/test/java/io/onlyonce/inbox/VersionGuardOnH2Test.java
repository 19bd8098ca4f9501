package io.onlyonce.inbox;

import io.onlyonce.ground.TestDatabase;

class VersionGuardOnH2Test extends VersionGuardContract {

    VersionGuardOnH2Test() {
        super(TestDatabase::h2);
    }
}
