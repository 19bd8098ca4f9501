/** What operators ask. */
@org.jspecify.annotations.NullMarked
package io.onlyonce.observe;
