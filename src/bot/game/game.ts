// The feature `game`: verification, and in each guild supporter roles and chargebacks.

import { combineFeatures, type Feature, type FeatureOptions } from "../commands/feature.ts";
import { chargebackSettings, type Values } from "../settings/keys.ts";
import { PerGuild } from "../settings/per-guild.ts";
import { selectRestricted } from "../store/tables/chargebacks.ts";
import { createChargebacks } from "./chargebacks.ts";
import { createGameClient, type GameClient } from "./client.ts";
import { donatorTools } from "./donator-tools.ts";
import { DonatorSync } from "./donators.ts";
import { createVerify, verifyCommands } from "./verify.ts";

export function createGame(options: FeatureOptions): Feature | undefined {
	const { config, log } = options;
	const { features, game } = config.toml;
	if (!features.game) return undefined;
	const { gameVerifyUrl: url, gameVerifySecret: secret } = config;
	const client = url !== undefined && secret !== undefined ? createGameClient({ url, secret, log }) : undefined;
	const needed = { GAME_VERIFY_URL: url, GAME_VERIFY_SECRET: secret };
	const missing = Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []));
	const verify = createVerify({ game: client, missing, log });
	const hasGame = (guildId: string) => game.guilds?.includes(guildId) ?? true;
	return combineFeatures([
		game.verify ? verifyCommands(verify, config.command, game.slash_commands) : undefined,
		client && createDonators(options, client, hasGame),
		client && secret !== undefined ? createChargebacks({ ...options, game: client, secret, hasGame }) : undefined,
	]);
}

function createDonators(
	{ config, settings, registry, ...shared }: FeatureOptions,
	game: GameClient,
	hasGame: (guildId: string) => boolean,
): Feature {
	const { sql } = shared.store;
	const counter = (name: string, help: string) =>
		registry?.counter(`guildhall_bot_donator_${name}_total`, help, ["outcome"]);
	const counters = {
		runs: counter("runs", "Supporter role runs by outcome."),
		changes: counter("changes", "Supporter role changes by outcome."),
	};
	const guilds = new PerGuild({
		settings,
		given: (values, guildId) => (hasGame(guildId) ? donatorSettings(values) : undefined),
		create(guildId, given) {
			return new DonatorSync({
				...shared,
				...given,
				game,
				guildId,
				intervalMs: config.toml.game.check_interval * 1000,
				restricted: async () => (chargebackSettings(settings.of(guildId)) ? selectRestricted(sql, guildId) : new Set()),
				counters,
			});
		},
	});
	return {
		tools: donatorTools((guildId) => guilds.of(guildId)),
		start: () => guilds.start(),
		close: () => guilds.close(),
	};
}

function donatorSettings(values: Values) {
	const { "game.tiers": tiers, "game.restricted_role": restrictedRole } = values;
	return values["game.donator_sync"] && Object.keys(tiers).length > 0 ? { tiers, restrictedRole } : undefined;
}
