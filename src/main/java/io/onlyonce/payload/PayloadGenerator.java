package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.TOO_DEEP;
import static io.onlyonce.payload.InvalidPayloadException.Reason.TOO_MANY_DIGITS;

import com.fasterxml.jackson.core.util.JsonGeneratorDelegate;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.Writer;
import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * Jackson's generator, but with floats that print alike on every JDK and with limits that hold
 * while writing.
 */
final class PayloadGenerator extends JsonGeneratorDelegate {

    private final JsonLimits limits;
    private final int outerDepth;

    /**
     * Copies nothing to the delegate directly, so that trees and nested objects come through here
     * too.
     */
    PayloadGenerator(ObjectMapper mapper, Writer out, JsonLimits limits, int outerDepth)
            throws IOException {
        super(mapper.getFactory().createGenerator(out), false);
        setCodec(mapper);
        this.limits = limits;
        this.outerDepth = outerDepth;
    }

    JsonLimits limits() {
        return limits;
    }

    int depth() {
        return outerDepth + getOutputContext().getNestingDepth();
    }

    @Override
    public void writeNumber(double value) throws IOException {
        super.writeNumber(ShortestDecimal.of(value));
    }

    @Override
    public void writeNumber(float value) throws IOException {
        super.writeNumber(ShortestDecimal.of(value));
    }

    @Override
    public void writeArray(double[] array, int offset, int length) throws IOException {
        writeStartArray(array, length);
        for (int i = offset; i < offset + length; i++) {
            writeNumber(array[i]);
        }
        writeEndArray();
    }

    @Override
    public void writeNumber(@Nullable BigDecimal value) throws IOException {
        if (value != null) {
            refuseHuge(value.unscaledValue());
        }
        super.writeNumber(value);
    }

    @Override
    public void writeNumber(@Nullable BigInteger value) throws IOException {
        if (value != null) {
            refuseHuge(value);
        }
        super.writeNumber(value);
    }

    /**
     * Printing takes quadratic time, so the length is estimated first: a digit is more than three
     * bits.
     */
    private void refuseHuge(BigInteger value) {
        if (value.bitLength() / 4 > limits.digits()) {
            throw new InvalidPayloadException(TOO_MANY_DIGITS, "the limit is " + limits.digits());
        }
    }

    @Override
    public void writeStartObject() throws IOException {
        refuseDeeper();
        super.writeStartObject();
    }

    @Override
    public void writeStartObject(Object forValue) throws IOException {
        refuseDeeper();
        super.writeStartObject(forValue);
    }

    @Override
    public void writeStartObject(Object forValue, int size) throws IOException {
        refuseDeeper();
        super.writeStartObject(forValue, size);
    }

    @Override
    public void writeStartArray() throws IOException {
        refuseDeeper();
        super.writeStartArray();
    }

    @Override
    public void writeStartArray(Object forValue) throws IOException {
        refuseDeeper();
        super.writeStartArray(forValue);
    }

    @Override
    public void writeStartArray(Object forValue, int size) throws IOException {
        refuseDeeper();
        super.writeStartArray(forValue, size);
    }

    private void refuseDeeper() {
        if (depth() >= limits.depth()) {
            throw new InvalidPayloadException(
                    TOO_DEEP, "the limit is " + limits.depth() + " levels");
        }
    }
}
