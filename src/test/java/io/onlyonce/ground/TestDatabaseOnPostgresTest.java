package io.onlyonce.ground;

class TestDatabaseOnPostgresTest extends TestDatabaseContract {

    TestDatabaseOnPostgresTest() {
        super(TestDatabase::postgres);
    }
}
