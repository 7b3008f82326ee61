// Guilds that belong to different shards of a bot.

import { PermissionFlagsBits } from "discord.js";
import { demoSeed, moderatorPermissions, type Seed } from "../../src/simulator/seed.ts";

/** The first id whose guild belongs to shard 0 of 4, and of 2. */
const firstId = 200_000_000_000n << 22n;

/** The bot "alpha" in guilds of which "Guild 0" belongs to shard 0, "Guild 1" to shard 1, and so on, then again to shard 0. */
export function shardedSeed(guilds: number): Seed {
	const permissions = moderatorPermissions | PermissionFlagsBits.ViewAuditLog;
	return {
		...demoSeed(),
		guilds: Array.from({ length: guilds }, (_, number) => ({
			name: `Guild ${number}`,
			id: String(firstId + (BigInt(number) << 22n)),
			owner: "ada",
			bots: [{ username: "alpha", permissions }],
			members: [{ username: "zoe" }],
			channels: [{ name: "general" }],
			crowd: 5,
		})),
	};
}
