// The simulator's API for the page: control routes, the REST API with people's tokens, and the event stream.

/**
 * @typedef {Record<string, any>} Json
 * @typedef {{ id: string, username: string, global_name?: string | null, token: string, locale: string }} Person
 */

/**
 * Sends a request to the simulator. Resolves with the JSON of the response, or undefined if it has no body. Rejects
 * with what to show the person if the simulator refuses the request or cannot be reached.
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
		if (!response) throw new Error("The simulator does not answer.");
		const text = await response.text().catch(() => "");
		const answer = parse(text);
		if (response.ok) return answer;
		if (response.status !== 429 || attempt === 3) throw new Error(refusalOf(response.status, answer, text));
		await wait(1000 * Math.min(5, Number(answer?.retry_after) || 1));
	}
}

/** @param {Person} person @param {string} method @param {string} path below /api/v10 @param {unknown} [body] */
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

/** @param {number} status @param {Json | undefined} answer @param {string} text */
function refusalOf(status, answer, text) {
	const details = detailsOf(answer?.errors);
	const message = answer?.message ?? answer?.error ?? text.slice(0, 200);
	const code = answer?.code ? ` (${answer.code})` : "";
	return `${status}: ${details.join(" ") || message}${code}`;
}

/** @param {Json | undefined} errors @returns {string[]} */
function detailsOf(errors) {
	if (!errors || typeof errors !== "object") return [];
	return Object.entries(errors).flatMap(([key, value]) =>
		key === "_errors" ? value.map((/** @type {Json} */ one) => String(one.message)) : detailsOf(value),
	);
}

/** @param {number} ms */
function wait(ms) {
	return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Follows the simulator's events and never resolves: reconnects with a back-off of at most 4 s. Each connection begins
 * with the event "hello". An EventSource that reconnects by itself would stop after some errors.
 * @param {(type: string, data: Json) => void} receive
 * @param {() => void} onLost
 */
export async function followEvents(receive, onLost) {
	for (let failures = 0; ; failures++) {
		const source = new EventSource("/simulator/events");
		for (const type of ["hello", "discord", "interaction", "bots"])
			source.addEventListener(type, ({ data }) => receive(type, JSON.parse(data)));
		source.onopen = () => {
			failures = 0;
		};
		await new Promise((resolve) => {
			source.onerror = resolve;
		});
		source.close();
		onLost();
		await wait(Math.min(4000, 250 * 2 ** failures));
	}
}

/** @typedef {{ person?: string | undefined, guild?: string | undefined, channel?: string | undefined }} Names */

/** @param {Names} names */
export function rememberNames(names) {
	sessionStorage.setItem("simulator", JSON.stringify(names));
}

/** @returns {Names} the names that were kept last */
export function rememberedNames() {
	return parse(sessionStorage.getItem("simulator") ?? "") ?? {};
}
