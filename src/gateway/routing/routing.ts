// Selects the backend of a call by its arguments, and asks all backends for a guild that none is known to serve.

import type { JsonObject } from "../../lib/json.ts";
import type { Principal } from "../../lib/principal.ts";
import type { Signal } from "../../lib/signal.ts";
import { listFirst, quoted } from "../../lib/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { raceSignal } from "../../lib/wait.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import type { Backend } from "../backends/backend.ts";
import { shownGuildName } from "../backends/guilds.ts";
import type { View, Views } from "../principals/views.ts";
import { GuildSearch } from "./guild-search.ts";

const maxGuilds = 20;

type Routed = Pick<Backend, "name" | "guilds" | "pins">;

export type RouteErrorKind =
	| "InstanceNotFound"
	| "GuildNotFound"
	| "GuildPinned"
	| "NoTarget"
	| "BackendOffline"
	| "BackendError"
	| "NoAnswer"
	| "OutcomeUnknown"
	| "Overloaded";

/** No result from a bot. The message contains the kind, such as "BackendOffline", for programs. */
export class RouteError extends ToolError {
	constructor(
		readonly kind: RouteErrorKind,
		detail: string,
		backends: readonly Pick<Backend, "name">[],
	) {
		const names = backends.map(({ name }) => name).join(", ");
		super(`Gateway error: ${kind}: ${detail} Available instances: ${names}.`);
	}
}

/** A guild is served by the first bot to which it is pinned or, if there is none, the first that is in it. */
export class RouteIndex<One extends Routed> {
	readonly #byName: ReadonlyMap<string, One>;
	readonly #byGuild = new Map<string, One>();

	/** By the guilds that the bots have now. */
	constructor(readonly backends: readonly One[]) {
		// Of several, the first stays.
		const reversed = backends.toReversed();
		this.#byName = new Map(reversed.map((backend) => [backend.name, backend]));
		for (const backend of reversed) for (const id of backend.guilds.keys()) this.#byGuild.set(id, backend);
		for (const backend of reversed) for (const id of backend.pins.pinned) this.#byGuild.set(id, backend);
	}

	named(name: string): One | undefined {
		return this.#byName.get(name);
	}

	serving(guildId: string): One | undefined {
		return this.#byGuild.get(guildId);
	}
}

/** By `instance`, else by `guild_id`, else the default bot. Throws a RouteError. */
export function route<One extends Routed>(
	args: JsonObject,
	index: RouteIndex<One>,
	defaultInstance: string | undefined,
): One {
	const { backends } = index;
	const instance = readText(args, "instance");
	const guildId = readText(args, "guild_id");
	if (instance !== undefined) {
		const backend = index.named(instance);
		if (backend && guildId !== undefined && backend.pins.barred.has(guildId))
			throw new RouteError(
				"GuildPinned",
				`the guild ${quoted(guildId)} is pinned to ${index.serving(guildId)?.name}, so ${instance} may not act in it. Nothing was done. Leave the argument instance out.`,
				backends,
			);
		if (backend) return backend;
		throw new RouteError("InstanceNotFound", `no instance is called ${quoted(instance)}.`, backends);
	}
	if (guildId !== undefined) {
		const backend = index.serving(guildId);
		if (backend) return backend;
		throw unknownGuild(guildId, backends);
	}
	const backend = defaultInstance === undefined ? undefined : index.named(defaultInstance);
	if (backend) return backend;
	throw new RouteError("NoTarget", `the call names neither instance nor guild_id. ${describeTargets(index)}`, backends);
}

/**
 * Selects the bot for a tool call like `route`, but only among the bots that a principal (caller) may see. Also throws
 * a RouteError if the call names both a bot and a guild that the principal may not see at this bot: the bot must not be
 * asked, even though it may be in the guild. A principal that sees exactly one guild need not name it.
 */
function routeLimited<One extends Routed>(
	args: JsonObject,
	index: RouteIndex<One>,
	defaultInstance: string | undefined,
): One {
	const guildId = readText(args, "guild_id");
	const hasTarget = guildId ?? readText(args, "instance") ?? (defaultInstance && index.named(defaultInstance));
	const visible = () => index.backends.flatMap(({ guilds, pins }) => [...guilds.keys(), ...pins.pinned]);
	const [only, ...others] = hasTarget ? [] : new Set(visible());
	const view =
		(only !== undefined && others.length === 0 && index.serving(only)) || route(args, index, defaultInstance);
	if (guildId === undefined || view.guilds.has(guildId) || view.pins.pinned.has(guildId)) return view;
	throw unknownGuild(guildId, index.backends);
}

interface RouterOptions {
	backends: readonly Backend[];
	views: Views;
	defaultInstance: string | undefined;
	/** Resolves when the bots have been asked for the first time; undefined afterwards. */
	firstList(): Promise<unknown> | undefined;
}

interface Indexed extends Pick<Principal, "instances" | "guilds"> {
	/** A bot's guilds are replaced, never changed. Undefined for a bot that gets no requests of principals. */
	sources: readonly (Backend["guilds"] | undefined)[];
	/** Of the last look at the sources. */
	version: number;
	index: RouteIndex<View>;
}

const unlimited = {};

export class Router {
	readonly #guildSearch: GuildSearch;
	/** By the limits of callers, since determining what they see takes longer than forwarding a call. */
	readonly #indexes = new WeakMap<object, Indexed>();
	#version = 0;

	constructor(private readonly options: RouterOptions) {
		this.#guildSearch = new GuildSearch(options.backends);
	}

	/** The guilds of a bot may have changed. */
	noteChange(): void {
		this.#version++;
	}

	/** Throws a RouteError, or rejects with one, which names only bots and guilds that the principal may see. */
	find(args: JsonObject, signal: Signal, principal: Principal | undefined): Backend | Promise<Backend> {
		const starting = this.options.firstList();
		return starting && args.guild_id && !args.instance
			? this.#findLater(starting, args, signal, principal)
			: this.#find(args, signal, principal);
	}

	#find(args: JsonObject, signal: Signal, principal: Principal | undefined): Backend | Promise<Backend> {
		if (principal) return this.#findLimited(args, signal, principal);
		try {
			return this.#select(args, undefined);
		} catch (error) {
			if (error instanceof RouteError && error.kind === "GuildNotFound") return this.#search(args, signal, undefined);
			throw error;
		}
	}

	/**
	 * After the first answers of the bots, since one that stands before the one that serves the guild may serve it, too. A
	 * principal always waits: otherwise the time would tell whether a hidden bot serves the guild.
	 */
	async #findLater(
		starting: Promise<unknown>,
		args: JsonObject,
		signal: Signal,
		principal: Principal | undefined,
	): Promise<Backend> {
		const { backends } = this.options;
		const id = String(args.guild_id);
		const claimer = principal ? undefined : this.#indexFor(undefined).serving(id);
		const isSure = claimer && (claimer === backends[0] || claimer.pins.pinned.has(id));
		// If the signal aborts, the call fails as it does elsewhere.
		if (!isSure) await raceSignal(starting, signal).catch(() => {});
		return this.#find(args, signal, principal);
	}

	#select(args: JsonObject, principal: Principal | undefined): Backend {
		const among = principal ? routeLimited : route;
		return among(args, this.#indexFor(principal), this.options.defaultInstance).backend;
	}

	async #search(args: JsonObject, signal: Signal, principal: Principal | undefined): Promise<Backend> {
		const id = String(args.guild_id);
		await this.#guildSearch.search(signal, () => this.#indexFor(principal).serving(id) !== undefined);
		return this.#select(args, principal);
	}

	#isCandidate({ name, guilds, pins }: Backend, { instance, guild_id: id }: JsonObject): boolean {
		if (instance) return name === instance;
		if (!id) return name === this.options.defaultInstance;
		return guilds.has(String(id)) || pins.pinned.has(String(id));
	}

	async #findLimited(args: JsonObject, signal: Signal, principal: Principal): Promise<Backend> {
		const { guilds, person } = principal;
		const { views, firstList } = this.options;
		const select = () => this.#select(args, principal);
		// Unless the last answers lead to a bot, all are asked at once: if a hidden bot were asked before the others, the time
		// would tell that it exists.
		const loading = person && !succeeds(select) ? views.ask(principal, signal) : undefined;
		try {
			// Without waiting for other bots.
			await views.ask(principal, signal, (one) => this.#isCandidate(one, args));
			return select();
		} catch (error) {
			if (!(error instanceof RouteError)) throw error;
			const starting = firstList();
			if (starting && !signal.aborted) {
				// Which bots accept limits is not known yet.
				await raceSignal(starting, signal).catch(() => {});
				return this.#findLimited(args, signal, principal);
			}
			if (person) {
				// The error names all that the person sees.
				await (loading ?? views.ask(principal, signal));
				return select();
			}
			const isHidden = guilds?.includes(String(args.guild_id)) === false;
			if (error.kind !== "GuildNotFound" || isHidden) throw error;
			// Ends at once only for a guild that the principal sees, so that the time tells nothing about others.
			return await this.#search(args, signal, principal);
		}
	}

	#indexFor(principal: Principal | undefined): RouteIndex<View> {
		const { backends, views } = this.options;
		// What the bots said about a person expires.
		if (principal?.person) return new RouteIndex(views.now(principal));
		const { guilds, instances } = principal ?? {};
		const key = principal ? (guilds ?? instances ?? unlimited) : backends;
		const known = this.#indexes.get(key);
		const isKnown = known?.guilds === guilds && known?.instances === instances;
		if (known && isKnown && known.version === this.#version) return known.index;
		const sources = backends.map((one) => (principal && !one.acceptsPrincipals ? undefined : one.guilds));
		const isSame = isKnown && sources.every((one, at) => one === known?.sources[at]);
		const index = known && isSame ? known.index : new RouteIndex(views.now(principal));
		this.#indexes.set(key, { guilds, instances, sources, version: this.#version, index });
		return index;
	}
}

export function unknownGuild(guildId: string, backends: readonly Pick<Backend, "name">[]): RouteError {
	return new RouteError(
		"GuildNotFound",
		`no instance is known to serve the guild ${quoted(guildId)}. list_instances shows the guilds of each instance.`,
		backends,
	);
}

function describeTargets(index: RouteIndex<Routed>): string {
	const guilds = index.backends.flatMap((backend) => {
		const own = [...backend.guilds].filter(([id]) => index.serving(id) === backend);
		if (own.length === 0) return [];
		const listed = own.map(([id, name]) => `${shownGuildName(name)} (${id})`);
		return `${listFirst(listed, maxGuilds)} of ${backend.name}`;
	});
	return guilds.length > 0 ? `Give guild_id: ${guilds.join("; ")}. Or give instance.` : "Give guild_id or instance.";
}

function readText(args: JsonObject, key: string): string | undefined {
	const value = args[key] ?? "";
	if (typeof value !== "string") throw invalidParameters([`${key}: expected a string`]);
	return value || undefined;
}

function succeeds(select: () => unknown): boolean {
	try {
		select();
		return true;
	} catch (error) {
		if (error instanceof RouteError) return false;
		throw error;
	}
}
