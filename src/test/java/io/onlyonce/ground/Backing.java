package io.onlyonce.ground;

import java.sql.SQLException;

import javax.sql.DataSource;

/** What lies behind a {@link TestDatabase}: how to reach it and how to be rid of it. */
sealed interface Backing {

    String url();

    String user();

    String password();

    void drop() throws SQLException;

    /** A database on a PostgreSQL server, created from a maintenance database of that server. */
    record Postgres(PgAddress address, PgAddress maintenance) implements Backing {

        static Postgres create(PgAddress maintenance, String name) throws SQLException {
            execute(maintenance.dataSource(), "CREATE DATABASE " + name);
            return new Postgres(maintenance.named(name), maintenance);
        }

        @Override
        public String url() {
            return address.url();
        }

        @Override
        public String user() {
            return address.user();
        }

        @Override
        public String password() {
            return address.password();
        }

        @Override
        public void drop() throws SQLException {
            execute(
                    maintenance.dataSource(),
                    "DROP DATABASE " + address.database() + " WITH (FORCE)");
        }
    }

    /** A database in this JVM's memory that outlives its connections until SHUTDOWN. */
    record H2(String name) implements Backing {

        @Override
        public String url() {
            return "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1";
        }

        @Override
        public String user() {
            return "sa";
        }

        @Override
        public String password() {
            return "";
        }

        @Override
        public void drop() throws SQLException {
            execute(DataSources.unpooled(url(), user(), password()), "SHUTDOWN");
        }
    }

    private static void execute(DataSource source, String sql) throws SQLException {
        try (var connection = source.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
