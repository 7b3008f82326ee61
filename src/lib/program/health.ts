// `--health`: asks the program that runs on this machine with the same settings whether it is ready. Meant for containers
// without a shell or curl.

import { ConfigError, formatValue } from "../config.ts";
import { describeConnectionError } from "../http.ts";
import { reachableHost } from "./listen.ts";
import { askPort } from "./own-port.ts";

export interface HealthAddress {
	hostname: string;
	port: number;
	path: string;
	portSetting: string;
}

const timeoutMs = 4_000;
const maxShownLength = 100;

/** Ready is a 2xx within `timeout` ms. Rejects with a ConfigError for port 0, since the actual port is unknown. */
export async function askHealth({ hostname, port, path, portSetting }: HealthAddress, timeout = timeoutMs) {
	if (port === 0)
		throw new ConfigError("the environment", [
			`${portSetting}: is 0 (any free port), so the health check does not know the port; set a fixed port`,
		]);
	const url = `http://${reachableHost(hostname)}:${port}${path}`;
	const signal = AbortSignal.timeout(timeout);
	try {
		const { status = 0, body } = await askPort({ hostname, port }, signal)(path);
		const ok = status >= 200 && status < 300;
		const [first = ""] = body.slice(0, maxShownLength).split(/\r?\n/);
		const says = formatValue(first.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "));
		return { ready: ok, line: line(ok, url, `answers ${status} ${says}`) };
	} catch (error) {
		const why = signal.aborted ? `no answer within ${timeout / 1_000} s` : describeConnectionError(error);
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
