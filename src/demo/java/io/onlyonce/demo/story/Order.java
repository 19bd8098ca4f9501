package io.onlyonce.demo.story;

/**
 * What a client asks for: so much from Ann to Bob, under an id that it keeps when it asks again.
 */
record Order(String id, long cents) {}
