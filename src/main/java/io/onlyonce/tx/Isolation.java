package io.onlyonce.tx;

/**
 * The isolation levels that a transaction can ask for; it is always stated, whatever pool or server
 * default to.
 */
public enum Isolation {
    /** Every statement sees what was committed before it. */
    READ_COMMITTED,
    /** Every statement sees what was committed before the first one. */
    REPEATABLE_READ,
    /** As if transactions had run one after the other; conflicts end as 40001 and are retried. */
    SERIALIZABLE
}
