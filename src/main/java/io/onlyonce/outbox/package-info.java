/** Events that commit with the data they tell about. */
@NullMarked
package io.onlyonce.outbox;

import org.jspecify.annotations.NullMarked;
