// The definition of a route: path, permissions, fields and handler. The router runs the checks.

import type { Interaction } from "../interactions/interaction.ts";
import type { Interactions } from "../interactions/interactions.ts";
import {
	type Account,
	type Channel,
	type Guild,
	type GuildChannel,
	type GuildPlace,
	inGuild,
	isThread,
	type Member,
	type Message,
	type Role,
	type Thread,
	type Webhook,
} from "../world/state/entities.ts";
import type { Needed } from "../world/state/permissions.ts";
import type { Attribution } from "../world/state/state.ts";
import type { World } from "../world/world.ts";
import { apiError, found } from "./errors.ts";
import { type Field, type Fields, object, type ReadFields, required } from "./fields/fields.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Found {
	guild: Guild;
	channel: Channel;
	message: Message;
	role: Role;
	member: Member;
	interaction: Interaction;
	/** The webhook whose token is in the request path. */
	webhook: Webhook;
}

type If<Path, Part extends string, T> = Path extends `${string}${Part}${string}` ? T : never;

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
	world: World;
	interactions: Interactions;
	actor: Account;
	/** An application sent it in the name of the actor, who has authorized it. */
	byApplication: boolean;
	params: Readonly<Record<string, string> & Record<ParamsIn<Path>, string>>;
	body: Body;
	query: Query;
	files: ReadonlyMap<string, Blob>;
	by: Attribution;
	authorizationHeader: string;
	host: string;
	storeFile(path: string, file: Blob): string;
	skipJournal(): void;
	setStatus(status: number): void;
}

/** The checked request, with the entities (guild, channel …) whose ids are in the path. */
export type Call<Path = "", Body = unknown, Query = unknown> = Request<Path, Body, Query> &
	Readonly<Partial<Found> & Pick<Found, FoundIn<Path>>>;

type Form = Fields | Field<unknown>;

export type ReadForm<F> = F extends Field<infer T> ? Exclude<T, undefined> : ReadFields<F>;

type Run<Path, B, Q> = (call: Call<Path, ReadForm<B>, ReadForm<Q>>) => unknown;

interface RouteSpec<Path, B extends Form, Q extends Fields> {
	needs?: Needed;
	/**
	 * The route can be used without a token. Sources: for the route that returns the Gateway URL
	 * https://discord.com/developers/docs/events/gateway#get-gateway, for the route that returns an invite Discord's
	 * OpenAPI document.
	 */
	withoutToken?: true;
	botsOnly?: true;
	/** Applications may use the route in the name of people. */
	forApplications?: true;
	form?: true;
	body?: B;
	query?: Q;
	status?: number;
	inArchived?: true;
	fleeting?: true;
	run: Run<Path, B, Q>;
}

/** A route of the simulated REST API. `run` parses and handles the request. */
export interface Route extends Omit<RouteSpec<"", Fields, Fields>, "body" | "query" | "run"> {
	/** Method and path pattern, such as "POST /channels/:channel_id/messages". */
	name: string;
	method: string;
	path: string;
	matcher: RegExp;
	run(call: Call): unknown;
}

// biome-ignore lint/complexity/noBannedTypes: a form without fields.
type None = {};

/** `spec` is the handler or, if the route has fields or needs permissions, an object with these and the handler. */
export function route<
	const Name extends `${Method} /${string}`,
	const B extends Form = None,
	const Q extends Fields = None,
>(name: Name, spec: RouteSpec<Name, B, Q> | Run<Name, B, Q>): Route {
	const given = typeof spec === "function" ? { run: spec } : spec;
	const { body = {}, query = {}, run, ...rest } = given as RouteSpec<Name, B, Q>;
	const [method = "", path = ""] = name.split(" ");
	const bodyForm = isField(body) ? body : required(object(body));
	const queryForm = object(query);
	return {
		...rest,
		name,
		method,
		path,
		matcher: new RegExp(`^${path.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
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

/** Returns the channel or thread of the request path. Throws in DMs. */
export function guildPlaceOf({ channel }: Call<":channel_id">): GuildPlace {
	if (!inGuild(channel)) throw apiError("CannotExecuteActionOnDMChannel");
	return channel;
}

export function applicationOf(world: World, id: string): Account {
	return found(
		world.users.bots.find(({ user }) => user.id === id),
		"UnknownApplication",
	);
}

/** Returns the channel of the request path. Throws in DMs and threads. */
export function guildChannelOf(call: Call<":channel_id">): GuildChannel {
	const place = guildPlaceOf(call);
	if (isThread(place)) throw apiError("CannotExecuteActionOnThisChannelType");
	return place;
}

export function threadOf(call: Call<":channel_id">): Thread {
	const place = guildPlaceOf(call);
	if (isThread(place)) return place;
	throw apiError("CannotExecuteActionOnThisChannelType");
}

export function memberOfActor({ guild, actor }: Call<":guild_id">): Member {
	return found(guild.members.get(actor.user.id), "UnknownMember");
}

/** Hides a webhook's or interaction's token except its last six characters, so that the path can be logged. */
export function redactToken(path: string): string {
	return path.replace(/^(\/(?:interactions|webhooks)\/[^/]*\/)[^/]*?([^/]{0,6})(?=\/|$)/, "$1…$2");
}
