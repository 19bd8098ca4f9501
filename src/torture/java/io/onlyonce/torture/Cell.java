package io.onlyonce.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * One cell of the matrix: a kind of fault at a step of a command, of the relay or of an inbox.
 *
 * @param weight how often it is drawn; what costs seconds is drawn less
 */
record Cell(Site site, Kind kind, Step step, int weight) {

    enum Site {
        COMMAND,
        RELAY,
        INBOX
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
        MARK_ANSWER;

        boolean isRequest() {
            return name().endsWith("_REQUEST");
        }

        boolean isAnswer() {
            return name().endsWith("_ANSWER");
        }
    }

    static final Cell RESTART = new Cell(Site.COMMAND, Kind.RESTART, Step.WHOLE_CALL, 0);

    /** Every cell that is drawn. Purges belong here too, as a site of their own. */
    static final List<Cell> ALL = all();

    private static final int TOTAL = ALL.stream().mapToInt(Cell::weight).sum();

    static Cell draw(RandomGenerator random) {
        int left = random.nextInt(TOTAL);
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
        Step[] trips = {
            Step.CLAIM_REQUEST,
            Step.CLAIM_ANSWER,
            Step.WORK_REQUEST,
            Step.WORK_ANSWER,
            Step.COMMIT_REQUEST,
            Step.COMMIT_ANSWER
        };
        Step[] kills = {
            Step.BEFORE_CLAIM,
            Step.AFTER_CLAIM,
            Step.BEFORE_FINISH,
            Step.COMMIT_REQUEST,
            Step.COMMIT_ANSWER,
            Step.AFTER_COMMIT
        };
        add(cells, Site.COMMAND, Kind.CUT, 10, trips);
        add(cells, Site.COMMAND, Kind.CUT, 30, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.COMMAND, Kind.SILENCE, 8, trips);
        add(cells, Site.COMMAND, Kind.SILENCE, 9, Step.WORK_REQUEST, Step.WORK_ANSWER);
        add(cells, Site.COMMAND, Kind.KILL, 6, kills);
        add(cells, Site.COMMAND, Kind.FREEZE, 6, Step.BEFORE_FINISH);
        add(cells, Site.COMMAND, Kind.TERMINATE, 8, Step.AFTER_CLAIM, Step.BEFORE_FINISH);
        add(cells, Site.COMMAND, Kind.DELAY, 8, Step.WHOLE_CALL);
        for (Kind kind :
                List.of(
                        Kind.STATEMENT_TIMEOUT,
                        Kind.LOCK_TIMEOUT,
                        Kind.TIMEOUT_THEN_NO,
                        Kind.SWALLOWED_ERROR,
                        Kind.DEADLOCK)) {
            add(cells, Site.COMMAND, kind, 8, Step.BEFORE_FINISH);
        }
        add(cells, Site.COMMAND, Kind.SERIALIZATION, 8, Step.BEFORE_FINISH, Step.COMMIT_REQUEST);
        add(cells, Site.COMMAND, Kind.DISK_FULL, 8, Step.BEFORE_FINISH, Step.COMMIT_REQUEST);
        add(cells, Site.COMMAND, Kind.REFUSED_COMMIT, 8, Step.COMMIT_REQUEST);
        add(cells, Site.COMMAND, Kind.SAYS_COMMIT, 12, Step.AFTER_CLAIM);
        add(cells, Site.COMMAND, Kind.STALE_CLAIM, 6, Step.COMMIT_REQUEST);
        add(cells, Site.COMMAND, Kind.UNDONE_CLAIM, 9, Step.COMMIT_REQUEST);
        add(cells, Site.RELAY, Kind.CUT, 5, Step.FETCH_REQUEST, Step.FETCH_ANSWER);
        add(cells, Site.RELAY, Kind.CUT, 6, Step.MARK_REQUEST, Step.MARK_ANSWER);
        add(cells, Site.RELAY, Kind.SILENCE, 7, Step.MARK_REQUEST, Step.MARK_ANSWER);
        add(cells, Site.RELAY, Kind.KILL, 2, Step.PUBLISH, Step.PUBLISHED);
        add(cells, Site.RELAY, Kind.FREEZE, 3, Step.PUBLISH, Step.PUBLISHED);
        add(cells, Site.RELAY, Kind.PUBLISHER_THROWS, 6, Step.PUBLISH);
        add(cells, Site.RELAY, Kind.PUBLISHER_REFUSES, 8, Step.PUBLISH);
        add(cells, Site.RELAY, Kind.PUBLISHER_HANGS, 4, Step.PUBLISH);
        add(cells, Site.INBOX, Kind.CUT, 6, trips);
        add(cells, Site.INBOX, Kind.SILENCE, 9, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.INBOX, Kind.KILL, 6, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.KILL, 5, Step.COMMIT_REQUEST, Step.COMMIT_ANSWER);
        add(cells, Site.INBOX, Kind.FREEZE, 6, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.TERMINATE, 6, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.STATEMENT_TIMEOUT, 6, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.SWALLOWED_ERROR, 6, Step.BEFORE_FINISH);
        add(cells, Site.INBOX, Kind.REFUSED_COMMIT, 8, Step.COMMIT_REQUEST);
        return List.copyOf(cells);
    }

    private static void add(List<Cell> cells, Site site, Kind kind, int weight, Step... steps) {
        for (Step step : steps) {
            cells.removeIf(c -> c.site() == site && c.kind() == kind && c.step() == step);
            cells.add(new Cell(site, kind, step, weight));
        }
    }
}
