package io.onlyonce;

import io.onlyonce.ground.TestDatabase;

class SchemaOnH2Test extends SchemaContract {

    SchemaOnH2Test() {
        super(TestDatabase::h2);
    }
}
