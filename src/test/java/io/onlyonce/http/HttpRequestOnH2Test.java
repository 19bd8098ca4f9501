package io.onlyonce.http;

import io.onlyonce.ground.TestDatabase;

class HttpRequestOnH2Test extends HttpRequestContract {

    HttpRequestOnH2Test() {
        super(TestDatabase::h2);
    }
}
