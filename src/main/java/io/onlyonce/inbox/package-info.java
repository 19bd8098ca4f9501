/** Messages that come in: each is processed once, and old news changes nothing. */
@org.jspecify.annotations.NullMarked
package io.onlyonce.inbox;
