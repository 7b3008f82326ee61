import type { Seed } from "../../src/simulator/seed.ts";

/** Bots with these names, each alone in a guild with one channel and `crowd` members. */
export const smallGuilds = (names: readonly string[], crowd = 0): Seed => ({
	bots: names.map((username) => ({ username })),
	users: [{ username: "ada" }],
	guilds: names.map((name) => ({
		name: `Guild of ${name}`,
		owner: "ada",
		channels: [{ name: "general" }],
		crowd,
		bots: [{ username: name, permissions: 8n }],
	})),
});
