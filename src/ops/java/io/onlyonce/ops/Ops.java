package io.onlyonce.ops;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;

import io.onlyonce.OnlyOnce;
import io.onlyonce.OnlyOnceException;

import java.io.IOException;
import java.io.PrintStream;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/**
 * Looks into, and settles, what OnlyOnce left in a database: {@code ./gradlew -q ops
 * -Pargs="status"}. Exit code 0 if it was done, 1 if not, 2 if it was not understood.
 */
public final class Ops {

    private static final String USAGE =
            """
            status                                   how everything stands
            stuck [--limit 20]                       commands and messages that somebody must look into, aggregates that wait
            callers [--window 1h]                    who has used the most new ids
            sizes                                    tables and indexes
            resolve --tenant … --caller … --operation … --id … (--completed | --released) --who … --why …
                                                     settles a command whose outcome is unknown; --why is the last option
            dead-letters [--limit 20]                events that were given up
            requeue (--tenant … --key … | --all)     offers them to the relay again
            purge [--dry-run] [--deadline 10m] [--events-kept 7d] [--messages-kept 30d]
                                                     removes what has served its time

            --json prints one object per line. ONLYONCE_URL, ONLYONCE_USER and ONLYONCE_PASSWORD name the database,
            ONLYONCE_SCHEMA its schema if it is not onlyonce; --url, --user and --schema do too.
            """;

    private Ops() {}

    public static void main(String[] args) {
        System.exit(run(List.of(args), System.getenv(), System.out, System.err));
    }

    /** The tool without the process around it. */
    public static int run(
            List<String> args, Map<String, String> environment, PrintStream out, PrintStream err) {
        try {
            var arguments = new Arguments(args, environment);
            try (var dataSource = connect(arguments, environment.get("ONLYONCE_PASSWORD"))) {
                OnlyOnce once =
                        OnlyOnce.on(dataSource)
                                .withSchema(arguments.get("schema").orElse("onlyonce"))
                                .build();
                return new Answers(arguments, once, dataSource, out, err).answer();
            }
        } catch (HikariPool.PoolInitializationException e) {
            err.println(e.getCause().getMessage());
            return 1;
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage() + "\n\n" + USAGE);
            return 2;
        } catch (OnlyOnceException | SQLException | IOException | IllegalStateException e) {
            err.println(e.getMessage());
            return 1;
        }
    }

    /** The password is never an argument: other users of the machine can read those. */
    private static HikariDataSource connect(Arguments arguments, String password) {
        var config = new HikariConfig();
        config.setJdbcUrl(arguments.need("url"));
        arguments.get("user").ifPresent(config::setUsername);
        if (password != null) {
            config.setPassword(password);
        }
        config.setMaximumPoolSize(2);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(10_000);
        config.setInitializationFailTimeout(1); // once, not for ten seconds
        return new HikariDataSource(config);
    }
}
