/** What has served its time goes: in small chunks, on the database's clock, and never too early. */
@org.jspecify.annotations.NullMarked
package io.onlyonce.retention;
