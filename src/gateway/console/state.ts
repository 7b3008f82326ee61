// The state of the gateway and its bots, as the console shows it to one viewer.

import { version } from "../../lib/program/program.ts";
import type { Store } from "../../lib/store/store.ts";
import { onOneLine } from "../../lib/text.ts";
import type { Backend } from "../backends/backend.ts";
import type { RecentCall, RecentCalls } from "../calls/recent-calls.ts";
import { conditionOf, reasonFor, wallTime } from "../catalog/status.ts";
import type { View, Views } from "../principals/views.ts";
import type { UpClient } from "../routing/up-client.ts";
import type { Viewer } from "./viewer.ts";

const maxGuilds = 200;
const maxReasonLength = 300;
const loadTimeoutMs = 2_000;
const maxVersionLength = 40;

export interface StateOptions {
	backends: readonly Backend[];
	views: Views;
	recent: RecentCalls;
	store: Pick<Store, "reason"> | undefined;
	/** Undefined if the gateway was not started by `up`. */
	up: UpClient | undefined;
}

export function createState({ views, recent, store, up }: StateOptions) {
	const startedAt = Date.now() - Math.round(performance.now());

	function callsFor({ person }: Viewer, from = 0): RecentCall[] {
		const calls = recent.since(from);
		return person ? calls.filter((call) => call.person === person.person.id) : calls;
	}

	function describeBot(bot: View, calls: readonly RecentCall[], isRoot: boolean) {
		const { backend, name, guilds, state, pins } = bot;
		const own = calls.filter(({ instance }) => instance === name);
		const reason = reasonFor(backend, isRoot);
		return {
			name,
			state: conditionOf(backend),
			reason: reason === undefined ? null : onOneLine(reason, maxReasonLength),
			since: wallTime(state.since),
			version: backend.session.server.serverVersion?.slice(0, maxVersionLength) ?? null,
			guilds: [...guilds].slice(0, maxGuilds).map(([id, name]) => ({ id, name, pinned: pins.pinned.has(id) })),
			guildCount: guilds.size,
			tools: isRoot ? (backend.tools?.length ?? null) : null,
			callsInFlight: isRoot ? backend.inFlight : 0,
			latency: latencyOf(own.filter(({ kind }) => kind !== "open")),
			refused: own.filter(({ kind }) => kind === "warn").length,
			failed: own.filter(({ kind }) => kind === "bad").length,
		};
	}

	/** Unless the guilds are known. Within a few seconds; never rejects. */
	async function load({ person }: Viewer): Promise<void> {
		const signal = AbortSignal.timeout(loadTimeoutMs);
		await views.ask(person, signal);
	}

	return {
		callsFor,
		/** That the viewer may see, within a few seconds. Never rejects. */
		async botsFor(viewer: Viewer): Promise<Backend[]> {
			await load(viewer);
			return views.now(viewer.person).map(({ backend }) => backend);
		},
		load,
		now(viewer: Viewer) {
			const { person } = viewer;
			const calls = callsFor(viewer);
			const bots = views.now(person);
			const reason = person ? undefined : store?.reason;
			return {
				gateway: {
					version,
					startedAt,
					database: store ? (store.reason === undefined ? "ready" : "degraded") : null,
					databaseReason: reason ?? null,
					hasControl: up !== undefined && !person,
					newer: person ? null : (up?.newer ?? null),
				},
				bots: bots.map((bot) => describeBot(bot, calls, !person)),
			};
		},
	};
}

/** Median and maximum in milliseconds, and the number of calls. Null without calls. */
function latencyOf(calls: readonly Pick<RecentCall, "ms">[]) {
	const sorted = calls.map(({ ms }) => ms).sort((a, b) => a - b);
	const { length } = sorted;
	return length === 0 ? null : { p50: sorted[(length - 1) >> 1] ?? 0, max: sorted.at(-1) ?? 0, calls: length };
}
