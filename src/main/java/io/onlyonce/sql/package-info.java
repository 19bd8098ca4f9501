/**
 * The JDBC ground floor: what differs between databases, SQLState names, and the one transaction
 * engine that every feature runs on. Not exported.
 */
@NullMarked
package io.onlyonce.sql;

import org.jspecify.annotations.NullMarked;
