// When a bot is asked again.

import { expect, spyOn, test } from "bun:test";
import { BackendHealth, probeDelayMs } from "../../../src/gateway/backends/backend-health.ts";
import { recordLog } from "../../support/log.ts";

test("waits between probes double from 1 s to 60 s, half of each by chance", () => {
	const waits = (chance: number, length = 9) => {
		const random = spyOn(Math, "random").mockReturnValue(chance);
		try {
			return Array.from({ length }, (_, failures) => probeDelayMs(failures));
		} finally {
			random.mockRestore();
		}
	};
	expect(waits(1)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
	expect(waits(0)).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
	expect(waits(0.5, 2_000).at(-1)).toBe(45_000);
});

/** How long from now the next probe is due after each of these, the chance being highest; undefined where none is. */
function nextProbes(...acts: ((health: BackendHealth) => void)[]) {
	const random = spyOn(Math, "random").mockReturnValue(1);
	const now = spyOn(performance, "now").mockReturnValue(1_000_000);
	const { log } = recordLog();
	const noop = () => {};
	const health = new BackendHealth({
		name: "alpha",
		log,
		refresh: noop,
		onChange: noop,
		awayMs: 0,
		maxHeld: 0,
		ask: async () => "silent",
	});
	try {
		return acts.map((act) => {
			act(health);
			return health.nextProbeAt && health.nextProbeAt - 1_000_000;
		});
	} finally {
		health.close();
		random.mockRestore();
		now.mockRestore();
	}
}

test("each probe that fails is followed by a later one, and all is forgotten when one succeeds", () => {
	expect(
		nextProbes(
			(health) => health.setOffline("gone"),
			(health) => health.setOffline("still gone"),
			(health) => health.probeFailed(),
			(health) => health.probeFailed(),
			(health) => health.probeSucceeded(),
			(health) => health.setDoubtful("no answer"),
		),
	).toEqual([1_000, 1_000, 2_000, 4_000, undefined, 1_000]);
});

test("after close there are no more probes", () => {
	expect(
		nextProbes(
			(health) => health.setOffline("gone"),
			(health) => health.close(),
			(health) => health.setOffline("gone"),
			(health) => health.probeFailed(),
		),
	).toEqual([1_000, undefined, undefined, undefined]);
});
