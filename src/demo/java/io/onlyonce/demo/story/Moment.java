package io.onlyonce.demo.story;

/** Where a transfer can be met by misfortune. */
enum Moment {
    /** The money is moved, and nothing is committed yet. */
    MOVED,
    /** The transfer is committed, and nobody has been told. */
    COMMITTED
}
