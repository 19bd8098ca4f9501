/**
 * What the library tells about itself while it works, and what operators ask it.
 *
 * <pre>{@code
 * OnlyOnce once = OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7))
 *     .withListener(MicrometerListener.on(registry)).build();
 *
 * try (Connection connection = dataSource.getConnection()) {
 *     Inspector.Overview backlog = once.inspector().backlog(connection);       // how many wait, since when
 *     Inspector.Overview unknown = once.inspector().unresolved(connection);    // what a person must settle
 *     log.info("{} events wait, {} commands are unresolved", backlog.rows(), unknown.rows());
 * }
 * }</pre>
 */
@NullMarked
package io.onlyonce.observe;

import org.jspecify.annotations.NullMarked;
