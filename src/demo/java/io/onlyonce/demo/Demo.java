package io.onlyonce.demo;

/** Placeholder. */
public final class Demo {
    private Demo() {}

    public static void main(String[] args) {
        System.out.println("demo");
    }
}
