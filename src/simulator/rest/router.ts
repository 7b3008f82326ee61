// Discord's REST API v10: the checks that all routes share, in Discord's order.

import type { Log } from "../../lib/log.ts";
import type { Interactions } from "../interactions/interactions.ts";
import { newUserProfile } from "../world/state/defaults.ts";
import type { Account } from "../world/state/entities.ts";
import type { World } from "../world/world.ts";
import { authenticateByToken, checkRoute, findEntities, type Sender } from "./access.ts";
import { type Content, readBody, readForm, readReason } from "./body.ts";
import { ApiError, apiError, httpError, notSimulated } from "./errors.ts";
import { type Faults, HangUp, type InjectedFault, type ResponseData } from "./faults.ts";
import type { Journal, RequestLog, RequestRecord } from "./journal.ts";
import type { RateLimiter } from "./rate-limits.ts";
import type { Call, Route } from "./route.ts";
import { redactToken } from "./route.ts";

interface Parts {
	routes: readonly Route[];
	world: World;
	interactions: Interactions;
	journal: Journal;
	requests: RequestLog;
	faults: Faults;
	limiter: RateLimiter;
	log: Log;
	onExchange: ((exchange: Exchange) => void) | undefined;
	storeFile(host: string, path: string, file: Blob): string;
}

/** Not implemented; listed because they match other routes, such as "/guilds/:guild_id/roles/:role_id". */
const otherPaths = [
	/^\/applications\/\d+\/guilds\/\d+\/commands\/permissions$/,
	/^\/guilds\/\d+\/(roles\/member-counts|voice-states\/@me)$/,
];

/** A REST request to the simulator and its response. Tests validate both against Discord's OpenAPI document. */
export interface Exchange {
	method: string;
	route: string;
	query: URLSearchParams;
	/** The parsed JSON body of the request; {} if the request has no body, undefined if it was refused before it was read. */
	body: unknown;
	files: readonly string[];
	byLibrary: boolean;
	status: number;
	response: string | undefined;
	headers: Readonly<Record<string, string>>;
	fault: InjectedFault["kind"] | undefined;
}

const anonymous: Account = {
	token: "",
	user: { id: "0", ...newUserProfile, username: "anonymous" },
	privilegedIntents: [],
};

interface Seen {
	limits: Record<string, string>;
	content?: Content;
}

export class Router {
	constructor(private readonly parts: Parts) {}

	async handle(request: Request, url: URL): Promise<Response> {
		const [, version, path = "/"] = /^\/api(?:\/v(\d+))?(\/.*)?$/.exec(url.pathname) ?? [];
		const { requests } = this.parts;
		const record = requests.add({ method: request.method, path: redactToken(path) });
		const seen: Seen = { limits: {} };
		let response: ResponseData;
		try {
			if (version !== undefined && version !== "10" && version !== "9")
				throw apiError("InvalidAPIVersion", { message: "Invalid API version" });
			response = await this.#handleCall(request, url, path, record, seen);
		} catch (error) {
			if (error instanceof HangUp) {
				requests.end(record, "hung up");
				// The body fails before the first chunk, so that Bun closes the connection without sending anything.
				return new Response(new ReadableStream({ start: (controller) => controller.error(undefined) }));
			}
			const known = error instanceof ApiError ? error : httpError(500, "Internal Server Error");
			if (known !== error) {
				const { method, path } = record;
				this.parts.log.error("simulated Discord API route failed: internal error", { method, path, error });
			}
			response = { status: known.status, body: JSON.stringify(known.body), headers: known.headers };
		}
		const { status, body } = response;
		requests.end(record, status, response.headers?.["x-ratelimit-scope"] === "shared");
		const headers = { ...seen.limits, ...response.headers };
		if (record.route !== undefined)
			this.parts.onExchange?.({
				method: request.method,
				route: record.route.split(" ")[1] ?? "",
				query: url.searchParams,
				body: seen.content?.body,
				files: [...(seen.content?.files.keys() ?? [])],
				byLibrary: /^DiscordBot /.test(request.headers.get("user-agent") ?? ""),
				status,
				response: body,
				headers,
				fault: record.fault,
			});
		if (body === undefined) return new Response(null, { status, headers });
		return new Response(body, { status, headers: { "content-type": "application/json", ...headers } });
	}

	async #handleCall(
		request: Request,
		url: URL,
		path: string,
		record: RequestRecord,
		seen: Seen,
	): Promise<ResponseData> {
		const { route, params } = this.#findRoute(request.method, path);
		record.route = route.name;
		const sender = authenticateByToken(params, this.parts) ?? this.#authenticate(request, route);
		const { actor, byApplication = false, entities } = sender;
		record.actor = actor.user.id;
		seen.limits = this.parts.limiter.take({
			actor: actor.user.id,
			route: route.name,
			major: params.interaction_token ?? params.webhook_id ?? params.channel_id ?? params.guild_id ?? "",
			exempt: entities?.interaction !== undefined,
		});
		const content = await (route.form ? readForm : readBody)(request);
		seen.content = content;
		const fault = this.parts.faults.hit({ method: request.method, route: route.path, path, actor: actor.user.id });
		if (fault && !fault.executed) {
			record.fault = fault.kind;
			const other = await fault.apply(undefined, request.signal);
			// A proxy in front of the API sends no rate limit headers.
			if (other) seen.limits = {};
			if (other) return other;
		}

		let changed = true;
		let status = route.status ?? 200;
		const reason = readReason(request);
		const call: Call = {
			world: this.parts.world,
			interactions: this.parts.interactions,
			actor,
			byApplication,
			params,
			...content,
			query: parseQuery(url.searchParams),
			by: { actor: actor.user.id, reason },
			authorizationHeader: request.headers.get("authorization") ?? "",
			host: url.host,
			storeFile: (at, file) => this.parts.storeFile(url.host, at, file),
			skipJournal: () => {
				changed = false;
			},
			setStatus: (other) => {
				status = other;
			},
			...findEntities(this.parts.world, route, params, actor),
			...entities,
		};
		checkRoute(route, call);
		if (route.name === "PATCH /channels/:channel_id" && call.channel)
			this.parts.limiter.takeRename(call.channel.id, content.body);
		const result = route.run(call);
		// The request is executed, even if a fault hides it from the client.
		const response: ResponseData = result === undefined ? { status: 204 } : { status, body: JSON.stringify(result) };
		if (route.method !== "GET" && !route.fleeting && changed)
			this.parts.journal.record({
				actor: actor.user.id,
				method: route.method,
				route: route.name,
				path: redactToken(path),
				body: content.body,
				reason,
			});
		record.fault = fault?.kind;
		const other = fault?.executed ? await fault.apply(response, request.signal) : undefined;
		return other ?? response;
	}

	#findRoute(method: string, path: string) {
		// Some clients encode the "@" of "@original" and "@me".
		const plain = path.replaceAll("%40", "@");
		// Webhooks and interactions share their paths. The id decides which one it is.
		const isWebhook = this.parts.world.webhooks.has(plain.split("/")[2] ?? "");
		const other = isWebhook ? ":interaction_token" : ":webhook_token";
		const rank = ({ path: pattern }: Route) => pattern.split(":").length + (pattern.includes(other) ? 100 : 0);
		const [route] = this.parts.routes
			.filter((one) => one.method === method && one.matcher.test(plain))
			.sort((a, b) => rank(a) - rank(b));
		if (route && !otherPaths.some((other) => other.test(plain)))
			return { route, params: { ...route.matcher.exec(plain)?.groups } };
		const redacted = redactToken(path);
		this.parts.log.warn("received a request for a Discord API route that the simulator does not have", {
			method,
			path: redacted,
		});
		throw notSimulated(`${method} ${redacted}`);
	}

	#authenticate(request: Request, route: Route): Sender {
		const header = request.headers.get("authorization") ?? "";
		if (route.form || (route.withoutToken && header === "")) return { actor: anonymous };
		if (header.startsWith("Bearer ")) {
			const token = header.slice(7).trim();
			const user = route.forApplications && this.parts.world.authorizations.personWith(token);
			if (!user) throw httpError(401, "Unauthorized");
			return { actor: { token, user, privilegedIntents: [] }, byApplication: true };
		}
		const asBot = header.startsWith("Bot ");
		const actor = this.parts.world.accounts.get(asBot ? header.slice(4).trim() : header);
		if (!actor || (actor.user.bot === true) !== asBot) throw httpError(401, "Unauthorized");
		return { actor };
	}
}

function parseQuery(given: URLSearchParams) {
	const entries = [...new Set(given.keys())].map((key) => {
		const values = given.getAll(key);
		return [key, values.length > 1 ? values : (values[0] ?? "")] as const;
	});
	return Object.fromEntries(entries);
}
