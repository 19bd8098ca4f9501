package io.onlyonce.retention;

import io.onlyonce.ground.TestDatabase;
import io.onlyonce.sql.Fingerprint;

import java.sql.Connection;

class RetentionOnPostgresTest extends RetentionContract {

    RetentionOnPostgresTest() {
        super(TestDatabase::postgres);
    }

    @Override
    void hold(Connection runner) throws Exception {
        try (var statement = runner.prepareStatement("SELECT pg_advisory_xact_lock(?)")) {
            statement.setLong(1, Fingerprint.of("onlyonce/1", "onlyonce", "retention").toLong());
            statement.execute();
        }
    }
}
