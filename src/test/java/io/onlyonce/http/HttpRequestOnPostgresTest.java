package io.onlyonce.http;

import io.onlyonce.ground.TestDatabase;

class HttpRequestOnPostgresTest extends HttpRequestContract {

    HttpRequestOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
