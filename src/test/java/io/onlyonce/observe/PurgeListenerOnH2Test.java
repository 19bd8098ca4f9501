package io.onlyonce.observe;

import io.onlyonce.ground.TestDatabase;

class PurgeListenerOnH2Test extends PurgeListenerContract {

    PurgeListenerOnH2Test() {
        super(TestDatabase::h2);
    }
}
