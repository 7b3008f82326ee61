// `bot --check` asks the game server's plugin for its supporters, which changes nothing.

import type { Log } from "../../lib/log.ts";
import { type Check, CheckFailed, type Found } from "../../lib/program/check.ts";
import type { BotConfig } from "../config/config.ts";
import { createGameClient, GameServerError } from "./client.ts";

/** None without the feature, or before the game server is configured. */
export function gameServerChecks({ toml, ...config }: BotConfig, log: Log): Check[] {
	const { gameVerifyUrl: url, gameVerifySecret: secret } = config;
	if (!toml.features.game || url === undefined || secret === undefined) return [];
	return [{ title: "game server", run: () => tryPlugin(url, secret, log) }];
}

async function tryPlugin(url: string, secret: string, log: Log): Promise<Found> {
	try {
		const { length } = await createGameClient({ url, secret, log }).donators();
		return `the plugin at ${url} answered: ${length} supporters`;
	} catch (error) {
		if (!(error instanceof GameServerError)) throw error;
		const { message, said } = error;
		const status = said.key === "verify.game.status" ? said.values.status : undefined;
		if (status === "401" || status === "403")
			throw new CheckFailed(
				`the plugin at ${url} rejects the secret (HTTP ${status})`,
				"GAME_VERIFY_SECRET has to be the secret of the plugin.",
			);
		// A plugin that only links accounts has no list; one that cannot list its supporters answers 503.
		if (status !== undefined)
			return { warning: `the plugin at ${url} has no list of supporters at the moment (HTTP ${status})` };
		throw new CheckFailed(
			`the plugin at ${url} cannot be used: ${message}`,
			`Does the plugin run, and can this machine reach GAME_VERIFY_URL?`,
		);
	}
}
