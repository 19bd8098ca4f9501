/**
 * Compares ways to do the same business, interleaved in one run, because on a shared machine ratios
 * survive where times do not.
 */
package io.onlyonce.compare;
