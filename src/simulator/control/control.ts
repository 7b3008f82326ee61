// Control routes below /simulator/, for programs on this machine. They reveal tokens, so web pages are refused: the Host must
// be a loopback name, and an Origin the same.

import * as v from "valibot";
import { parseJson } from "../../lib/json.ts";

/** By method and path: "GET /simulator/journal". A result that is not a Response is sent as JSON. */
export type ControlRoutes = Readonly<Record<string, (request: Request) => unknown>>;

export function createControl(routes: ControlRoutes): (request: Request, url: URL) => Promise<Response> {
	return async (request, url) => {
		const refused = refusalReason(request, url);
		if (refused) return respond(403, { error: refused });
		const name = `${request.method} ${url.pathname}`;
		const handler = Object.hasOwn(routes, name) ? routes[name] : undefined;
		if (!handler) return respond(404, { error: `unknown route: ${name}`, routes: Object.keys(routes) });
		try {
			const result = await handler(request);
			return result instanceof Response ? result : respond(200, result);
		} catch (error) {
			if (!(error instanceof BadRequest)) throw error;
			return respond(400, { error: error.message });
		}
	};
}

/** The reason to refuse a request whose host is no loopback host or that a page of another origin sent, if any. */
export function refusalReason(request: Request, { host, hostname }: URL): string | undefined {
	if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname)) return `not a loopback host name: ${hostname}`;
	const origin = request.headers.get("origin");
	if (origin !== null && origin !== `http://${host}`) return `requests from web pages are refused: Origin is ${origin}`;
	return undefined;
}

export class BadRequest extends Error {}

export const count = v.pipe(v.number(), v.integer(), v.minValue(1));

/** A route whose JSON body must match the schema; an empty one counts as {}. */
export function withBody<const S extends v.GenericSchema>(schema: S, run: (given: v.InferOutput<S>) => unknown) {
	return async (request: Request) => {
		const text = await request.text();
		const body = text === "" ? {} : parseJson(text);
		if (body === undefined) throw new BadRequest("the request body is not JSON");
		return run(parseRequest(schema, body));
	};
}

export function withQuery<const S extends v.GenericSchema>(schema: S, run: (given: v.InferOutput<S>) => unknown) {
	return (request: Request) => run(parseRequest(schema, Object.fromEntries(urlOf(request).searchParams)));
}

function parseRequest<const S extends v.GenericSchema>(schema: S, given: unknown): v.InferOutput<S> {
	const result = v.safeParse(schema, given);
	if (result.success) return result.output;
	throw new BadRequest(
		result.issues.map((issue) => `${v.getDotPath(issue) ?? "request"}: ${issue.message}`).join("; "),
	);
}

function respond(status: number, body: unknown): Response {
	return new Response(`${JSON.stringify(body, undefined, 1)}\n`, {
		status,
		headers: { "content-type": "application/json" },
	});
}

/** If the Host header is invalid, the result is a URL that matches no route. */
export function urlOf(request: Request): URL {
	return URL.parse(request.url, "http://unknown.invalid") ?? new URL("http://unknown.invalid/");
}

interface Misbehaviour<Kind, Route> {
	/** Default: all routes. */
	route?: Route | undefined;
	/** Of how many requests. Default: of all until `behave()` is called. */
	times?: number | undefined;
	/** The requests take effect although their responses are faulty. */
	executed?: boolean | undefined;
	kind: Kind;
}

/** A server beside Discord that can misbehave on demand. Its control routes are below /simulator/. */
export abstract class ControlledServer<Kind extends string, Route extends string = never> implements AsyncDisposable {
	readonly origin: string;
	readonly #faults = new Map<string, Misbehaviour<Kind, Route> & { left: number }>();
	#held = Promise.withResolvers<void>();
	readonly #server: Bun.Server<undefined>;

	constructor(port: number, kinds: readonly Kind[], routes: readonly Route[] = []) {
		const misbehaviour = v.strictObject({
			kind: v.picklist(kinds),
			route: v.optional(v.picklist(routes)),
			times: v.optional(count),
			executed: v.optional(v.boolean()),
		});
		const misbehaviourRoutes = {
			"POST /simulator/misbehave": withBody(misbehaviour, (given) => {
				this.misbehave(given.kind, given);
				return given;
			}),
			"POST /simulator/behave": () => {
				this.behave();
				return {};
			},
		};
		this.#server = Bun.serve({
			hostname: "127.0.0.1",
			port,
			development: false,
			reusePort: false,
			idleTimeout: 0,
			maxRequestBodySize: 4 * 1024 * 1024,
			fetch: (request) => {
				const url = urlOf(request);
				if (!url.pathname.startsWith("/simulator/")) return this.respond(request, url);
				return createControl({ ...this.controls(), ...misbehaviourRoutes })(request, url);
			},
		});
		this.origin = `http://127.0.0.1:${this.#server.port}`;
	}

	protected abstract controls(): ControlRoutes;

	protected abstract respond(request: Request, url: URL): Response | Promise<Response>;

	misbehave(kind: Kind, given: Omit<Misbehaviour<Kind, Route>, "kind"> = {}): void {
		this.#faults.set(given.route ?? "*", { ...given, kind, left: given.times ?? Number.POSITIVE_INFINITY });
	}

	behave(): void {
		this.#faults.clear();
		this.#held.resolve();
		this.#held = Promise.withResolvers();
	}

	protected get released(): Promise<void> {
		return this.#held.promise;
	}

	protected nextFault(route = "*"): Misbehaviour<Kind, Route> | undefined {
		const key = this.#faults.has(route) ? route : "*";
		const found = this.#faults.get(key);
		if (!found) return undefined;
		found.left -= 1;
		if (found.left <= 0) this.#faults.delete(key);
		return found;
	}

	async close(): Promise<void> {
		this.behave();
		await this.#server.stop(true);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}
}
