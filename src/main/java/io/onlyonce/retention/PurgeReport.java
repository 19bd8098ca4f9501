package io.onlyonce.retention;

import java.time.Duration;

/**
 * What a run of retention has done.
 *
 * @param commands forgotten commands that were removed
 * @param archived how many of them were copied to the archive
 * @param tombstones expired commands whose results were dropped
 * @param messages processed messages that were removed
 * @param events published and discarded events that were removed
 * @param archiveRows rows of the archive that were removed
 * @param left rows that are due and still there, counted up to 10,000 per table
 * @param end why the run ended
 * @param took how long it ran, pauses included
 */
public record PurgeReport(
        long commands,
        long archived,
        long tombstones,
        long messages,
        long events,
        long archiveRows,
        long left,
        End end,
        Duration took) {

    /** Why a run ended. */
    public enum End {
        /** All that was due and not in somebody's hands has gone. */
        DONE,
        /** Its time was over. */
        DEADLINE,
        /** It was told to stop, or its thread was interrupted. */
        STOPPED,
        /** Another runner is at work, in this process or in another. */
        ELSEWHERE,
        /** It has not: this is a report of progress, or of what a run would do. */
        NOT_YET
    }

    /** All rows that were touched, those of the archive included. */
    public long total() {
        return commands + tombstones + messages + events + archiveRows;
    }
}
