/** The operator's command line. */
package io.onlyonce.ops;
