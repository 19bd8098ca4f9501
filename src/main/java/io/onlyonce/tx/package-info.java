/**
 * Transactions over plain JDBC that never report a success that did not happen.
 *
 * <pre>{@code
 * var tx = new TransactionTemplate(dataSource);
 * long total = tx.execute(TransactionOptions.serializable(), connection -> ledger.sum(connection));
 * }</pre>
 */
@NullMarked
package io.onlyonce.tx;

import org.jspecify.annotations.NullMarked;
