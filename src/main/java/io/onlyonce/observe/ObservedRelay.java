package io.onlyonce.observe;

/**
 * One round of a relay in which something happened; what the numbers count is said in {@code
 * RelayStats}.
 */
public record ObservedRelay(
        long published, long failed, long dead, long failedCalls, long unmarked, long leasesLost) {}
