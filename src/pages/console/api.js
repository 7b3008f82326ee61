// Client for the console's API of the gateway: requests, and the event stream with its reconnection.

const base = "/console/api";
/** Milliseconds between attempts to reconnect to the gateway. The last value repeats. */
const backOffMs = [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000];

/** Of the event stream, in milliseconds: three times that of the gateway's event "alive". */
const maxSilenceMs = 12_000;

/** Of the session, kept only here. */
let csrf = "";
/** Called when the gateway no longer accepts the session. */
let signedOut = () => {};

/** @param {() => void} listener */
export function onSignedOut(listener) {
	signedOut = listener;
}

/** An error of the gateway, with a message to show. */
export class ApiError extends Error {}

/** What to show for an error. One in the page's own code is also reported to the browser. @param {unknown} error */
export function messageOf(error) {
	if (error instanceof ApiError) return error.message;
	reportError(error);
	return "An error occurred in the page. Reload it.";
}

/** Rejects with an ApiError if the gateway refuses it or does not answer. @param {string} path @param {RequestInit} [init] */
async function request(path, init) {
	let response;
	let body;
	try {
		response = await fetch(base + path, { cache: "no-store", ...init });
		body = await response.json();
	} catch {
		if (!response) throw new ApiError("The gateway does not answer. Try again when it is back.");
	}
	if (response.ok) return body;
	const { code = "", message = `The gateway answered ${response.status}.` } = body?.error ?? {};
	if (code === "signed_out") signedOut();
	throw new ApiError(message);
}

/** @param {string} path */
export const get = (path) => request(path);

/** @param {string} path @param {object} [body] */
export const post = (path, body = {}) =>
	request(path, {
		method: "POST",
		headers: { "Content-Type": "application/json", "X-Guildhall-Csrf": csrf },
		body: JSON.stringify(body),
	});

/** The session of this browser, and the origin at which people sign in with Discord; each may be null. */
export async function getSession() {
	const found = await get("/sign-in");
	csrf = found.session?.csrf ?? "";
	return found;
}

/** @param {{ token: string } | { ticket: string } | { discord: true }} proof */
export async function signIn(proof) {
	const { session } = await post("/sign-in", proof);
	csrf = session.csrf;
	return session;
}

/** Between attempts to reconnect. The wait also ends with `reset`, or when the browser is online again. */
export function createBackOff() {
	let attempts = 0;
	let wake = () => {};
	addEventListener("online", () => wake());
	return {
		/** Ends the wait, too. */
		reset() {
			attempts = 0;
			wake();
		},
		/** @returns {Promise<void>} */
		wait() {
			const ms = backOffMs[Math.min(attempts, backOffMs.length - 1)] ?? 0;
			attempts++;
			return new Promise((resolve) => {
				// The random factor spreads the reconnections of many browsers.
				const timer = setTimeout(resolve, ms * (0.75 + Math.random() / 2));
				wake = () => {
					clearTimeout(timer);
					resolve();
				};
			});
		},
	};
}

/**
 * Follows the gateway's events until the session ends. A page that is not visible closes its connection, because browsers
 * open at most six to one server for all pages together.
 * @param {import("./types.ts").Listeners} listeners
 * @param {ReturnType<typeof createBackOff>} backOff
 */
export function followEvents(listeners, backOff) {
	let stopped = false;
	let waiting = false;
	/** @type {EventSource | undefined} */
	let source;

	let silence = 0;

	function close() {
		clearTimeout(silence);
		source?.close();
		source = undefined;
	}

	function open() {
		if (stopped || source || document.hidden) return;
		const events = new EventSource(`${base}/events`);
		source = events;
		/** @param {string} type @param {(data: any) => void} listener */
		const on = (type, listener) =>
			events.addEventListener(type, (event) => {
				watch();
				listener(JSON.parse(event.data));
			});
		function watch() {
			clearTimeout(silence);
			silence = window.setTimeout(reopen, maxSilenceMs, events);
		}
		watch();
		on("alive", () => {});
		on("hello", () => {
			backOff.reset();
			listeners.connected(true);
		});
		on("state", listeners.state);
		on("calls", ({ calls }) => listeners.calls(calls));
		on("approvals", listeners.approvals);
		on("step", (detail) => dispatchEvent(new CustomEvent("step", { detail })));
		on("end", () => void reopen(events));
		events.onerror = () => void reopen(events);
	}

	/** @param {EventSource} ended */
	async function reopen(ended) {
		if (source !== ended) return;
		close();
		listeners.connected(false);
		waiting = true;
		while (!stopped && waiting) {
			await backOff.wait();
			const found = await getSession().catch(() => undefined);
			if (found) waiting = false;
			if (!stopped && found && !found.session) return signedOut();
		}
		open();
	}

	function onVisibility() {
		if (document.hidden) close();
		else if (waiting) backOff.reset();
		else open();
	}
	document.addEventListener("visibilitychange", onVisibility);
	open();
	return () => {
		stopped = true;
		document.removeEventListener("visibilitychange", onVisibility);
		close();
	};
}
