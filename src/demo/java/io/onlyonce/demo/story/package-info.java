/**
 * The story that {@code ./gradlew demo} tells: one bank, every transfer done by ordinary code and
 * by OnlyOnce, while things go wrong. {@code Scenes} is the story, {@code NaiveTeller} and {@code
 * SafeTeller} are the two ways to do it, {@code Bank} is the SQL that both share.
 */
package io.onlyonce.demo.story;
