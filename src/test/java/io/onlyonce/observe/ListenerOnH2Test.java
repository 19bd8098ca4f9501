package io.onlyonce.observe;

import io.onlyonce.ground.TestDatabase;

class ListenerOnH2Test extends ListenerContract {

    ListenerOnH2Test() {
        super(TestDatabase::h2);
    }
}
