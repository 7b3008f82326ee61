// The files of an instance, and what reading them reports.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BotConfig, readConfig } from "../../../src/bot/config/config.ts";
import { deniableTools } from "../../../src/bot/features/index.ts";
import { ConfigError } from "../../../src/lib/config.ts";

export type Files = Record<string, string | Uint8Array>;
type Env = Record<string, string>;

/** What `work` does with a directory of these files, which is deleted afterwards. */
export function within<T>(files: Files, work: (directory: string) => T): T {
	const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	try {
		for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
		return work(directory);
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}

/** The configuration of an instance with these files and this environment. */
export function read(files: Files, env: Env = {}): BotConfig {
	return within(files, (CONFIG_DIR) => readConfig({ CONFIG_DIR, ...env }, deniableTools));
}

/** The issues that `work` reports; none if it succeeds. */
export function issuesOf(work: () => unknown): readonly string[] {
	try {
		work();
		return [];
	} catch (error) {
		if (error instanceof ConfigError) return error.issues;
		throw error;
	}
}

/** The issues of an instance with these lines after those that it cannot do without. */
export function issuesIn(toml: string, env = "", fromProcess: Env = {}) {
	const token = /^DISCORD_TOKEN=/m.test(env) ? "" : "DISCORD_TOKEN=token\n";
	const files = { ".env": `${token}${env}\n`, "config.toml": `bot_name = "Cook"\n${toml}\n` };
	return issuesOf(() => read(files, fromProcess));
}
