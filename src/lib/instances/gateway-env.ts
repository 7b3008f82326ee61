// The file gateway.env in the directory of all instances. It holds the token that the gateway and all bots share, and
// other variables of the gateway. Only its owner may read it.

import { randomBytes } from "node:crypto";
import {
	closeSync,
	fchmodSync,
	fstatSync,
	linkSync,
	openSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ConfigError, isPlaceholder, trimEnv } from "../config.ts";
import { envLine } from "./env-line.ts";

export const gatewayEnvFile = "gateway.env";

const others = 0o077;

interface GatewayEnv {
	/** Without empty ones. */
	variables: Record<string, string>;
	/** Undefined if the file has none, or still a placeholder. */
	token: string | undefined;
	/** Other users had permissions, which `readGatewayEnv` has removed. */
	wasExposed: boolean;
}

/** Undefined without a file. Removes the permissions of other users. ConfigError if it cannot be read or secured. */
export function readGatewayEnv(directory: string): GatewayEnv | undefined {
	const path = join(directory, gatewayEnvFile);
	const text = attempt(path, "cannot be read", () => readPrivately(path));
	if (!text) return undefined;
	const variables = trimEnv(parseEnv(text.text));
	const { MCP_AUTH_TOKEN: token } = variables;
	return { variables, token: isPlaceholder(token) ? undefined : token, wasExposed: text.wasExposed };
}

function readPrivately(path: string) {
	const file = openSync(path, "r");
	try {
		const stat = fstatSync(file);
		if (!stat.isFile()) throw new ConfigError(path, ["it is not a file"]);
		const wasExposed = (stat.mode & others) !== 0;
		if (wasExposed) {
			if (stat.uid !== process.getuid?.())
				throw new ConfigError(path, [
					`other users may read it, and it belongs to another user (${stat.uid}): run chown and chmod 600 on it`,
				]);
			fchmodSync(file, stat.mode & 0o700);
		}
		return { text: readFileSync(file, "utf8"), wasExposed };
	} finally {
		closeSync(file);
	}
}

/** Adds the token atomically, also to an existing file. ConfigError if it cannot, or another program was faster. */
export function writeSharedToken(directory: string, token: string): void {
	const path = join(directory, gatewayEnvFile);
	const line = tokenLine(path, token);
	const temporary = join(directory, `.${gatewayEnvFile}-${randomBytes(8).toString("hex")}`);
	attempt(path, "cannot be written", () => {
		const before = readIfPresent(path);
		const options = { mode: 0o600, flag: "wx" } as const;
		try {
			writeFileSync(temporary, `${before ?? intro}${line}\n`, options);
			if (before === undefined) linkSync(temporary, path);
			else renameSync(temporary, path);
		} finally {
			rmSync(temporary, { force: true });
		}
	});
}

function tokenLine(path: string, token: string): string {
	const line = envLine("MCP_AUTH_TOKEN", token);
	if (line !== undefined) return line;
	throw new ConfigError(path, [
		"MCP_AUTH_TOKEN: its value in the .env of the instances contains every kind of quotation mark, so it cannot be written",
	]);
}

const intro = `# Variables of the gateway that "up" starts; "gateway --help" lists them. Never commit or share this file.
# The token that clients send, and that the gateway and all bots share:
`;

function readIfPresent(path: string): string | undefined {
	try {
		const text = readFileSync(path, "utf8");
		return text === "" || text.endsWith("\n") ? text : `${text}\n`;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
}

export function newSharedToken(): string {
	return randomBytes(32).toString("hex");
}

function attempt<T>(path: string, what: string, work: () => T): T | undefined {
	try {
		return work();
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (error instanceof ConfigError || code === undefined) throw error;
		if (code === "ENOENT" && what === "cannot be read") return undefined;
		throw new ConfigError(path, [`it ${what} (${code})`]);
	}
}
