// The definition of a route: path, permissions, fields and handler. The router runs the checks.

import { RESTJSONErrorCodes as Code } from "discord.js";
import type {
	Interaction,
	Interactions,
} from "../interactions/interactions.ts";
import type {
	Account,
	Channel,
	Guild,
	GuildChannel,
	GuildPlace,
	Member,
	Message,
	Role,
	Thread,
	Webhook,
} from "../world/state/entities.ts";
import { inGuild, isThread } from "../world/state/entities.ts";
import type { Attribution } from "../world/state/state.ts";
import type { World } from "../world/world.ts";
import { apiError } from "./errors.ts";
import type { Field, Fields, Read } from "./fields.ts";
import { object } from "./fields.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The entities that the path refers to. */
export interface Found {
	guild?: Guild;
	channel?: Channel;
	message?: Message;
	role?: Role;
	member?: Member;
	interaction?: Interaction;
	/** The webhook whose token is in the path. */
	webhook?: Webhook;
}

/** A checked request. */
export interface Call<B = unknown, Q = unknown> {
	readonly world: World;
	readonly interactions: Interactions;
	readonly actor: Account;
	/** By their names in the pattern. */
	readonly params: Readonly<Record<string, string>>;
	readonly body: B;
	readonly query: Q;
	/** Files of a multipart body by part name. */
	readonly files: ReadonlyMap<string, Blob>;
	/** The actor and the reason, for the audit log. */
	readonly by: Attribution;
	/** The host and port that the client uses. */
	readonly host: string;
	/** Stores a file. Returns its URL. */
	storeFile(path: string, file: Blob): string;
	/** Leaves the request out of the journal, because it changed nothing. */
	skipJournal(): void;
	/** Sets the status of the response, for routes with several. */
	setStatus(status: number): void;
	readonly found: Found;
}

/** Fields by name, or a field for a body that is not an object. */
type Form = Fields | Field<unknown>;

/** The parsed type of a form. */
export type ReadForm<F> =
	F extends Field<infer T>
		? Exclude<T, undefined>
		: { [K in keyof F]: Read<F[K]> };

interface RouteSpec<B extends Form, Q extends Fields> {
	readonly method: Method;
	/** With Discord's names of the parameters: "/channels/:channel_id". */
	readonly path: string;
	/** The permissions that the actor needs in the path's channel, or else guild. */
	readonly needs?: bigint;
	/** Refuses people. */
	readonly botsOnly?: true;
	/** The token in the path, of an interaction or webhook, authorizes the request. */
	readonly byToken?: true;
	readonly body?: B;
	readonly query?: Q;
	/** The status of a response with a body: 200 by default. Without a body it is 204. */
	readonly status?: number;
	/** Allows writes in archived threads. */
	readonly inArchived?: true;
	/** Keeps its writes out of the journal: they leave no state. */
	readonly fleeting?: true;
	/** Returns the response body. */
	run(call: Call<ReadForm<B>, ReadForm<Q>>): unknown;
}

/** A route without its types: `run` parses body and query. */
export interface Route
	extends Omit<RouteSpec<Fields, Fields>, "body" | "query" | "run"> {
	/** "POST /channels/:channel_id/messages" */
	readonly name: string;
	run(call: Call): unknown;
}

// biome-ignore lint/complexity/noBannedTypes: a form without fields.
type None = {};

export function route<
	const B extends Form = None,
	const Q extends Fields = None,
>(spec: RouteSpec<B, Q>): Route {
	const { body = {}, query = {}, run, ...rest } = spec;
	const bodyForm = isField(body) ? body : object(body);
	const queryForm = object(query);
	return {
		...rest,
		name: `${spec.method} ${spec.path}`,
		run: (call) =>
			run({
				...call,
				body: bodyForm.read(call.body) as ReadForm<B>,
				query: queryForm.read(call.query) as ReadForm<Q>,
			}),
	};
}

function isField(form: Form): form is Field<unknown> {
	return typeof form.read === "function";
}

/** The entities of the path. The router has found them or sent an error. */
export function guildOf(call: Call): Guild {
	return known(call.found.guild);
}

export function channelOf(call: Call): Channel {
	return known(call.found.channel);
}

/** The path's channel or thread. Throws in DMs. */
export function guildPlaceOf(call: Call): GuildPlace {
	const channel = known(call.found.channel);
	if (!inGuild(channel)) throw apiError(Code.CannotExecuteActionOnDMChannel);
	return channel;
}

/** The path's channel. Throws in DMs and threads. */
export function guildChannelOf(call: Call): GuildChannel {
	const place = guildPlaceOf(call);
	if (isThread(place))
		throw apiError(Code.CannotExecuteActionOnThisChannelType);
	return place;
}

/** The path's thread. Throws in other channels. */
export function threadOf(call: Call): Thread {
	const place = guildPlaceOf(call);
	if (isThread(place)) return place;
	throw apiError(Code.CannotExecuteActionOnThisChannelType);
}

export function messageOf(call: Call): Message {
	return known(call.found.message);
}

export function roleOf(call: Call): Role {
	return known(call.found.role);
}

export function memberOf(call: Call): Member {
	return known(call.found.member);
}

export function interactionOf(call: Call): Interaction {
	return known(call.found.interaction);
}

export function actingWebhookOf(call: Call): Webhook {
	return known(call.found.webhook);
}

/** The actor's member in the path's guild. */
export function memberOfActor(call: Call): Member {
	return known(guildOf(call).members.get(call.actor.user.id));
}

/** A path parameter that the router does not look up. */
export function param(call: Call, name: string): string {
	return known(call.params[name]);
}

function known<T>(value: T | undefined): T {
	if (value === undefined) throw new Error("missing path parameter");
	return value;
}
