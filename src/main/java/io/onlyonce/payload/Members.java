package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.DUPLICATE_KEY;

import java.util.Arrays;

/**
 * The members of all objects that are open at one moment, innermost last, and the sorting of each.
 */
final class Members {

    private Member[] stack = new Member[16];
    private int size;
    private byte[] scratch = {};

    int size() {
        return size;
    }

    void add(Member member) {
        if (size == stack.length) {
            stack = Arrays.copyOf(stack, size * 2);
        }
        stack[size++] = member;
    }

    /**
     * Brings the members from {@code first} on, which end where {@code out} ends, in the order of
     * their keys.
     */
    void sortKeys(int first, ByteSink out) {
        if (!inOrder(first)) {
            Arrays.sort(stack, first, size, Member::compareKeys);
            refuseDuplicates(first);
            rearrange(first, out);
        }
        size = first;
    }

    /**
     * Brings the elements of an array that ends where {@code out} ends in the order of their bytes.
     */
    void sortElements(int first, ByteSink out) {
        if (size > first) {
            out.bytes[out.length - 1] = ',';
            Arrays.sort(stack, first, size, (a, b) -> Member.compareBytes(a, b, out.bytes));
            rearrange(first, out);
            out.bytes[out.length - 1] = ']';
        }
        size = first;
    }

    /**
     * Strictly ascending, as most senders that care write them: then there is no duplicate either.
     */
    private boolean inOrder(int first) {
        for (int i = first + 1; i < size; i++) {
            if (Member.compareKeys(stack[i - 1], stack[i]) >= 0) {
                return false;
            }
        }
        return true;
    }

    private void refuseDuplicates(int first) {
        for (int i = first + 1; i < size; i++) {
            if (Member.compareKeys(stack[i - 1], stack[i]) == 0) {
                throw new InvalidPayloadException(DUPLICATE_KEY);
            }
        }
    }

    private void rearrange(int first, ByteSink out) {
        int length = 0;
        for (int i = first; i < size; i++) {
            length += stack[i].end() - stack[i].start();
        }
        if (scratch.length < length) {
            scratch = new byte[Math.max(length, 2 * scratch.length)];
        }
        int to = 0;
        for (int i = first; i < size; i++) {
            int piece = stack[i].end() - stack[i].start();
            System.arraycopy(out.bytes, stack[i].start(), scratch, to, piece);
            to += piece;
        }
        System.arraycopy(scratch, 0, out.bytes, out.length - length, length);
    }
}
