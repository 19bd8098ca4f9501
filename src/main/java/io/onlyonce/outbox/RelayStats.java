package io.onlyonce.outbox;

/**
 * What a relay has done since it was made.
 *
 * @param published events that the publisher took and that were marked
 * @param failed attempts that events were charged for
 * @param dead events given up
 * @param failedCalls calls that threw or timed out; they charge nobody
 * @param unmarked events that the publisher took but that this relay did not mark, because its
 *     lease had passed to another or the database did not confirm the mark: they may be delivered
 *     again
 * @param leasesLost buckets that passed to another relay while this one thought it owned them
 * @param buckets buckets that it owns now
 * @param abandonedCalls calls that are still running although their time is over
 */
public record RelayStats(
        long published,
        long failed,
        long dead,
        long failedCalls,
        long unmarked,
        long leasesLost,
        int buckets,
        int abandonedCalls) {}
