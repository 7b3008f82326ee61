// A route as data: what it is called, who may use it, what it takes, and what it does with a request that passed all
// checks. The checks themselves are the router's.

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
import { refusal } from "./errors.ts";
import type { Field, Fields, Read } from "./fields.ts";
import { object } from "./fields.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What the ids in a path stand for. */
export interface Found {
	guild?: Guild;
	channel?: Channel;
	message?: Message;
	role?: Role;
	member?: Member;
	interaction?: Interaction;
	/** The webhook that acts: its token is in the path. */
	webhook?: Webhook;
}

/** A request as its route sees it: the actor may be here, and everything is of its type. */
export interface Call<B = unknown, Q = unknown> {
	readonly world: World;
	readonly interactions: Interactions;
	readonly actor: Account;
	/** The ids in the path, by the names that the pattern gives them. */
	readonly params: Readonly<Record<string, string>>;
	readonly body: B;
	readonly query: Q;
	/** Files of a multipart body, by the names of their parts. */
	readonly files: ReadonlyMap<string, Blob>;
	/** Who does it, and the reason given. */
	readonly by: Attribution;
	/** The host and port that the client calls us by. */
	readonly host: string;
	/** Keeps a file that was sent, and says where it can be fetched. */
	keepFile(path: string, file: Blob): string;
	/** Says that the request changed nothing, so that the journal does not list it. */
	changedNothing(): void;
	/** The status of the answer, where the route has more than one. */
	answerWith(status: number): void;
	readonly found: Found;
}

/** Fields by name, or one field for a body that is not an object. */
type Form = Fields | Field<unknown>;

/** What a form yields. */
export type ReadForm<F> =
	F extends Field<infer T>
		? Exclude<T, undefined>
		: { [K in keyof F]: Read<F[K]> };

interface RouteSpec<B extends Form, Q extends Fields> {
	readonly method: Method;
	/** With Discord's own names for the ids: "/channels/:channel_id". */
	readonly path: string;
	/** Permissions that the actor needs, in the path's channel or else in its guild. */
	readonly needs?: bigint;
	/** Refuses people: they have other routes for it, or none. */
	readonly botsOnly?: true;
	/** The token in the path, an interaction's or a webhook's, is all the authorisation that it needs. */
	readonly byToken?: true;
	readonly body?: B;
	readonly query?: Q;
	/** The status of a success with a body: 200. Without a body it is 204. */
	readonly status?: number;
	/** Whether it writes in archived threads, too: most of what is done in one is refused. */
	readonly inArchived?: true;
	/** What it writes is not worth an entry in the journal: it leaves nothing behind. */
	readonly fleeting?: true;
	/** What is returned is the answer's body. */
	run(call: Call<ReadForm<B>, ReadForm<Q>>): unknown;
}

/** A route, its types forgotten: `run` checks body and query itself. */
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

/** What the path's ids stand for. The router has found it, or answered the request itself. */
export function guildOf(call: Call): Guild {
	return known(call.found.guild);
}

export function channelOf(call: Call): Channel {
	return known(call.found.channel);
}

/** The path's channel or thread, on routes that direct channels do not have. */
export function guildPlaceOf(call: Call): GuildPlace {
	const channel = known(call.found.channel);
	if (!inGuild(channel)) throw refusal(Code.CannotExecuteActionOnDMChannel);
	return channel;
}

/** The path's channel, on routes that threads do not have either. */
export function guildChannelOf(call: Call): GuildChannel {
	const place = guildPlaceOf(call);
	if (isThread(place)) throw refusal(Code.CannotExecuteActionOnThisChannelType);
	return place;
}

/** The path's thread. */
export function threadOf(call: Call): Thread {
	const place = guildPlaceOf(call);
	if (isThread(place)) return place;
	throw refusal(Code.CannotExecuteActionOnThisChannelType);
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

/** The interaction whose token is in the path. */
export function interactionOf(call: Call): Interaction {
	return known(call.found.interaction);
}

/** The webhook whose token is in the path. */
export function actingWebhookOf(call: Call): Webhook {
	return known(call.found.webhook);
}

/** The actor as a member of the path's guild. */
export function memberOfActor(call: Call): Member {
	return known(guildOf(call).members.get(call.actor.user.id));
}

/** An id of the path that stands for nothing the router looks up. */
export function param(call: Call, name: string): string {
	return known(call.params[name]);
}

function known<T>(value: T | undefined): T {
	if (value === undefined) throw new Error("the route's path does not name it");
	return value;
}
