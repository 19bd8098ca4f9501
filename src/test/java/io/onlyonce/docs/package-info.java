/** What the documentation shows is compiled and run; what it lists is what there is. */
package io.onlyonce.docs;
