package io.onlyonce.compare;

import java.sql.SQLException;

/** One way to move a backlog of events from a table to a publisher that does nothing. */
interface Drain {

    /** Empties the tables and puts so many events there; not timed. */
    void fill(int rows) throws Exception;

    /** Moves all of them; timed. */
    void drain(int rows) throws Exception;

    /** Fills, and drains with the clock running; returns rows per second. */
    static double measure(Ground ground, Drain drain, String table, int rows) throws Exception {
        drain.fill(rows);
        level(ground, table);
        return time(drain, rows);
    }

    /** Drains with the clock running; returns rows per second. */
    static double time(Drain drain, int rows) throws Exception {
        long start = System.nanoTime();
        drain.drain(rows);
        return rows * 1e9 / (System.nanoTime() - start);
    }

    /** The same start for everybody: statistics known, no page waiting to be written. */
    static void level(Ground ground, String table) throws SQLException {
        ground.execute("VACUUM ANALYZE " + table);
        ground.execute("CHECKPOINT");
    }
}
