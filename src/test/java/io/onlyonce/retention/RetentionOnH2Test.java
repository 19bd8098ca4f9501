package io.onlyonce.retention;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.ground.TestDatabase;
import io.onlyonce.sql.Fingerprint;
import io.onlyonce.sql.H2;
import io.onlyonce.sql.SchemaName;

import java.sql.Connection;

class RetentionOnH2Test extends RetentionContract {

    RetentionOnH2Test() {
        super(TestDatabase::h2);
    }

    @Override
    void hold(Connection runner) throws Exception {
        long key = Fingerprint.of("onlyonce/1", "onlyonce", "retention").toLong();
        assertThat(H2.tryLock(runner, SchemaName.DEFAULT, key)).isTrue();
    }
}
