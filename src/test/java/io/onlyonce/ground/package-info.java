/**
 * The test ground: real databases, real faults, real races and real processes.
 *
 * <p>{@link io.onlyonce.ground.TestDatabase} gives a fresh database, {@link
 * io.onlyonce.ground.FaultProxy} breaks the network in front of it, {@link io.onlyonce.ground.Race}
 * starts callers together and {@link io.onlyonce.ground.ChildJvm} runs what a test wants to kill.
 * Every wait has a deadline.
 */
package io.onlyonce.ground;
