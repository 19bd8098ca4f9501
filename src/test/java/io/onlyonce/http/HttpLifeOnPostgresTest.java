package io.onlyonce.http;

import io.onlyonce.ground.TestDatabase;

class HttpLifeOnPostgresTest extends HttpLifeContract {

    HttpLifeOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
