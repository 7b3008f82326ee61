// Selects the backend of a call by its arguments.

import { quoted } from "../../lib/text.ts";
import type { JsonObject } from "../../mcp/json-rpc.ts";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import type { Backend } from "../backends/backend.ts";
import { shownGuildName } from "../backends/guilds.ts";
import { indexBackends } from "./guild-index.ts";

const maxGuilds = 20;

/** The properties of a bot that are needed to select a bot for a tool call. */
export type Routed = Pick<Backend, "name" | "guilds" | "pins">;

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

/**
 * Error of a tool call for which the gateway has no result from a bot. The message contains the kind of the error, such
 * as "BackendOffline", so that programs can recognize the kind.
 */
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

/**
 * Finds the bot that serves a guild: the first bot to which the operator has assigned (pinned) the guild or, if there
 * is none, the first bot that is known to be in the guild.
 */
export function findGuild<One extends Routed>(backends: readonly One[], guildId: string): One | undefined {
	return backends.find(({ pins }) => pins.pinned.has(guildId)) ?? backends.find(({ guilds }) => guilds.has(guildId));
}

/** Finds the bots to which a tool call may go. */
export interface RouteIndex<One extends Routed> {
	/** Returns the bot with this name. */
	named(name: string): One | undefined;
	/** Returns the bot that serves a guild, as `findGuild` does. */
	serving(guildId: string): One | undefined;
}

function searchIn<One extends Routed>(backends: readonly One[]): RouteIndex<One> {
	return {
		named: (name) => backends.find((backend) => backend.name === name),
		serving: (guildId) => findGuild(backends, guildId),
	};
}

/**
 * Selects the bot for a tool call by its arguments: the bot that `instance` names, else the bot that serves `guild_id`,
 * else the default bot. Throws a RouteError if no bot can be selected. `index` is an index of `backends`; without it,
 * they are searched.
 */
export function route<One extends Routed>(
	args: JsonObject,
	backends: readonly One[],
	defaultInstance: string | undefined,
	index: RouteIndex<One> = searchIn(backends),
): One {
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
	throw new RouteError(
		"NoTarget",
		`the call names neither instance nor guild_id. ${describeTargets(backends)}`,
		backends,
	);
}

/**
 * Selects the bot for a tool call like `route`, but only among the bots that a principal (caller) may see. Also throws
 * a RouteError if the call names both a bot and a guild that the principal may not see at this bot: the bot must not be
 * asked, even though it may be in the guild.
 */
export function routeLimited<One extends Routed>(
	args: JsonObject,
	views: readonly One[],
	defaultInstance: string | undefined,
): One {
	const view = route(args, views, defaultInstance);
	const guildId = readText(args, "guild_id");
	if (guildId === undefined || view.guilds.has(guildId) || view.pins.pinned.has(guildId)) return view;
	throw unknownGuild(guildId, views);
}

function unknownGuild(guildId: string, backends: readonly Pick<Backend, "name">[]): RouteError {
	return new RouteError(
		"GuildNotFound",
		`no instance is known to serve the guild ${quoted(guildId)}. list_instances shows the guilds of each instance.`,
		backends,
	);
}

function describeTargets(backends: readonly Routed[]): string {
	const { serving } = indexBackends(backends);
	const guilds = backends.flatMap((backend) => {
		const own = [...backend.guilds].filter(([id]) => serving(id) === backend);
		if (own.length === 0) return [];
		const listed = own.slice(0, maxGuilds).map(([id, name]) => `${shownGuildName(name)} (${id})`);
		const more = own.length - listed.length;
		return `${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""} of ${backend.name}`;
	});
	return guilds.length > 0 ? `Give guild_id: ${guilds.join("; ")}. Or give instance.` : "Give guild_id or instance.";
}

function readText(args: JsonObject, key: string): string | undefined {
	const value = args[key] ?? "";
	if (typeof value !== "string") throw invalidParameters([`${key}: expected a string`]);
	return value || undefined;
}
