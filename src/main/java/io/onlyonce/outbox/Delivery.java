package io.onlyonce.outbox;

import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * What the outbox knows of a stored event.
 *
 * @param id the same for ever, however often the event is delivered; derived from tenant and key
 * @param attempt 1 for the first attempt that counts
 * @param commandId the command whose work appended it, if one did
 */
public record Delivery(
        UUID id, String tenant, int attempt, Instant appendedAt, Optional<String> commandId) {}
