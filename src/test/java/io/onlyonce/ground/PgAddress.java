package io.onlyonce.ground;

import org.postgresql.Driver;

import java.util.Properties;

import javax.sql.DataSource;

/** Where a PostgreSQL database is and who may enter. */
record PgAddress(String host, int port, String database, String user, String password) {

    /** Reads a JDBC URL that carries user and password as parameters. */
    static PgAddress parse(String url) {
        Properties parts = Driver.parseURL(url, new Properties());
        if (parts == null) {
            throw new IllegalArgumentException(
                    "The URL of a server must look like"
                            + " jdbc:postgresql://host:port/db?user=…&password=…");
        }
        return new PgAddress(
                parts.getProperty("PGHOST"),
                Integer.parseInt(parts.getProperty("PGPORT")),
                parts.getProperty("PGDBNAME"),
                parts.getProperty("user", "postgres"),
                parts.getProperty("password", ""));
    }

    String url() {
        return "jdbc:postgresql://" + host + ":" + port + "/" + database;
    }

    DataSource dataSource() {
        return DataSources.unpooled(url(), user, password);
    }

    PgAddress named(String otherDatabase) {
        return new PgAddress(host, port, otherDatabase, user, password);
    }

    PgAddress through(FaultProxy proxy) {
        return new PgAddress("127.0.0.1", proxy.port(), database, user, password);
    }
}
