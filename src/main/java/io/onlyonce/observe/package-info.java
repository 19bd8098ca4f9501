/** What the library tells about itself while it works. */
@NullMarked
package io.onlyonce.observe;

import org.jspecify.annotations.NullMarked;
