package io.onlyonce.http;

import io.onlyonce.ground.TestDatabase;

class HttpOnH2Test extends HttpContract {

    HttpOnH2Test() {
        super(TestDatabase::h2);
    }
}
