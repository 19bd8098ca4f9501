package io.onlyonce.tx;

import java.sql.Connection;

/**
 * The isolation levels that a transaction can ask for; it is always stated, whatever pool or server
 * default to.
 */
public enum Isolation {
    /** Every statement sees what was committed before it. */
    READ_COMMITTED("READ COMMITTED", Connection.TRANSACTION_READ_COMMITTED),
    /** Every statement sees what was committed before the first one. */
    REPEATABLE_READ("REPEATABLE READ", Connection.TRANSACTION_REPEATABLE_READ),
    /** As if transactions had run one after the other; conflicts end as 40001 and are retried. */
    SERIALIZABLE("SERIALIZABLE", Connection.TRANSACTION_SERIALIZABLE);

    private final String sql;
    private final int jdbc;

    Isolation(String sql, int jdbc) {
        this.sql = sql;
        this.jdbc = jdbc;
    }

    /** As SQL spells it. */
    public String sql() {
        return sql;
    }

    /** As {@link Connection} numbers it. */
    public int jdbc() {
        return jdbc;
    }
}
