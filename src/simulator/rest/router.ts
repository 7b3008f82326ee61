// Discord's REST API v10: the checks that all routes share, in Discord's order.

import {
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
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
	apiError,
	FormError,
	formError,
	formErrorResponse,
	httpError,
	notSimulated,
} from "./errors.ts";
import type { Effect, Faults, ResponseData } from "./faults.ts";
import type { Journal, RequestLog } from "./journal.ts";
import {
	countParams,
	decodeSegment,
	matchesPattern,
	readParams,
	redactToken,
} from "./paths.ts";
import type { RateLimiter } from "./rate-limits.ts";
import type { Call, Found, Route } from "./route.ts";
import { authenticateByToken } from "./token-auth.ts";

/** Path parameters that are no ids. */
const nonIdParams = new Set([
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
	storeFile(host: string, path: string, file: Blob): string;
}

/** Closes the client's connection without a response. */
class HangUp extends Error {
	override name = "HangUp";
}

/** A requested route that is not simulated. */
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

	/** The requested routes that are not simulated. */
	get unknownRoutes(): readonly UnknownRoute[] {
		return [...this.#unknown.values()];
	}

	/** Ends held requests without executing them. */
	close(): void {
		this.#closed = true;
		this.#parts.faults.clear();
	}

	/** Handles a request below /api. `url` is its URL. */
	async handle(request: Request, url: URL): Promise<Response> {
		const [, version, path = "/"] =
			/^\/api(?:\/v(\d+))?(\/.*)?$/.exec(url.pathname) ?? [];
		const { method } = request;
		const complete = this.#parts.requests.add({
			method,
			path: redactToken(path),
		});
		// All responses have rate limit headers, errors too.
		const limits: Record<string, string> = {};
		try {
			if (version !== undefined && version !== "10" && version !== "9")
				throw apiError(Code.InvalidAPIVersion, {
					message: "Invalid API version",
				});
			const response = await this.#handleCall(
				request,
				url,
				path,
				complete,
				limits,
			);
			complete({ status: response.status });
			this.#countInvalid(response);
			return respond(response, limits);
		} catch (error) {
			if (error instanceof HangUp) {
				complete({ status: "hung up" });
				return hangUp();
			}
			const response = this.#errorResponse(error);
			complete({ status: response.status });
			this.#countInvalid(response);
			return respond(response, limits);
		}
	}

	async #handleCall(
		request: Request,
		url: URL,
		path: string,
		complete: ReturnType<RequestLog["add"]>,
		limits: Record<string, string>,
	): Promise<ResponseData> {
		const { route, params } = this.#findRoute(request.method, path);
		complete({ route: route.name });
		const holder = route.byToken && authenticateByToken(params, this.#parts);
		const actor = holder ? holder.actor : this.#authenticate(request);
		complete({ actor: actor.user.id });
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
		if (fault) complete({ fault: fault.kind });
		if (fault && !fault.executed) {
			if (fault.kind !== "answer")
				await this.#applyFault(fault, request.signal);
			else {
				// A proxy in front of the API sends no rate limit headers.
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
			query: parseQuery(url.searchParams),
			by: { actor: actor.user.id, reason },
			host: url.host,
			storeFile: (at, file) => this.#parts.storeFile(url.host, at, file),
			skipJournal: () => {
				changed = false;
			},
			setStatus: (other) => {
				status = other;
			},
			found: {
				...this.#findEntities(route, params, actor),
				...holder?.found,
			},
		};
		this.#checkPermissions(route, call);
		const result = route.run(call);
		// The request is executed, even if a fault hides it from the client.
		const response: ResponseData =
			result === undefined
				? { status: 204 }
				: { status, body: JSON.stringify(result) };
		if (route.method !== "GET" && !route.fleeting && changed)
			this.#parts.journal.record({
				actor: actor.user.id,
				method: route.method,
				route: route.name,
				path: redactToken(path),
				body: content.body,
				reason,
				...nonceOf(content.body),
			});
		if (fault?.kind === "answer") return fault.rewrite(response);
		if (fault?.executed) await this.#applyFault(fault, request.signal);
		return response;
	}

	#findRoute(method: string, path: string) {
		const parts = path.split("/").map(decodeSegment);
		const matching = (this.#routesByLength.get(parts.length) ?? []).filter(
			(route) => matchesPattern(route.path, parts),
		);
		// Webhooks and interactions share their paths. The id decides which one it is.
		const isWebhook = this.#parts.world.webhooks.has(parts[2] ?? "");
		const other = isWebhook ? ":interaction_token" : ":webhook_token";
		const rank = ({ path: pattern }: Route) =>
			countParams(pattern) + (pattern.includes(other) ? 100 : 0);
		const route = matching
			.sort((a, b) => rank(a) - rank(b))
			.find((one) => one.method === method);
		if (route) return { route, params: readParams(route.path, parts) };
		if (matching.length > 0) throw httpError(405, "Method Not Allowed");

		const redacted = redactToken(path);
		const key = `${method} ${redacted}`;
		const count = (this.#unknown.get(key)?.count ?? 0) + 1;
		// Bounded, because a client can request any number of paths.
		if (count > 1 || this.#unknown.size < 1000)
			this.#unknown.set(key, { method, path: redacted, count });
		this.#parts.log.warn("route not simulated", {
			method,
			path: redacted,
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
			throw httpError(401, "Unauthorized");
		return account;
	}

	/** Looks up the entities of the path and checks that the actor may see them. */
	#findEntities(
		route: Route,
		params: Readonly<Record<string, string>>,
		actor: Account,
	): Found {
		const { world } = this.#parts;
		for (const [name, id] of Object.entries(params))
			if (!nonIdParams.has(name) && !isSnowflake(id))
				throw formError(
					"NUMBER_TYPE_COERCE",
					`Value "${id}" is not snowflake.`,
					name,
				);
		const found: Found = {};
		const { guild_id, channel_id, message_id, role_id, user_id } = params;

		if (guild_id !== undefined) {
			const guild = world.guilds.get(guild_id);
			if (!guild) throw apiError(Code.UnknownGuild);
			if (!guild.members.has(actor.user.id))
				throw apiError(
					route.name === "GET /guilds/:guild_id"
						? Code.UnknownGuild
						: Code.MissingAccess,
				);
			found.guild = guild;
		}
		if (channel_id !== undefined) {
			const channel = world.channels.get(channel_id);
			if (!channel) throw apiError(Code.UnknownChannel);
			const visible = inGuild(channel)
				? has(
						channelPermissions(
							world.guilds.of(channel),
							channel,
							actor.user.id,
						),
						Permission.ViewChannel,
					)
				: channel.recipients.includes(actor.user);
			if (!visible) throw apiError(Code.MissingAccess);
			found.channel = channel;
		}
		if (channel_id !== undefined && message_id !== undefined) {
			const message = world.messages.get(channel_id, message_id);
			if (!message) throw apiError(Code.UnknownMessage);
			found.message = message;
		}
		if (role_id !== undefined) {
			const role = found.guild?.roles.get(role_id);
			if (!role) throw apiError(Code.UnknownRole);
			found.role = role;
		}
		const isMember = /\/(members|voice-states)\/:user_id/.test(route.path);
		if (user_id !== undefined && isMember) {
			const member = found.guild?.members.get(user_id);
			if (!member)
				throw apiError(
					world.users.get(user_id) ? Code.UnknownMember : Code.UnknownUser,
				);
			found.member = member;
		}
		return found;
	}

	#checkPermissions(route: Route, { actor, found }: Call): void {
		if (route.botsOnly && !actor.user.bot)
			throw apiError(Code.OnlyBotsCanUseThisEndpoint);
		const place = found.channel;
		const isArchived = place && isThread(place) && place.archived;
		if (isArchived && route.method !== "GET" && !route.inArchived)
			throw apiError(Code.InvalidActionOnArchivedThread);
		if (route.needs === undefined) return;
		const { world } = this.#parts;
		const { channel, guild } = found;
		// In DMs both users have all permissions.
		if (channel && !inGuild(channel)) return;
		const permissions = channel
			? channelPermissions(world.guilds.of(channel), channel, actor.user.id)
			: guild
				? guildPermissions(guild, actor.user.id)
				: 0n;
		if (!has(permissions, route.needs)) throw apiError(Code.MissingPermissions);
	}

	async #applyFault(
		fault: Exclude<Effect, { kind: "answer" }>,
		signal: AbortSignal,
	): Promise<void> {
		if ("error" in fault) throw fault.error;
		if (fault.kind === "drop") throw new HangUp();
		await Promise.race([fault.released, aborted(signal)]);
		if (signal.aborted || this.#closed) throw new HangUp();
	}

	#errorResponse(error: unknown): ResponseData {
		if (error instanceof FormError)
			return this.#errorResponse(formErrorResponse(error));
		if (error instanceof ApiError)
			return {
				status: error.status,
				body: JSON.stringify(error.body),
				headers: error.headers,
			};
		this.#parts.log.error("request failed", {
			error,
		});
		return this.#errorResponse(httpError(500, "Internal Server Error"));
	}

	#countInvalid({ status, headers }: ResponseData): void {
		const shared = headers?.["x-ratelimit-scope"] === "shared";
		if (status === 401 || status === 403 || (status === 429 && !shared))
			this.#parts.requests.countInvalid();
	}
}

/** A query as an object. A repeated key becomes a list. */
function parseQuery(given: URLSearchParams): Record<string, string | string[]> {
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
	{ status, body, headers }: ResponseData,
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
 * Closes the connection without a response: Bun does so when a body fails before its first chunk. An error value would be
 * printed; undefined is not.
 */
function hangUp(): Response {
	return new Response(
		new ReadableStream({ start: (controller) => controller.error(undefined) }),
	);
}
