/** What the library tells about itself while it works, and what operators ask it. */
@NullMarked
package io.onlyonce.observe;

import org.jspecify.annotations.NullMarked;
