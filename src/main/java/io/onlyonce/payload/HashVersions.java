package io.onlyonce.payload;

import java.util.List;

/**
 * The known hash versions: a stored version is ten times the algorithm's number plus the kind's
 * code, so that an operator reads 11 as "algorithm 1, JSON".
 */
final class HashVersions {

    /** The one place to add a generation: append it, and raise {@code current} a release later. */
    static final HashVersions KNOWN = new HashVersions(1, List.of(HashAlgorithm.FIRST));

    private final int current;
    private final List<HashAlgorithm> algorithms;

    HashVersions(int current, List<HashAlgorithm> algorithms) {
        this.current = current;
        this.algorithms = List.copyOf(algorithms);
    }

    int current(PayloadKind kind) {
        return 10 * current + kind.code;
    }

    int version(int algorithm, PayloadKind kind) {
        int version = 10 * algorithm + kind.code;
        algorithm(version);
        return version;
    }

    /** The algorithm behind a stored version of any kind. */
    HashAlgorithm algorithm(int version) {
        int algorithm = version / 10;
        int kind = version % 10;
        boolean knownKind = kind >= PayloadKind.JSON.code && kind <= PayloadKind.FIELDS.code;
        if (!knownKind || algorithm < 1 || algorithm > algorithms.size()) {
            throw new UnsupportedHashVersionException(version);
        }
        return algorithms.get(algorithm - 1);
    }

    static boolean isOf(int version, PayloadKind kind) {
        return version % 10 == kind.code;
    }
}
