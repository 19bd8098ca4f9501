package io.onlyonce.torture;

import java.util.ArrayList;
import java.util.List;

/**
 * One cell of the matrix: a kind of fault at a step of a command, of the relay, of an inbox or of a
 * purge.
 *
 * @param weight how often it is planned: so that each strikes about as often as the others,
 *     although some often find nothing to strike
 */
record Cell(Site site, Kind kind, Step step, int weight) {

    enum Site {
        COMMAND,
        RELAY,
        INBOX,
        PURGE
    }

    enum Kind {
        /** SIGKILL of the client's process. */
        KILL,
        /** SIGSTOP of the client's process for longer than lease and idle timeout. */
        FREEZE,
        /** {@code pg_terminate_backend}. */
        TERMINATE,
        /** The client's connection is reset. */
        CUT,
        /** A half-open connection: neither side hears anything more. */
        SILENCE,
        /** A slow network. */
        DELAY,
        STATEMENT_TIMEOUT,
        LOCK_TIMEOUT,
        /** The work turns a timeout into a "no". */
        TIMEOUT_THEN_NO,
        /** The work hides an SQL error and returns as if nothing had happened. */
        SWALLOWED_ERROR,
        DEADLOCK,
        SERIALIZATION,
        /** A deferred constraint says no at COMMIT. */
        REFUSED_COMMIT,
        /** SQLState 53100, as a full disk gives it. */
        DISK_FULL,
        /** The work says COMMIT in SQL text before it does anything. */
        SAYS_COMMIT,
        /** A claim of an earlier, rolled back transaction is completed. */
        STALE_CLAIM,
        /** A claim that was undone to a savepoint is completed. */
        UNDONE_CLAIM,
        /** The publisher's call fails as a whole. */
        PUBLISHER_THROWS,
        /** The publisher refuses one event. */
        PUBLISHER_REFUSES,
        /** The publisher takes longer than it may. */
        PUBLISHER_HANGS,
        /** {@code pg_ctl restart -m immediate}, under a whole wave. */
        RESTART
    }

    enum Step {
        WHOLE_CALL,
        BEFORE_CLAIM,
        CLAIM_REQUEST,
        CLAIM_ANSWER,
        AFTER_CLAIM,
        WORK_REQUEST,
        WORK_ANSWER,
        BEFORE_FINISH,
        COMMIT_REQUEST,
        COMMIT_ANSWER,
        AFTER_COMMIT,
        FETCH_REQUEST,
        FETCH_ANSWER,
        PUBLISH,
        PUBLISHED,
        MARK_REQUEST,
        MARK_ANSWER,
        CHUNK_REQUEST,
        CHUNK,
        CHUNK_ANSWER;

        boolean isRequest() {
            return name().endsWith("_REQUEST");
        }

        boolean isAnswer() {
            return name().endsWith("_ANSWER");
        }
    }

    static final Cell RESTART = new Cell(Site.COMMAND, Kind.RESTART, Step.WHOLE_CALL, 0);

    /** Every cell that is planned. */
    static final List<Cell> ALL = all();

    /** A prime, and no divisor of the total. */
    private static final long STRIDE = 7_919;

    private static final int TOTAL = ALL.stream().mapToInt(Cell::weight).sum();

    /**
     * The cells in a mixed order that comes back to each as often as its weight says: all of them
     * are met, and not only on average.
     */
    static Cell at(long turn) {
        long left = Math.floorMod(turn * STRIDE, TOTAL);
        for (Cell cell : ALL) {
            left -= cell.weight();
            if (left < 0) {
                return cell;
            }
        }
        throw new IllegalStateException("weights");
    }

    /** True if the call as a whole is a mistake that the library must refuse. */
    boolean isMisuse() {
        return kind == Kind.SAYS_COMMIT || kind == Kind.STALE_CLAIM || kind == Kind.UNDONE_CLAIM;
    }

    String label() {
        return site + " " + kind + " " + step;
    }

    private static List<Cell> all() {
        List<Cell> cells = new ArrayList<>();
        add(cells, Site.COMMAND, Kind.CUT, 8, Step.CLAIM_REQUEST, Step.CLAIM_ANSWER);
        add(cells, Site.COMMAND, Kind.CUT, 12, Step.WORK_REQUEST, Step.WORK_ANSWER);
        add(cells, Site.COMMAND, Kind.CUT, 15, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.COMMAND, Kind.SILENCE, 20, Step.CLAIM_REQUEST, Step.CLAIM_ANSWER);
        add(cells, Site.COMMAND, Kind.SILENCE, 22, Step.WORK_REQUEST, Step.WORK_ANSWER);
        add(cells, Site.COMMAND, Kind.SILENCE, 17, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.COMMAND, Kind.KILL, 9, Step.BEFORE_CLAIM, Step.AFTER_CLAIM);
        add(cells, Site.COMMAND, Kind.KILL, 10, Step.BEFORE_FINISH, Step.AFTER_COMMIT);
        add(cells, Site.COMMAND, Kind.KILL, 11, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.COMMAND, Kind.FREEZE, 21, Step.BEFORE_FINISH);
        add(cells, Site.COMMAND, Kind.TERMINATE, 11, Step.AFTER_CLAIM, Step.BEFORE_FINISH);
        add(cells, Site.COMMAND, Kind.DELAY, 10, Step.WHOLE_CALL);
        add(cells, Site.COMMAND, Kind.STATEMENT_TIMEOUT, 12, Step.BEFORE_FINISH);
        add(cells, Site.COMMAND, Kind.LOCK_TIMEOUT, 14, Step.BEFORE_FINISH);
        add(cells, Site.COMMAND, Kind.TIMEOUT_THEN_NO, 12, Step.BEFORE_FINISH);
        add(cells, Site.COMMAND, Kind.SWALLOWED_ERROR, 13, Step.BEFORE_FINISH);
        add(cells, Site.COMMAND, Kind.DEADLOCK, 15, Step.BEFORE_FINISH);
        add(cells, Site.COMMAND, Kind.SERIALIZATION, 15, Step.BEFORE_FINISH, Step.COMMIT_REQUEST);
        add(cells, Site.COMMAND, Kind.DISK_FULL, 15, Step.BEFORE_FINISH, Step.COMMIT_REQUEST);
        add(cells, Site.COMMAND, Kind.REFUSED_COMMIT, 15, Step.COMMIT_REQUEST);
        add(cells, Site.COMMAND, Kind.SAYS_COMMIT, 16, Step.AFTER_CLAIM);
        add(cells, Site.COMMAND, Kind.STALE_CLAIM, 11, Step.COMMIT_REQUEST);
        add(cells, Site.COMMAND, Kind.UNDONE_CLAIM, 11, Step.COMMIT_REQUEST);
        add(cells, Site.RELAY, Kind.CUT, 10, Step.FETCH_REQUEST, Step.FETCH_ANSWER);
        add(cells, Site.RELAY, Kind.CUT, 10, Step.MARK_REQUEST, Step.MARK_ANSWER);
        add(cells, Site.RELAY, Kind.SILENCE, 15, Step.MARK_REQUEST, Step.MARK_ANSWER);
        add(cells, Site.RELAY, Kind.KILL, 5, Step.PUBLISH, Step.PUBLISHED);
        add(cells, Site.RELAY, Kind.FREEZE, 5, Step.PUBLISH, Step.PUBLISHED);
        add(cells, Site.RELAY, Kind.PUBLISHER_THROWS, 6, Step.PUBLISH);
        add(cells, Site.RELAY, Kind.PUBLISHER_REFUSES, 7, Step.PUBLISH);
        add(cells, Site.RELAY, Kind.PUBLISHER_HANGS, 6, Step.PUBLISH);
        add(cells, Site.INBOX, Kind.CUT, 11, Step.CLAIM_REQUEST, Step.CLAIM_ANSWER);
        add(cells, Site.INBOX, Kind.CUT, 17, Step.WORK_REQUEST, Step.WORK_ANSWER);
        add(cells, Site.INBOX, Kind.CUT, 16, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.INBOX, Kind.SILENCE, 16, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.INBOX, Kind.KILL, 14, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.KILL, 11, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.INBOX, Kind.FREEZE, 17, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.TERMINATE, 15, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.STATEMENT_TIMEOUT, 12, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.SWALLOWED_ERROR, 11, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.REFUSED_COMMIT, 16, Step.COMMIT_REQUEST);
        add(cells, Site.PURGE, Kind.CUT, 14, Step.CHUNK_REQUEST, Step.CHUNK_ANSWER);
        add(cells, Site.PURGE, Kind.CUT, 14, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.PURGE, Kind.SILENCE, 14, Step.CHUNK_REQUEST, Step.CHUNK_ANSWER);
        add(cells, Site.PURGE, Kind.SILENCE, 16, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.PURGE, Kind.KILL, 11, Step.CHUNK, Step.COMMIT_REQUEST);
        add(cells, Site.PURGE, Kind.KILL, 14, Step.COMMIT_ANSWER);
        add(cells, Site.PURGE, Kind.FREEZE, 13, Step.CHUNK);
        add(cells, Site.PURGE, Kind.TERMINATE, 12, Step.CHUNK);
        add(cells, Site.PURGE, Kind.STATEMENT_TIMEOUT, 12, Step.CHUNK);
        add(cells, Site.PURGE, Kind.DEADLOCK, 15, Step.CHUNK);
        add(cells, Site.PURGE, Kind.DISK_FULL, 18, Step.CHUNK);
        return List.copyOf(cells);
    }

    private static void add(List<Cell> cells, Site site, Kind kind, int weight, Step... steps) {
        for (Step step : steps) {
            cells.add(new Cell(site, kind, step, weight));
        }
    }
}
