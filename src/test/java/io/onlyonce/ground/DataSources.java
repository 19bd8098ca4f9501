package io.onlyonce.ground;

import org.h2.jdbcx.JdbcDataSource;
import org.postgresql.ds.PGSimpleDataSource;

import javax.sql.DataSource;

/** The drivers' own, unpooled data sources; also for a {@link ChildJvm}, which gets the URL. */
public final class DataSources {

    private DataSources() {}

    /** A data source that opens a new connection each time. */
    public static DataSource unpooled(String url, String user, String password) {
        if (url.startsWith("jdbc:h2:")) {
            var h2 = new JdbcDataSource();
            h2.setURL(url);
            h2.setUser(user);
            h2.setPassword(password);
            return h2;
        }
        var postgres = new PGSimpleDataSource();
        postgres.setUrl(url);
        postgres.setUser(user);
        postgres.setPassword(password);
        return postgres;
    }
}
