// The feature `game`: verification, supporter roles and chargebacks.

import { combineFeatures, type Feature, type FeatureOptions } from "../commands/feature.ts";
import { Chargebacks } from "./chargebacks.ts";
import { createGameClient, type GameClient } from "./client.ts";
import { donatorTools } from "./donator-tools.ts";
import { DonatorSync } from "./donators.ts";
import { createVerify } from "./verify.ts";
import { verifyCommand } from "./verify-command.ts";

export function createGame(options: FeatureOptions): Feature | undefined {
	const { config, connection, store, mutex, log, registry } = options;
	const { features, game: settings } = config.toml;
	if (!features.game || !settings) return undefined;
	const { gameVerifyUrl: url, gameVerifySecret: secret } = config;
	const client = url !== undefined && secret !== undefined ? createGameClient({ url, secret, log }) : undefined;
	const missing = [
		...(url === undefined ? ["GAME_VERIFY_URL"] : []),
		...(secret === undefined ? ["GAME_VERIFY_SECRET"] : []),
	];
	const verify = createVerify({ game: client, missing, log });
	const chargebacks = createChargebacksIfOn(options, client);
	const donators =
		settings.donator_sync && client
			? new DonatorSync({
					game: client,
					connection,
					store,
					guildId: config.guildId,
					tiers: settings.donators?.tiers ?? {},
					intervalMs: settings.check_interval * 1000,
					restrictedRole: settings.restricted_role,
					...(chargebacks && {
						isRestricted: (id: string) => chargebacks.isRestricted(id),
						allRestricted: () => chargebacks.allRestricted(),
					}),
					mutex,
					log,
					registry,
				})
			: undefined;
	return combineFeatures([
		{
			commands: settings.verify ? [verifyCommand(verify, config.command, settings.slash_commands)] : [],
			tools: donators ? donatorTools(donators) : [],
		},
		donators,
		chargebacks,
	]);
}

function createChargebacksIfOn(
	{ config, connection, store, mutex, log }: FeatureOptions,
	game: GameClient | undefined,
): Chargebacks | undefined {
	const { chargeback, restricted_role, staff_channel, staff_roles } = config.toml.game ?? {};
	const { gameVerifySecret: secret, guildId } = config;
	if (!chargeback || !game || !secret) return undefined;
	if (!restricted_role || !staff_channel || !staff_roles) return undefined;
	return new Chargebacks({
		connection,
		store,
		log,
		game,
		guildId,
		secret,
		mutex,
		settings: { restrictedRole: restricted_role, staffChannel: staff_channel, staffRoles: staff_roles },
	});
}
