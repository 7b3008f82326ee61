// `--health`: asks the program that runs on this machine with the same settings whether it is ready. Meant for containers
// without a shell or curl.

import { ConfigError, formatValue } from "../config.ts";
import { describeConnectionError } from "../http.ts";
import { reachableHost } from "./listen.ts";

export interface HealthAddress {
	hostname: string;
	port: number;
	path: string;
	portSetting: string;
}

const timeoutMs = 4_000;
const maxShownLength = 100;

/** Ready is a 2xx within `timeout` ms. Rejects with a ConfigError for port 0, since the actual port is unknown. */
export async function askHealth(
	{ hostname, port, path, portSetting }: HealthAddress,
	timeout = timeoutMs,
): Promise<{ ready: boolean; line: string }> {
	if (port === 0)
		throw new ConfigError("the environment", [
			`${portSetting}: is 0 (any free port), so the health check does not know the port; set a fixed port`,
		]);
	// The request stays on this machine and must not go through an HTTP proxy.
	process.env.NO_PROXY = "*";
	const url = `http://${reachableHost(hostname)}:${port}${path}`;
	try {
		const response = await fetch(url, {
			// Our servers accept this host name on any address.
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
		const why = late ? `no answer within ${timeout / 1_000} s` : describeConnectionError(error);
		return { ready: false, line: line(false, url, why) };
	}
}

/** Prints whether the running program is ready, and exits with 0 or 1. A ConfigError goes to stderr. */
export async function healthProgram(configure: () => HealthAddress): Promise<never> {
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

async function firstLine({ body }: Response): Promise<string> {
	const decoder = new TextDecoder();
	let text = "";
	for await (const chunk of body ?? []) {
		text += decoder.decode(chunk, { stream: true });
		if (text.length > maxShownLength || text.includes("\n")) break;
	}
	const [first = ""] = text.split(/\r?\n/);
	return formatValue(first.slice(0, maxShownLength).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "));
}
