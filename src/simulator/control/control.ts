// Control routes, below /simulator/: for programs on this machine. They tell tokens, so no web page may use them: the
// host must be a name of the loopback, and an Origin our own.

import * as v from "valibot";

/** What answers "GET /simulator/journal" and the like; what it returns is sent as JSON. */
export type ControlRoutes = Readonly<
	Record<string, (request: Request) => unknown>
>;

/** Answers requests with these routes, to programs of this machine. */
export function createControl(
	routes: ControlRoutes,
): (request: Request, url: URL) => Promise<Response> {
	return async (request, url) => {
		const refused = refuseStrangers(request, url);
		if (refused) return answer(403, { error: refused });
		const name = `${request.method} ${url.pathname}`;
		const handler = Object.hasOwn(routes, name) ? routes[name] : undefined;
		if (!handler)
			return answer(404, {
				error: `there is no ${name}`,
				routes: Object.keys(routes),
			});
		try {
			return answer(200, await handler(request));
		} catch (error) {
			if (!(error instanceof BadRequest)) throw error;
			return answer(400, { error: error.message });
		}
	};
}

/** Why this request is none of ours; undefined when it is. */
function refuseStrangers(
	request: Request,
	{ host, hostname }: URL,
): string | undefined {
	if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname))
		return `this host name is not the loopback's: ${hostname}`;
	const origin = request.headers.get("origin");
	if (origin !== null && origin !== `http://${host}`)
		return `no web page may drive the simulator, and this request says it comes from ${origin}`;
	return undefined;
}

/** What was asked for does not fit: answered 400 with the message. */
export class BadRequest extends Error {
	override name = "BadRequest";
}

/** The request's body, checked. No body counts as an empty object. */
export async function read<const S extends v.GenericSchema>(
	schema: S,
	request: Request,
): Promise<v.InferOutput<S>> {
	const text = await request.text();
	let body: unknown;
	try {
		body = text === "" ? {} : JSON.parse(text);
	} catch {
		throw new BadRequest("the body is not JSON");
	}
	const result = v.safeParse(schema, body);
	if (result.success) return result.output;
	throw new BadRequest(
		result.issues
			.map((issue) => `${v.getDotPath(issue) ?? "the body"}: ${issue.message}`)
			.join("; "),
	);
}

function answer(status: number, body: unknown): Response {
	return new Response(`${JSON.stringify(body, undefined, 1)}\n`, {
		status,
		headers: { "content-type": "application/json" },
	});
}

/** What a client called. A Host header that is none makes a URL that leads nowhere, and no error. */
export function urlOf(request: Request): URL {
	return (
		URL.parse(request.url, "http://unknown.invalid") ??
		new URL("http://unknown.invalid/")
	);
}
