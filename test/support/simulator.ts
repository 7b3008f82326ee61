// The simulator, with each of its REST exchanges validated against Discord's published OpenAPI document.

import { type Simulator, type SimulatorOptions, startSimulator as start } from "../../src/simulator/simulator.ts";
import { violationsOf } from "./discord-spec/validate.ts";
import { addViolation } from "./discord-spec/violations.ts";
import { testWith } from "./test-with.ts";

/**
 * Starts a simulator. A test in whose time an exchange differs from Discord's document fails. With `onlyResponses` the
 * requests may be anything: random ones, or those of other libraries.
 */
export function startSimulator({
	onlyResponses,
	onExchange,
	...options
}: SimulatorOptions & { onlyResponses?: true } = {}): Promise<Simulator> {
	return start({
		...options,
		onExchange: (exchange) => {
			for (const problem of violationsOf(exchange, { onlyResponses })) addViolation(problem);
			onExchange?.(exchange);
		},
		timing: {
			// Tests reconnect more often than Discord lets a bot load its members.
			allMembersMs: 0,
			// A loaded machine can take longer than the 3 s in which Discord expects a response.
			acknowledgeMs: 60_000,
			...options.timing,
		},
		// Tests start more sessions than Discord lets a bot start.
		sharding: { identifyMs: 0, ...options.sharding },
	});
}

/** A test with a simulator of its own. */
export const simulatorTest = testWith(startSimulator);
