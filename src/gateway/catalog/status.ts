// The backends as `list_instances` shows them to a model and /status to an operator.

import { version } from "../../lib/program/program.ts";
import { stagger } from "../../lib/stagger.ts";
import type { Store } from "../../lib/store/store.ts";
import { duration, listFirst, onOneLine, shownName } from "../../lib/text.ts";
import type { Backend } from "../backends/backend.ts";
import { shownGuildName } from "../backends/guilds.ts";
import { describeDropped, maxNames } from "../backends/listed-tools.ts";
import { RouteIndex } from "../routing/routing.ts";
import type { Catalog } from "./catalog.ts";

const maxGuilds = 1_000;
const maxDescription = 2_000;

type ShownBackend = Pick<Backend, "name" | "guilds" | "ignoredGuilds" | "pins" | "dropped" | "backend">;

/** A count, then one line per bot, after asking each whether it is online. `isRoot`: with what only the operator may know. */
export async function describeInstances(
	backends: readonly ShownBackend[],
	catalog: () => Pick<Catalog, "skew">,
	isRoot: boolean,
): Promise<string[]> {
	await Promise.all(stagger(backends, ({ backend }) => backend.check()));
	const index = new RouteIndex(backends);
	const lines = backends.map((backend) => {
		const skew = catalog().skew.get(backend.name);
		const description = backend.backend.session.server.serverDescription;
		return [
			backend.name,
			describeState(backend.backend, isRoot),
			describeGuilds(backend, index),
			`since ${duration(performance.now() - backend.backend.state.since)}`,
			...notes({
				lacks: listNames(skew?.lacks ?? []),
				"has another": listNames(skew?.differs ?? []),
				"not listed:": describeDropped(backend.dropped),
			}),
			...(description ? [onOneLine(description, maxDescription)] : []),
		].join(" | ");
	});
	return [`${backends.length} instance(s):`, ...lines];
}

/** The word for a bot's state on the console, in /status and in the metrics. */
export function conditionOf({ state, health }: Pick<Backend, "state" | "health">) {
	if (state.online) return health.notReady === undefined ? "online" : "not ready";
	return health.process.halted ?? (state.away ? "away" : "offline");
}

/** Why it is not simply online. What it lacks, and how its process ended, is for the operator. */
export function reasonFor({ state, health }: Pick<Backend, "state" | "health">, isRoot: boolean): string | undefined {
	if (state.online) return isRoot ? health.notReady : undefined;
	return (isRoot ? health.process.details : undefined) ?? state.reason;
}

function describeState(backend: Pick<Backend, "state" | "health">, isRoot: boolean): string {
	const condition = conditionOf(backend);
	const { online, away } = backend.state;
	const word = condition === "not ready" ? "online, but not ready" : online || away ? condition : "offline";
	const reason = reasonFor(backend, isRoot);
	return reason === undefined ? word : `${word} (${reason})`;
}

function describeGuilds(backend: ShownBackend, index: RouteIndex<ShownBackend>): string {
	const guilds = [...backend.guilds].map(([id, name]) => {
		const first = index.serving(id);
		const elsewhere = first && first !== backend ? `, by guild_id served by ${first.name}` : "";
		const pinned = backend.pins.pinned.has(id) ? ", pinned" : "";
		return `${shownGuildName(name)} (${id}${pinned}${elsewhere})`;
	});
	const { size } = backend.guilds;
	const count = `${size} guild(s)`;
	const list = size > 0 ? `${count}: ${listFirst(guilds, maxGuilds)}` : count;
	return [list, ...describePins(backend)].join(" | ");
}

/** How the guilds of a bot differ from those pinned to bots. */
export function describePins({
	guilds,
	ignoredGuilds,
	pins,
}: Pick<Backend, "guilds" | "ignoredGuilds" | "pins">): string[] {
	const missing = [...pins.pinned].filter((id) => !guilds.has(id));
	return notes({ "pinned, not listed:": missing.join(", "), "ignored, pinned elsewhere:": ignoredGuilds.join(", ") });
}

function notes(labelled: Record<string, string>): string[] {
	return Object.entries(labelled)
		.filter(([, text]) => text !== "")
		.map(([label, text]) => `${label} ${text}`);
}

function listNames(names: readonly string[]): string {
	return listFirst(names.map(shownName), maxNames);
}

/** JSON of GET /status. */
export function describeStatus(
	backends: readonly Backend[],
	{ size, list, skew }: Catalog,
	store?: Pick<Store, "reason">,
) {
	return {
		name: "guildhall-gateway",
		version,
		uptime_seconds: Math.floor(performance.now() / 1000),
		...(store && { database: { state: store.reason === undefined ? "ready" : "degraded", reason: store.reason } }),
		tools: size,
		tools_list_bytes: Buffer.byteLength(list),
		backends: backends.map((backend) => {
			const { name, url, session } = backend;
			const { state, lastError } = backend.health;
			return {
				name,
				url,
				state: conditionOf(backend),
				reason: reasonFor(backend, true),
				since: isoTime(state.since),
				last_error: lastError ? { message: lastError.message, at: isoTime(lastError.at) } : null,
				version: session.server.serverVersion ?? null,
				sessions_opened: session.generation,
				calls_in_flight: backend.inFlight,
				calls_held: backend.held,
				guilds: Array.from(backend.guilds, ([id, name]) => ({ id, name })),
				pinned_guilds: [...backend.pins.pinned],
				ignored_guilds: backend.ignoredGuilds,
				tools: backend.tools?.length ?? null,
				tools_dropped: backend.dropped,
				...(skew.get(name) ?? { lacks: [], differs: [] }),
			};
		}),
	};
}

function isoTime(monotonicMs: number): string {
	return new Date(wallTime(monotonicMs)).toISOString();
}

/** Milliseconds since 1970, rounded to seconds, so that repeated conversions are equal. */
export function wallTime(monotonicMs: number): number {
	return Math.round((Date.now() - (performance.now() - monotonicMs)) / 1000) * 1000;
}
