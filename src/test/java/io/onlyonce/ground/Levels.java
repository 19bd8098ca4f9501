package io.onlyonce.ground;

import io.onlyonce.tx.Isolation;

import java.sql.Connection;

/** Isolation levels as JDBC numbers them and as SQL spells them. */
public final class Levels {

    private Levels() {}

    public static int jdbc(Isolation level) {
        return switch (level) {
            case READ_COMMITTED -> Connection.TRANSACTION_READ_COMMITTED;
            case REPEATABLE_READ -> Connection.TRANSACTION_REPEATABLE_READ;
            case SERIALIZABLE -> Connection.TRANSACTION_SERIALIZABLE;
        };
    }

    public static String sql(Isolation level) {
        return level.name().replace('_', ' ');
    }
}
