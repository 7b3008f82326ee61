// The backends as `list_instances` shows them to a model and /status to an operator.

import { version } from "../../lib/program/program.ts";
import { stagger } from "../../lib/stagger.ts";
import type { Store } from "../../lib/store/store.ts";
import { duration, onOneLine, shownName } from "../../lib/text.ts";
import type { Backend } from "../backends/backend.ts";
import type { BackendState } from "../backends/backend-health.ts";
import { shownGuildName } from "../backends/guilds.ts";
import { describeDropped, listSome, maxNames } from "../backends/listed-tools.ts";
import { RouteIndex } from "../routing/routing.ts";
import type { Catalog } from "./catalog.ts";

const maxGuilds = 1_000;
const maxDescription = 2_000;

type ShownBackend = Pick<Backend, "name" | "guilds" | "ignoredGuilds" | "pins" | "state" | "dropped" | "backend">;

/** A count, then one line per bot, after asking each whether it is online. */
export async function describeInstances(
	backends: readonly ShownBackend[],
	catalog: () => Pick<Catalog, "skew">,
): Promise<string[]> {
	const states = await Promise.all(stagger(backends, ({ backend }) => backend.check()));
	const index = new RouteIndex(backends);
	const lines = backends.map((backend, at) => {
		const state = states[at] ?? backend.state;
		const skew = catalog().skew.get(backend.name);
		const description = backend.backend.session.serverDescription;
		return [
			backend.name,
			state.online ? "online" : `${nameOf(state)} (${state.reason})`,
			describeGuilds(backend, index),
			`since ${duration(performance.now() - state.since)}`,
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

/** What operators and the console call a state. */
export function nameOf(state: BackendState): "online" | "away" | "offline" {
	if (state.online) return "online";
	return state.away ? "away" : "offline";
}

function describeGuilds(backend: ShownBackend, index: RouteIndex<ShownBackend>): string {
	const listed = [...backend.guilds].slice(0, maxGuilds);
	const guilds = listed.map(([id, name]) => {
		const first = index.serving(id);
		const elsewhere = first && first !== backend ? `, by guild_id served by ${first.name}` : "";
		const pinned = backend.pins.pinned.has(id) ? ", pinned" : "";
		return `${shownGuildName(name)} (${id}${pinned}${elsewhere})`;
	});
	const { size } = backend.guilds;
	const count = `${size} guild(s)`;
	const list = size > 0 ? `${count}: ${listSome(guilds, size)}` : count;
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
	return listSome(names.slice(0, maxNames).map(shownName), names.length);
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
		...(store && { database: describeStore(store) }),
		tools: size,
		tools_list_bytes: Buffer.byteLength(list),
		backends: backends.map((backend) => {
			const { name, url, session } = backend;
			const { state, lastError, nextProbeAt } = backend.health;
			return {
				name,
				url,
				state: nameOf(state),
				...(!state.online && { reason: state.reason }),
				since: isoTime(state.since),
				last_error: lastError ? { message: lastError.message, at: isoTime(lastError.at) } : null,
				next_attempt: nextProbeAt === undefined ? null : isoTime(nextProbeAt),
				version: session.serverVersion ?? null,
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

function describeStore({ reason }: Pick<Store, "reason">) {
	return reason === undefined ? { state: "ready" } : { state: "degraded", reason };
}

function isoTime(monotonicMs: number): string {
	return new Date(wallTime(monotonicMs)).toISOString();
}

/** Milliseconds since 1970. */
export function wallTime(monotonicMs: number): number {
	return Date.now() - (performance.now() - monotonicMs);
}
