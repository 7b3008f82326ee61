// Asks each bot every 1.5 s whether it runs and is ready, so that what the gateway shows of it is true within 5 s.

import { PlainSignal, timeIsUp } from "../../lib/signal.ts";
import type { Backend } from "../backends/backend.ts";
import type { UpClient } from "./up-client.ts";

const tickMs = 250;
/** Between two questions to `up`. */
const upTicks = 4;
/** Between two questions to a bot. At each tick, some bots are asked. */
const roundTicks = 6;
/** Ticks without an answer. Not milliseconds: after a pause of this process, answers that have arrived are read first. */
const lateTicks = 8;

export function createWatch(
	backends: readonly Pick<Backend, "watch">[],
	up: Pick<UpClient, "update"> | undefined = undefined,
) {
	let ticks = 0;
	let timer: Timer | undefined;
	const asked = new Map<unknown, { signal: PlainSignal; lateAt: number }>();

	function tick(): void {
		ticks++;
		for (const { signal, lateAt } of asked.values()) if (ticks >= lateAt) signal.abort(timeIsUp);
		for (let at = ticks % roundTicks; at < backends.length; at += roundTicks) {
			const backend = backends[at];
			if (!backend || asked.has(backend)) continue;
			const signal = new PlainSignal();
			asked.set(backend, { signal, lateAt: ticks + lateTicks });
			void backend.watch(signal).finally(() => asked.delete(backend));
		}
		if (ticks % upTicks === 0) void up?.update();
	}

	return {
		tick,
		start() {
			timer = setInterval(tick, tickMs);
		},
		stop: () => clearInterval(timer),
	};
}
