package io.onlyonce.outbox;

import io.onlyonce.sql.SchemaName;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What the statements of a relay's poll read, as PostgreSQL counts it.
 *
 * @param buckets how many were polled
 * @param pages of tables and indexes, from cache or disk
 */
record PollPages(int buckets, long pages, String plan) {

    private static final Pattern BUFFERS =
            Pattern.compile("Buffers: shared(?: hit=(\\d+))?(?: read=(\\d+))?");

    /** Runs both statements of a poll of these buckets, with plans for these values and without. */
    static List<PollPages> of(Connection connection, List<Integer> buckets, int limit)
            throws SQLException {
        String array =
                buckets.stream().map(String::valueOf).collect(Collectors.joining(",", "'{", "}'"));
        List<PollPages> polls = new ArrayList<>();
        for (String mode : List.of("force_custom_plan", "force_generic_plan")) {
            execute(connection, "BEGIN; SET LOCAL plan_cache_mode = " + mode);
            for (String sql : statements()) {
                if (!sql.startsWith("SELECT")) { // a setting, or the end of the transaction
                    execute(connection, sql);
                    continue;
                }
                int binds = (int) sql.chars().filter(c -> c == '?').count();
                execute(connection, "PREPARE poll AS " + numbered(sql));
                String poll =
                        "EXECUTE poll (%s%s)".formatted(array, (", " + limit).repeat(binds - 1));
                String plan = explain(connection, poll);
                polls.add(new PollPages(buckets.size(), pages(plan), plan));
                execute(connection, "DEALLOCATE poll");
            }
        }
        return polls;
    }

    /** The relay's own text, caught on its way to the server. */
    private static List<String> statements() {
        List<String> texts = new ArrayList<>();
        var catching =
                (Connection)
                        Proxy.newProxyInstance(
                                PollPages.class.getClassLoader(),
                                new Class<?>[] {Connection.class},
                                (proxy, method, args) -> {
                                    texts.add((String) args[0]);
                                    throw new SQLException("caught");
                                });
        try {
            new PostgresRelay(SchemaName.DEFAULT, false).fetch(catching, "", List.of(), 1);
        } catch (SQLException e) {
            return List.of(texts.get(0).split(";\\s*"));
        }
        throw new AssertionError("nothing was caught");
    }

    private static String numbered(String sql) {
        var numbered = new StringBuilder();
        int number = 0;
        for (char c : sql.toCharArray()) {
            numbered.append(c == '?' ? "$" + ++number : String.valueOf(c));
        }
        return numbered.toString();
    }

    private static String explain(Connection connection, String sql) throws SQLException {
        var plan = new StringBuilder();
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("EXPLAIN (ANALYZE, BUFFERS) " + sql)) {
            while (row.next()) {
                plan.append(row.getString(1)).append('\n');
            }
        }
        return plan.toString();
    }

    /** The first line of buffers is the root's, which includes all below it. */
    private static long pages(String plan) {
        MatchResult root = BUFFERS.matcher(plan).results().findFirst().orElseThrow();
        return number(root.group(1)) + number(root.group(2));
    }

    private static long number(String digits) {
        return digits == null ? 0 : Long.parseLong(digits);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
