// Fetches a document from a stranger's host without reaching what only this machine can reach. The name is resolved once,
// every address is checked, and the connection goes to a checked one (against DNS rebinding). TLS verifies the name.

import { lookup } from "node:dns/promises";
import { isIP, isIPv4 } from "node:net";
import { describeConnectionError } from "../../../lib/http.ts";
import { bytesAtMost } from "../../../lib/program/listen.ts";
import { raceSignal } from "../../../lib/wait.ts";
import { isPublicAddress } from "../../http/ip-addresses.ts";

/** The document cannot or must not be fetched, or is invalid. The message is for the operator. */
export class FetchRefused extends Error {
	override name = "FetchRefused";
	/** A later fetch may succeed, although nothing changes at the client. */
	readonly isTemporary: boolean;

	constructor(message: string, { isTemporary = false, ...options }: ErrorOptions & { isTemporary?: boolean } = {}) {
		super(message, options);
		this.isTemporary = isTemporary;
	}
}

export interface SafeFetch {
	/** IP addresses. Default: a DNS look-up. */
	resolve?: (hostname: string) => Promise<readonly string[]>;
	/** The host is an IP address. Default: Bun's `fetch`. */
	fetch?: (url: string, init: BunFetchRequestInit) => Promise<Response>;
}

interface SafeFetchLimits {
	maxBytes: number;
	/** Milliseconds: DNS look-up, connection and response. */
	timeoutMs: number;
}

const maxAttempts = 3;

/** Follows no redirects. Rejects with a FetchRefused for a port, an address not public, or no JSON with status 200. */
export async function fetchPublicJson(
	url: URL,
	{ maxBytes, timeoutMs }: SafeFetchLimits,
	{ resolve = resolveHost, fetch: send = fetch }: SafeFetch = {},
) {
	const issue = hostIssue(url);
	if (issue) throw new FetchRefused(issue);
	const signal = AbortSignal.timeout(timeoutMs);
	try {
		const addresses = await raceSignal(resolve(url.hostname), signal);
		const refused = addresses.find((address) => !isPublicAddress(address));
		if (refused !== undefined)
			throw new FetchRefused(`${url.hostname} has the address ${refused}, which is not public`);
		const response = await connect(url, addresses, send, signal);
		return { text: await readJson(response, maxBytes), headers: response.headers };
	} catch (cause) {
		if (cause instanceof FetchRefused) throw cause;
		const message = signal.aborted ? `no response within ${timeoutMs} ms` : describeConnectionError(cause);
		throw new FetchRefused(message, { cause, isTemporary: true });
	}
}

async function resolveHost(hostname: string): Promise<string[]> {
	return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

function hostIssue({ protocol, hostname, port, username, password }: URL) {
	if (protocol !== "https:") return "it is not an https URL";
	if (username || password) return "it has a user name or password";
	if (port !== "") return "it has a port";
	// The URL parser turns all spellings of an IPv4 address, such as 0x7f.1, into the usual one.
	if (isIP(hostname) || hostname.startsWith("[")) return "its host is an address, not a name";
	if (!/\.[a-z][a-z0-9-]*$/.test(hostname) || localNames.test(hostname)) return "its host is a local name";
	return undefined;
}

/** Not in public DNS (RFC 6761, RFC 6762, RFC 7686, RFC 9476, and ICANN's reservation of .internal). */
const localNames = /\.(?:localhost|local|internal|intranet|lan|home|corp|private|onion|alt|arpa)$/;

async function connect(
	{ hostname, pathname, search }: URL,
	addresses: readonly string[],
	send: NonNullable<SafeFetch["fetch"]>,
	signal: AbortSignal,
): Promise<Response> {
	// IPv4 first: a machine without IPv6 would wait for the timeout.
	const ordered = addresses.toSorted((a, b) => isIP(a) - isIP(b));
	let failure: unknown = new FetchRefused(`${hostname} has no address`);
	for (const address of ordered.slice(0, maxAttempts)) {
		const host = isIPv4(address) ? address : `[${address}]`;
		try {
			return await send(`https://${host}${pathname}${search}`, {
				headers: {
					Host: hostname,
					Accept: "application/json",
					// Otherwise a small response could unpack to a large one.
					"Accept-Encoding": "identity",
					"User-Agent": "guildhall-gateway",
				},
				tls: { serverName: hostname },
				decompress: false,
				redirect: "manual",
				keepalive: false,
				signal,
			});
		} catch (error) {
			if (signal.aborted) throw error;
			failure = error;
		}
	}
	throw failure;
}

async function readJson(response: Response, maxBytes: number): Promise<string> {
	const { status, headers, body } = response;
	const [type = ""] = (headers.get("content-type") ?? "").split(";");
	const isJson = /^application\/(?:[\w.-]+\+)?json$/i.test(type.trim());
	const issue = status !== 200 ? `the response has status ${status}` : !isJson ? "the response is not JSON" : undefined;
	if (issue) {
		// Errors do not matter, since the body is not read.
		void body?.cancel().catch(() => {});
		throw new FetchRefused(issue, { isTemporary: status >= 500 || status === 429 });
	}
	const bytes = await bytesAtMost(body, maxBytes);
	if (bytes === "too long") throw new FetchRefused(`the response is larger than ${maxBytes} bytes`);
	return new TextDecoder().decode(bytes);
}
