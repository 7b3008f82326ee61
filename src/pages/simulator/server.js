// The simulator's API for the page: control routes, the REST API with people's tokens, and the event stream.

/**
 * @typedef {Record<string, any>} Json
 * @typedef {{ id: string, username: string, global_name?: string | null, token: string, locale: string }} Person
 */

/** Error for a refused request. Its message is shown to the person. */
export class Refused extends Error {}

/**
 * Sends a request to the simulator. Resolves with the JSON of the response, or undefined if it has no body. Rejects
 * with Refused if the simulator refuses the request or cannot be reached.
 * @param {string} method
 * @param {string} path
 * @param {{ body?: unknown, token?: string }} [given]
 * @returns {Promise<any>}
 */
export async function request(method, path, { body, token } = {}) {
	const init = {
		method,
		headers: {
			...(token !== undefined && { authorization: token }),
			...(body !== undefined && { "content-type": "application/json" }),
		},
		...(body !== undefined && { body: JSON.stringify(body) }),
	};
	for (let attempt = 1; ; attempt++) {
		const response = await fetch(path, init).catch(() => undefined);
		if (!response) throw new Refused("The simulator does not answer.");
		const text = await response.text().catch(() => "");
		const answer = parse(text);
		if (response.ok) return answer;
		if (response.status !== 429 || attempt === 3) throw new Refused(refusalOf(response.status, answer, text));
		await wait(1000 * Math.min(5, Number(answer?.retry_after) || 1));
	}
}

/**
 * Sends a request to the REST API as a person.
 *
 * @param {Person} person
 * @param {string} method
 * @param {string} path below /api/v10
 * @param {unknown} [body]
 */
export function requestAs({ token }, method, path, body) {
	return request(method, `/api/v10${path}`, { token, body });
}

/** @param {string} text */
function parse(text) {
	try {
		return text === "" ? undefined : JSON.parse(text);
	} catch {
		return undefined;
	}
}

/**
 * @param {number} status
 * @param {Json | undefined} answer
 * @param {string} text
 */
function refusalOf(status, answer, text) {
	const details = detailsOf(answer?.errors);
	const message = answer?.message ?? answer?.error ?? text.slice(0, 200);
	const code = answer?.code ? ` (${answer.code})` : "";
	return `${status}: ${details.join(" ") || message}${code}`;
}

/**
 * Returns the messages of Discord's form errors, at any depth.
 *
 * @param {Json | undefined} errors
 * @returns {string[]}
 */
function detailsOf(errors) {
	if (!errors || typeof errors !== "object") return [];
	return Object.entries(errors).flatMap(([key, value]) =>
		key === "_errors" ? value.map((/** @type {Json} */ one) => String(one.message)) : detailsOf(value),
	);
}

/** @param {number} ms */
export function wait(ms) {
	return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Follows the simulator's events and never resolves: reconnects with a back-off of at most 4 s, and continues after the
 * latest event that it received. An EventSource would not report when the simulator is away, and stops after some
 * errors.
 * @param {string} after the id of the latest event that is known
 * @param {(type: string, data: Json) => void} receive
 * @param {(connected: boolean) => void} report
 */
export async function followEvents(after, receive, report) {
	let latest = after;
	for (let failures = 0; ; failures++) {
		try {
			const address = `/simulator/events?after=${encodeURIComponent(latest)}`;
			const response = await fetch(address, { headers: { "Last-Event-ID": latest }, cache: "no-store" });
			if (!response.ok || !response.body) throw new Refused("no events");
			report(true);
			failures = 0;
			await readEvents(response.body, ({ id, type, data }) => {
				if (id !== undefined) latest = id;
				try {
					receive(type, data);
				} catch (error) {
					reportError(error);
				}
			});
		} catch {
			// The simulator cannot be reached, or ended in the middle of an event.
		}
		report(false);
		await wait(Math.min(4000, 250 * 2 ** failures));
	}
}

/**
 * Reads server-sent events until the stream ends.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 *
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {(event: { id: string | undefined, type: string, data: Json }) => void} receive
 */
async function readEvents(body, receive) {
	const reader = body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return;
		const events = (rest + value).split("\n\n");
		rest = events.pop() ?? "";
		for (const event of events) {
			/** @type {Record<string, string>} */
			const fields = {};
			for (const line of event.split("\n")) {
				const [, name = "", text = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
				fields[name] = text;
			}
			const data = parse(fields.data ?? "");
			if (fields.event && data !== undefined) receive({ id: fields.id, type: fields.event, data });
		}
	}
}

/** @typedef {{ person?: string | undefined, guild?: string | undefined, channel?: string | undefined }} Names */

/**
 * Stores the names of the open guild and channel and of the person, for this tab.
 * @param {Names} names
 */
export function rememberNames(names) {
	sessionStorage.setItem("simulator", JSON.stringify(names));
}

/** @returns {Names} the names that were kept last */
export function rememberedNames() {
	return parse(sessionStorage.getItem("simulator") ?? "") ?? {};
}
