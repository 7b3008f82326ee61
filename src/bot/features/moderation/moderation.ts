// The feature `moderation`: commands for moderators, temporary bans and the moderation log.

import { within } from "../../../lib/wait.ts";
import { moderatorLimits } from "../../commands/commands.ts";
import { Limiter } from "../../commands/cooldown.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { banCommand, unbanCommand } from "./ban.ts";
import { banlistCommand } from "./banlist.ts";
import { createModerationLog } from "./moderation-log.ts";
import { createNuke } from "./nuke.ts";
import { setlogCommand } from "./setlog.ts";
import { createTempBans } from "./temp-bans.ts";

/** Maximum wait on shutdown for moderation log entries that are not sent yet. */
const shutdownGraceMs = 1_500;

export function createModeration({
	config,
	connection,
	store,
	log,
	mutex,
}: FeatureOptions): Feature | undefined {
	const { features, moderation: settings } = config.toml;
	if (!features.moderation || !settings) return undefined;
	const prefix = config.command;
	const moderationLog = createModerationLog({
		connection,
		store,
		log,
		defaultChannel: settings.log_channel,
	});
	const bans = createTempBans({ connection, store, log, mutex, moderationLog });
	const limiter = new Limiter(moderatorLimits);
	const options = { prefix, limiter, bans, moderationLog };
	const nuke = createNuke({ ...options, mutex, log });
	return {
		commands: [
			banCommand(options),
			unbanCommand(options),
			banlistCommand(prefix, store),
			nuke.command,
			setlogCommand(options),
		],
		attach: bans.attach,
		start: bans.start,
		async close() {
			await Promise.all([bans.close(), nuke.close()]);
			await within(shutdownGraceMs, moderationLog.settled());
		},
	};
}
