// A guild made from a document has an export that is equal to it, but for ids.

import { expect, test } from "bun:test";
import { type GuildDocument, readDocument, toYaml } from "../../src/guild-document/format/document.ts";
import { exportDocument } from "../../src/guild-document/read/export.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import type { Guild } from "../../src/simulator/world/state/entities.ts";
import { type Random, seeded } from "../support/random.ts";
import { randomGuild } from "../support/random-guild.ts";
import { build, pictures, startGuilds, stateOf, usernames, withoutIds } from "./simulated.ts";

/** Adds to a random document what refers to members, and what only communities and boosted guilds have. */
function withMore(random: Random, document: GuildDocument, simulator: Simulator): GuildDocument {
	const userId = (name: string) => simulator.user(name).id;
	const [emoji] = document.emojis ?? [];
	const key = emoji && `:${emoji.key ?? emoji.name}:`;
	const roleKeys = document.roles?.map(({ key, name }) => key ?? name) ?? [];
	const shown = Array.from({ length: 8 }, (_, index) => `shown-${index}`);
	const isCommunity = document.settings?.community ?? false;
	const [hash = ""] = pictures.keys();
	return readDocument({
		...document,
		settings: { ...document.settings, icon: hash },
		roles: document.roles?.map((role, index) => (index === 0 ? { ...role, icon: hash } : role)),
		channels: [...shown.map((name) => ({ name, overwrites: [] })), ...(document.channels ?? [])],
		members: usernames.slice(1, 3).map((name) => ({ id: userId(name), roles: [random.pick(roleKeys)] })),
		bans: [{ id: userId("cleo"), reason: "Spam: größer als ×" }, { id: userId("dora") }],
		...(isCommunity && {
			welcome_screen: {
				enabled: true,
				description: "Hello",
				channels: [
					{ channel: "shown-0", description: "Rules", emoji: "👍" },
					{ channel: "shown-1", description: "News", ...(key && { emoji: key }) },
				],
			},
			onboarding: {
				enabled: true,
				mode: random.pick(["default", "advanced"]),
				default_channels: shown,
				prompts: [
					{
						title: "What do you like?",
						kind: "dropdown",
						required: true,
						options: [
							{ title: "Roles", roles: [random.pick(roleKeys)] },
							{ title: "Channels", description: "Some", channels: ["shown-2"], ...(key && { emoji: key }) },
						],
					},
				],
			},
		}),
		everyone: ["VIEW_CHANNEL", "SEND_MESSAGES"],
	});
}

/** Makes the first guild like the document, and the second like the export of the first. */
async function roundTrip(simulator: Simulator, document: GuildDocument): Promise<GuildDocument> {
	const guilds = ["First", "Second"].map((name) => simulator.guild(name));
	const [first, second] = guilds as [Guild, Guild];
	// Role icons need boosts.
	for (const guild of guilds) {
		guild.premium_tier = 2;
		guild.features = [...guild.features, "ROLE_ICONS"];
	}
	expect(await build(simulator, first, document)).toBeLessThanOrEqual(3);
	const exported = exportDocument(await stateOf(simulator, first));
	expect(exportDocument(await stateOf(simulator, first))).toEqual(exported);
	expect(readDocument(toYaml(exported))).toEqual(exported);
	expect(readDocument(JSON.stringify(exported))).toEqual(exported);
	await build(simulator, second, exported);
	const again = exportDocument(await stateOf(simulator, second));
	expect(withoutIds(again)).toEqual(withoutIds(exported));
	expect(JSON.stringify(withoutIds(again))).toBe(JSON.stringify(withoutIds(exported)));
	return exported;
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])("random guild %d is made, exported and made again", async (seed) => {
	const random = seeded(seed);
	await using simulator = await startGuilds();
	const document = randomGuild(random, {
		roles: 10 + random.below(20),
		channels: 20 + random.below(40),
		memberIds: [simulator.guild("First").owner_id],
		community: random.chance(0.5),
		pictures: random.chance(0.7) ? [...pictures.keys()] : [],
	});
	await roundTrip(simulator, withMore(random, document, simulator));
});

test("a guild of 200 channels and 100 roles is made, exported and made again", async () => {
	await using simulator = await startGuilds();
	const document = randomGuild(seeded(100), {
		roles: 100,
		channels: 190,
		memberIds: [simulator.guild("First").owner_id],
		community: true,
		pictures: [...pictures.keys()],
	});
	const exported = await roundTrip(simulator, withMore(seeded(100), document, simulator));
	const inside = exported.categories?.flatMap(({ channels = [] }) => channels);
	const all = [exported.channels, exported.categories, inside];
	expect(all.flat().length).toBeGreaterThan(190);
	const [hash = ""] = pictures.keys();
	expect(exported.roles).toHaveLength(100);
	expect(exported.roles?.[0]?.icon).toBe(hash);
	expect(exported.settings?.icon).toBe(hash);
	expect(exported.emojis?.map(({ picture }) => picture).sort()).toEqual([...pictures.keys()].sort());
	expect(exported.welcome_screen?.channels).toHaveLength(2);
	expect(exported.onboarding?.enabled).toBe(true);
	expect(exported.onboarding?.default_channels).toHaveLength(8);
	expect(exported.members).toHaveLength(2);
	expect(exported.bans).toContainEqual({ id: simulator.user("cleo").id, reason: "Spam: größer als ×" });
});
