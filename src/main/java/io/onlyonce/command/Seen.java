package io.onlyonce.command;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/**
 * What the claim statement answered; {@link #decide} is the one place where it becomes a decision.
 *
 * @param held true if this transaction holds the command's lock
 * @param inserted true if it also inserted the command's row
 * @param mark proves this transaction at the finish
 * @param row the row that was there, if any could be seen
 */
record Seen(boolean held, boolean inserted, Object mark, @Nullable StoredRow row) {

    static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    static final Claim IN_FLIGHT = new Claim.InFlight(RETRY_AFTER);

    /** True if the row is to be treated as absent, and this transaction may remove it. */
    boolean isOutlived(Command command) {
        return held && row != null && isOutlived(row, command);
    }

    private static boolean isOutlived(StoredRow row, Command command) {
        return row.forgotten()
                || (row.status() != StoredRow.STARTED
                        && row.expired()
                        && command.isAgainAfterExpiry());
    }

    /** The order is part of the promise: mismatch, then expired, then what is stored. */
    Claim decide(NewRow wanted, Settings settings) {
        Command command = wanted.command();
        if (row == null) {
            return held ? new Claim.Started(wanted, mark) : IN_FLIGHT;
        }
        boolean started = row.status() == StoredRow.STARTED;
        if (isOutlived(row, command) || (started && row.own())) {
            return IN_FLIGHT;
        }
        if (!settings.seal().matches(command, row)) {
            return new Claim.PayloadMismatch();
        }
        if (started) {
            return held ? new Claim.OutcomeUnknown() : IN_FLIGHT;
        }
        if (row.expired()) {
            return new Claim.Expired();
        }
        return row.status() == StoredRow.REJECTED
                ? new Claim.Rejected(settings.seal().rejection(command, row))
                : new Claim.Replayed(command, settings, row);
    }
}
