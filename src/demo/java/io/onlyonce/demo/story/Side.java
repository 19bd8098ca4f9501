package io.onlyonce.demo.story;

import java.sql.SQLException;

import javax.sql.DataSource;

/**
 * One of the two that the story compares: a bank, and its teller on a good line and on a bad one.
 */
record Side(Kind kind, Bank bank, Teller teller, Teller overWire) {

    enum Kind {
        NAIVE,
        SAFE
    }

    /** Creates the bank; its tables begin with the name. */
    static Side create(Ground ground, Kind kind, String name) throws SQLException {
        var bank = new Bank(ground.schema(), name);
        bank.create(ground.pool());
        return new Side(
                kind,
                bank,
                teller(kind, ground.pool(), bank),
                teller(kind, ground.overWire(), bank));
    }

    static Teller teller(Kind kind, DataSource dataSource, Bank bank) throws SQLException {
        return kind == Kind.NAIVE
                ? new NaiveTeller(dataSource, bank)
                : new SafeTeller(dataSource, bank);
    }
}
