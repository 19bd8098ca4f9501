/** OnlyOnce: the same command, sent any number of times, has one durable outcome. */
@NullMarked
package io.onlyonce;

import org.jspecify.annotations.NullMarked;
