/**
 * Random histories of many clients under faults, from a seed; a checker that reads what the clients
 * wrote down and what the database holds; and planted bugs that the checker must find.
 */
package io.onlyonce.torture;
