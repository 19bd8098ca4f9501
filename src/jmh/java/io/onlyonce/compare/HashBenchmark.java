package io.onlyonce.compare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.onlyonce.payload.PayloadHash;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** The hash of a JSON document, and parsing it with Jackson alone. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
public class HashBenchmark {

    private static final JsonMapper JSON = new JsonMapper();

    @Param({"1", "64"})
    public int kilobytes;

    private byte[] document;

    @Setup
    public void make() {
        document = Hashing.document(kilobytes * 1_024);
    }

    @Benchmark
    public JsonNode parsing() throws IOException {
        return JSON.readTree(document);
    }

    @Benchmark
    public PayloadHash hash() {
        return PayloadHash.ofJson(document);
    }
}
