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
import { apiError, found } from "./errors.ts";
import type { Field, Fields, Read } from "./fields.ts";
import { object } from "./fields.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The entities that the parameters of a path refer to. */
export interface Found {
	guild: Guild;
	channel: Channel;
	message: Message;
	role: Role;
	member: Member;
	interaction: Interaction;
	/** The webhook whose token is in the path. */
	webhook: Webhook;
}

type If<Path, Part extends string, T> = Path extends `${string}${Part}${string}`
	? T
	: never;

/** The entities that the router finds for a path. */
type FoundIn<Path> =
	| If<Path, ":guild_id", "guild">
	| If<Path, ":channel_id", "channel">
	| If<Path, `:channel_id${string}:message_id`, "message">
	| If<Path, ":role_id", "role">
	| If<Path, "/members/:user_id" | "/voice-states/:user_id", "member">
	| If<Path, ":interaction_token", "interaction">
	| If<Path, ":webhook_token", "webhook">;

type ParamsIn<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
	? Name | ParamsIn<Rest>
	: Path extends `${string}:${infer Name}`
		? Name
		: never;

interface Request<Path, Body, Query> {
	readonly world: World;
	readonly interactions: Interactions;
	readonly actor: Account;
	/** The path's parameters by name. */
	readonly params: Readonly<
		Record<string, string> & Record<ParamsIn<Path>, string>
	>;
	readonly body: Body;
	readonly query: Query;
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
}

/** A checked request with the entities of its path, such as ":guild_id". */
export type Call<Path = "", Body = unknown, Query = unknown> = Request<
	Path,
	Body,
	Query
> &
	Readonly<Partial<Found> & Pick<Found, FoundIn<Path>>>;

/** Fields by name, or a field for a body that is not an object. */
type Form = Fields | Field<unknown>;

/** The parsed type of a form. */
export type ReadForm<F> =
	F extends Field<infer T>
		? Exclude<T, undefined>
		: { [K in keyof F]: Read<F[K]> };

type Run<Path, B, Q> = (call: Call<Path, ReadForm<B>, ReadForm<Q>>) => unknown;

interface RouteSpec<Path, B extends Form, Q extends Fields> {
	/** The permissions that the actor needs in the path's channel, or else guild. */
	readonly needs?: bigint;
	/** Needs no token. https://discord.com/developers/docs/events/gateway#get-gateway; invites: the OpenAPI document. */
	readonly withoutToken?: true;
	/** Refuses requests of people: only bots can use the route. */
	readonly botsOnly?: true;
	readonly body?: B;
	readonly query?: Q;
	/** The status of a response with a body: 200 by default. Without a body it is 204. */
	readonly status?: number;
	/** Allows writes in archived threads. */
	readonly inArchived?: true;
	/** Keeps the route's requests out of the journal, because they change no state. */
	readonly fleeting?: true;
	/** Returns the response body. */
	readonly run: Run<Path, B, Q>;
}

/** A route without its types: `run` parses body and query. */
export interface Route
	extends Omit<RouteSpec<"", Fields, Fields>, "body" | "query" | "run"> {
	/** Method and pattern, such as "POST /channels/:channel_id/messages". */
	readonly name: string;
	readonly method: string;
	readonly path: string;
	run(call: Call): unknown;
}

// biome-ignore lint/complexity/noBannedTypes: a form without fields.
type None = {};

/** Defines a route by its name, with Discord's names of the parameters. A route without checks is only a handler. */
export function route<
	const Name extends `${Method} /${string}`,
	const B extends Form = None,
	const Q extends Fields = None,
>(name: Name, spec: RouteSpec<Name, B, Q> | Run<Name, B, Q>): Route {
	const given = typeof spec === "function" ? { run: spec } : spec;
	const {
		body = {},
		query = {},
		run,
		...rest
	} = given as RouteSpec<Name, B, Q>;
	const [method = "", path = ""] = name.split(" ");
	const bodyForm = isField(body) ? body : object(body);
	const queryForm = object(query);
	return {
		...rest,
		name,
		method,
		path,
		run: (call) =>
			run({
				// The router has found the entities of the path, or answered with an error.
				...(call as Call<Name>),
				body: bodyForm.read(call.body) as ReadForm<B>,
				query: queryForm.read(call.query) as ReadForm<Q>,
			}),
	};
}

function isField(form: Form): form is Field<unknown> {
	return typeof form.read === "function";
}

/** The path's channel or thread. Throws in DMs. */
export function guildPlaceOf({ channel }: Call<":channel_id">): GuildPlace {
	if (!inGuild(channel)) throw apiError(Code.CannotExecuteActionOnDMChannel);
	return channel;
}

/** The path's channel. Throws in DMs and threads. */
export function guildChannelOf(call: Call<":channel_id">): GuildChannel {
	const place = guildPlaceOf(call);
	if (isThread(place))
		throw apiError(Code.CannotExecuteActionOnThisChannelType);
	return place;
}

/** The path's thread. Throws in other channels. */
export function threadOf(call: Call<":channel_id">): Thread {
	const place = guildPlaceOf(call);
	if (isThread(place)) return place;
	throw apiError(Code.CannotExecuteActionOnThisChannelType);
}

/** The actor's member in the path's guild. */
export function memberOfActor({ guild, actor }: Call<":guild_id">): Member {
	return found(guild.members.get(actor.user.id), Code.UnknownMember);
}
