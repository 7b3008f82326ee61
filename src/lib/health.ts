// `--health`: one program asks another, which runs with the same settings on the same machine, whether it is ready. It is
// for places with neither a shell nor curl.

import { ConfigError, formatValue } from "./config.ts";
import { describeConnectionError } from "./http.ts";
import { reachableHost } from "./listen.ts";

/** Where a program listens, by its settings, and the path that says whether it is ready. */
export interface HealthAddress {
	hostname: string;
	port: number;
	path: string;
	/** What the operator calls the port. */
	portSetting: string;
}

/** Less than a container's health check has. */
const timeoutMs = 4_000;
/** What is shown of an answer, in characters: it may be somebody else's. */
const shownLength = 100;

/**
 * Asks for the path, without a token. Resolves with whether any 2xx came within 4 s, and a line that says what did. Throws
 * a ConfigError for port 0, which nobody but the program itself can know.
 */
export async function askHealth(
	{ hostname, port, path, portSetting }: HealthAddress,
	timeout = timeoutMs,
): Promise<{ ready: boolean; line: string }> {
	if (port === 0)
		throw new ConfigError("the environment", [
			`${portSetting}: is 0, which takes any free port, so nobody can know which; set it to a port`,
		]);
	// The fetch is to this machine, and to no proxy that the environment names for other purposes.
	process.env.NO_PROXY = "*";
	const url = `http://${reachableHost(hostname)}:${port}${path}`;
	try {
		const response = await fetch(url, {
			// A name that every server of ours takes, whatever the address is.
			headers: { Host: `127.0.0.1:${port}` },
			redirect: "manual",
			signal: AbortSignal.timeout(timeout),
			keepalive: false,
		});
		const { ok, status } = response;
		const says = await firstLine(response);
		return { ready: ok, line: line(ok, url, `answers ${status} ${says}`) };
	} catch (error) {
		const late = error instanceof Error && error.name === "TimeoutError";
		const why = late
			? `no answer within ${timeout / 1_000} s`
			: describeConnectionError(error);
		return { ready: false, line: line(false, url, why) };
	}
}

/** Prints the one line and ends with exit 0 where it is ready, else with 1. A ConfigError becomes its message on stderr and exit 1. */
export async function healthProgram(
	configure: () => HealthAddress,
): Promise<never> {
	try {
		const { ready, line } = await askHealth(configure());
		console.log(line);
		process.exit(ready ? 0 : 1);
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		console.error(error.message);
		process.exit(1);
	}
}

function line(ready: boolean, url: string, what: string): string {
	return `${ready ? "ready" : "not ready"}: ${url}: ${what}`;
}

/** What an answer begins with, as data on a line; it does not wait for more than it shows. */
async function firstLine({ body }: Response): Promise<string> {
	const decoder = new TextDecoder();
	let text = "";
	for await (const chunk of body ?? []) {
		text += decoder.decode(chunk, { stream: true });
		if (text.length > shownLength || text.includes("\n")) break;
	}
	const [first = ""] = text.split(/\r?\n/);
	return formatValue(
		first.slice(0, shownLength).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "),
	);
}
