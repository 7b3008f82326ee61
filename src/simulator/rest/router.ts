// Discord's REST API v10: every check that routes have in common, in Discord's order, and once.

import { RESTJSONErrorCodes as Code, PermissionFlagsBits } from "discord.js";
import type { Log } from "../../lib/log.ts";
import { aborted } from "../../lib/signal.ts";
import type { Interactions } from "../interactions/interactions.ts";
import type { Account } from "../world/state/entities.ts";
import { inGuild, isThread } from "../world/state/entities.ts";
import {
	channelPermissions,
	guildPermissions,
	has,
} from "../world/state/permissions.ts";
import { isSnowflake } from "../world/state/snowflake.ts";
import type { World } from "../world/world.ts";
import { readBody, readReason } from "./body.ts";
import {
	ApiError,
	FieldFault,
	fieldFault,
	invalidForm,
	notSimulated,
	plainError,
	refusal,
} from "./errors.ts";
import type { Answer, Effect, Faults } from "./faults.ts";
import type { Journal, RequestLog } from "./journal.ts";
import {
	decoded,
	fits,
	paramsOf,
	placeholders,
	withoutToken,
} from "./paths.ts";
import type { RateLimiter } from "./rate-limits.ts";
import type { Call, Found, Route } from "./route.ts";
import { holderOf } from "./token-auth.ts";

/** Parts of a path that are no ids. */
const freeParts = new Set([
	"interaction_token",
	"webhook_token",
	"invite_code",
	"emoji",
	"answer_id",
]);

interface Parts {
	readonly routes: readonly Route[];
	readonly world: World;
	readonly interactions: Interactions;
	readonly journal: Journal;
	readonly requests: RequestLog;
	readonly faults: Faults;
	readonly limiter: RateLimiter;
	readonly log: Log;
	keepFile(host: string, path: string, file: Blob): string;
}

/** The client is told nothing more: its connection ends. */
class HangUp extends Error {
	override name = "HangUp";
}

/** A request to a route that the simulator does not have. */
export interface UnknownRoute {
	readonly method: string;
	readonly path: string;
	readonly count: number;
}

export class Router {
	readonly #parts: Parts;
	/** By the number of segments in their paths. */
	readonly #routesByLength: ReadonlyMap<number, readonly Route[]>;
	readonly #unknown = new Map<string, UnknownRoute>();
	#closed = false;

	constructor(parts: Parts) {
		this.#parts = parts;
		this.#routesByLength = Map.groupBy(
			parts.routes,
			({ path }) => path.split("/").length,
		);
	}

	/** What was asked for and is not simulated. */
	get unknownRoutes(): readonly UnknownRoute[] {
		return [...this.#unknown.values()];
	}

	/** From now on requests that are held end without being executed. */
	close(): void {
		this.#closed = true;
		this.#parts.faults.clear();
	}

	/** Answers a request below /api; `url` is what the client called. */
	async handle(request: Request, url: URL): Promise<Response> {
		const [, version, path = "/"] =
			/^\/api(?:\/v(\d+))?(\/.*)?$/.exec(url.pathname) ?? [];
		const { method } = request;
		const note = this.#parts.requests.arrive({
			method,
			path: withoutToken(path),
		});
		// Every answer says what is left in its bucket, errors too.
		const limits: Record<string, string> = {};
		try {
			if (version !== undefined && version !== "10" && version !== "9")
				throw refusal(Code.InvalidAPIVersion, {
					message: "Invalid API version",
				});
			const answer = await this.#answer(request, url, path, note, limits);
			note({ status: answer.status });
			this.#countInvalid(answer);
			return respond(answer, limits);
		} catch (error) {
			if (error instanceof HangUp) {
				note({ status: "hung up" });
				return hangUp();
			}
			const answer = this.#answerTo(error);
			note({ status: answer.status });
			this.#countInvalid(answer);
			return respond(answer, limits);
		}
	}

	async #answer(
		request: Request,
		url: URL,
		path: string,
		note: ReturnType<RequestLog["arrive"]>,
		limits: Record<string, string>,
	): Promise<Answer> {
		const { route, params } = this.#findRoute(request.method, path);
		note({ route: route.name });
		const holder = route.byToken && holderOf(params, this.#parts);
		const actor = holder ? holder.actor : this.#authenticate(request);
		note({ actor: actor.user.id });
		const left = this.#parts.limiter.take({
			actor: actor.user.id,
			route: route.name,
			major:
				params.interaction_token ??
				params.webhook_id ??
				params.channel_id ??
				params.guild_id ??
				"",
			exempt: holder?.found.interaction !== undefined,
		});
		Object.assign(limits, left);
		const content = await readBody(request);
		const fault = this.#parts.faults.hit({
			method: request.method,
			route: route.path,
			path,
			actor: actor.user.id,
		});
		if (fault) note({ fault: fault.kind });
		if (fault && !fault.executed) {
			if (fault.kind !== "answer") await this.#suffer(fault, request.signal);
			else {
				// Whatever answers in place of the API knows nothing of its buckets.
				for (const name of Object.keys(left)) delete limits[name];
				return fault.rewrite(undefined);
			}
		}

		let changed = true;
		let status = route.status ?? 200;
		const reason = readReason(request);
		const call: Call = {
			world: this.#parts.world,
			interactions: this.#parts.interactions,
			actor,
			params,
			...content,
			query: queryOf(url.searchParams),
			by: { actor: actor.user.id, reason },
			host: url.host,
			keepFile: (at, file) => this.#parts.keepFile(url.host, at, file),
			changedNothing: () => {
				changed = false;
			},
			answerWith: (other) => {
				status = other;
			},
			found: {
				...this.#find(route, params, actor),
				...holder?.found,
			},
		};
		this.#permit(route, call);
		const result = route.run(call);
		// From here on it has happened, whatever the client gets to hear of it.
		const answer: Answer =
			result === undefined
				? { status: 204 }
				: { status, body: JSON.stringify(result) };
		if (route.method !== "GET" && !route.fleeting && changed)
			this.#parts.journal.record({
				actor: actor.user.id,
				method: route.method,
				route: route.name,
				path: withoutToken(path),
				body: content.body,
				reason,
				...nonceOf(content.body),
			});
		if (fault?.kind === "answer") return fault.rewrite(answer);
		if (fault?.executed) await this.#suffer(fault, request.signal);
		return answer;
	}

	#findRoute(method: string, path: string) {
		const parts = path.split("/").map(decoded);
		const fitting = (this.#routesByLength.get(parts.length) ?? []).filter(
			(route) => fits(route.path, parts),
		);
		// Webhooks and interactions share their paths: the id tells whose token it is.
		const isWebhook = this.#parts.world.webhooks.has(parts[2] ?? "");
		const other = isWebhook ? ":interaction_token" : ":webhook_token";
		const rank = ({ path: pattern }: Route) =>
			placeholders(pattern) + (pattern.includes(other) ? 100 : 0);
		const route = fitting
			.sort((a, b) => rank(a) - rank(b))
			.find((one) => one.method === method);
		if (route) return { route, params: paramsOf(route.path, parts) };
		if (fitting.length > 0) throw plainError(405, "Method Not Allowed");

		const shown = withoutToken(path);
		const key = `${method} ${shown}`;
		const count = (this.#unknown.get(key)?.count ?? 0) + 1;
		// Someone who asks for ever new paths must not fill the memory.
		if (count > 1 || this.#unknown.size < 1000)
			this.#unknown.set(key, { method, path: shown, count });
		this.#parts.log.warn("the simulator does not have this route", {
			method,
			path: shown,
		});
		throw notSimulated(key);
	}

	#authenticate(request: Request): Account {
		const header = request.headers.get("authorization") ?? "";
		const asBot = header.startsWith("Bot ");
		const account = this.#parts.world.accounts.get(
			asBot ? header.slice(4).trim() : header,
		);
		if (!account || (account.user.bot === true) !== asBot)
			throw plainError(401, "Unauthorized");
		return account;
	}

	/** Looks up what the path's ids stand for, and whether the actor may know of it. */
	#find(
		route: Route,
		params: Readonly<Record<string, string>>,
		actor: Account,
	): Found {
		const { world } = this.#parts;
		for (const [name, id] of Object.entries(params))
			if (!freeParts.has(name) && !isSnowflake(id))
				throw fieldFault(
					"NUMBER_TYPE_COERCE",
					`Value "${id}" is not snowflake.`,
					name,
				);
		const found: Found = {};
		const { guild_id, channel_id, message_id, role_id, user_id } = params;

		if (guild_id !== undefined) {
			const guild = world.guilds.get(guild_id);
			if (!guild) throw refusal(Code.UnknownGuild);
			if (!guild.members.has(actor.user.id))
				throw refusal(
					route.name === "GET /guilds/:guild_id"
						? Code.UnknownGuild
						: Code.MissingAccess,
				);
			found.guild = guild;
		}
		if (channel_id !== undefined) {
			const channel = world.channels.get(channel_id);
			if (!channel) throw refusal(Code.UnknownChannel);
			const visible = inGuild(channel)
				? has(
						channelPermissions(
							world.guilds.of(channel),
							channel,
							actor.user.id,
						),
						PermissionFlagsBits.ViewChannel,
					)
				: channel.recipients.includes(actor.user);
			if (!visible) throw refusal(Code.MissingAccess);
			found.channel = channel;
		}
		if (channel_id !== undefined && message_id !== undefined) {
			const message = world.messages.get(channel_id, message_id);
			if (!message) throw refusal(Code.UnknownMessage);
			found.message = message;
		}
		if (role_id !== undefined) {
			const role = found.guild?.roles.get(role_id);
			if (!role) throw refusal(Code.UnknownRole);
			found.role = role;
		}
		const isMember = /\/(members|voice-states)\/:user_id/.test(route.path);
		if (user_id !== undefined && isMember) {
			const member = found.guild?.members.get(user_id);
			if (!member)
				throw refusal(
					world.users.get(user_id) ? Code.UnknownMember : Code.UnknownUser,
				);
			found.member = member;
		}
		return found;
	}

	#permit(route: Route, { actor, found }: Call): void {
		if (route.botsOnly && !actor.user.bot)
			throw refusal(Code.OnlyBotsCanUseThisEndpoint);
		const place = found.channel;
		const asleep = place && isThread(place) && place.archived;
		if (asleep && route.method !== "GET" && !route.inArchived)
			throw refusal(Code.InvalidActionOnArchivedThread);
		if (route.needs === undefined) return;
		const { world } = this.#parts;
		const { channel, guild } = found;
		// The two who talk directly may do there what routes of channels allow at all.
		if (channel && !inGuild(channel)) return;
		const permissions = channel
			? channelPermissions(world.guilds.of(channel), channel, actor.user.id)
			: guild
				? guildPermissions(guild, actor.user.id)
				: 0n;
		if (!has(permissions, route.needs)) throw refusal(Code.MissingPermissions);
	}

	async #suffer(
		fault: Exclude<Effect, { kind: "answer" }>,
		signal: AbortSignal,
	): Promise<void> {
		if ("error" in fault) throw fault.error;
		if (fault.kind === "drop") throw new HangUp();
		await Promise.race([fault.released, aborted(signal)]);
		if (signal.aborted || this.#closed) throw new HangUp();
	}

	#answerTo(error: unknown): Answer {
		if (error instanceof FieldFault) return this.#answerTo(invalidForm(error));
		if (error instanceof ApiError)
			return {
				status: error.status,
				body: JSON.stringify(error.body),
				headers: error.headers,
			};
		this.#parts.log.error("a request failed: a fault of the simulator", {
			error,
		});
		return this.#answerTo(plainError(500, "Internal Server Error"));
	}

	#countInvalid({ status, headers }: Answer): void {
		const shared = headers?.["x-ratelimit-scope"] === "shared";
		if (status === 401 || status === 403 || (status === 429 && !shared))
			this.#parts.requests.countInvalid();
	}
}

/** A query as an object; what is given several times is a list. */
function queryOf(given: URLSearchParams): Record<string, string | string[]> {
	const entries = [...new Set(given.keys())].map((key) => {
		const values = given.getAll(key);
		return [key, values.length > 1 ? values : (values[0] ?? "")] as const;
	});
	return Object.fromEntries(entries);
}

function nonceOf(body: unknown): { nonce?: string | number } {
	if (typeof body !== "object" || body === null || !("nonce" in body))
		return {};
	const { nonce } = body;
	return typeof nonce === "string" || typeof nonce === "number"
		? { nonce }
		: {};
}

function respond(
	{ status, body, headers }: Answer,
	limits: Readonly<Record<string, string>>,
): Response {
	const all = { ...limits, ...headers };
	if (body === undefined) return new Response(null, { status, headers: all });
	return new Response(body, {
		status,
		headers: { "content-type": "application/json", ...all },
	});
}

/**
 * Ends the connection without a byte of an answer: Bun closes it when a body fails before its first chunk. An error
 * value would be printed; undefined is not.
 */
function hangUp(): Response {
	return new Response(
		new ReadableStream({ start: (controller) => controller.error(undefined) }),
	);
}
