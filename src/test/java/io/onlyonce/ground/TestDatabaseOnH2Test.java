package io.onlyonce.ground;

class TestDatabaseOnH2Test extends TestDatabaseContract {

    TestDatabaseOnH2Test() {
        super(TestDatabase::h2);
    }
}
