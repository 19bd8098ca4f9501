package io.onlyonce.http;

import io.onlyonce.ground.TestDatabase;

class HttpLifeOnH2Test extends HttpLifeContract {

    HttpLifeOnH2Test() {
        super(TestDatabase::h2);
    }
}
