// Documents that change a guild: exports in which things are renamed, moved, reordered, removed and added.

import { expect, test } from "bun:test";
import { type Channel, type GuildDocument, readDocument } from "../../src/guild-document/format/document.ts";
import { exportDocument } from "../../src/guild-document/read/export.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import type { Guild } from "../../src/simulator/world/state/entities.ts";
import { type Random, seeded } from "../support/random.ts";
import { randomGuild } from "../support/random-guild.ts";
import { build, pictures, startGuilds, stateOf, withoutIds } from "./simulated.ts";

function shuffled<T>(items: readonly T[], random: Random): T[] {
	const left = [...items];
	return items.map(() => left.splice(random.below(left.length), 1)[0] as T);
}

const isBelow = ({ kind = "text" }: Channel) => kind === "voice" || kind === "stage";

/** Returns an export after a person has changed a lot in it. Keys stay, so references stay valid. */
function edited(document: GuildDocument, random: Random): GuildDocument {
	const rename = <T extends { name: string; key?: string | undefined }>(thing: T): T =>
		random.chance(0.2) ? { ...thing, key: thing.key ?? thing.name, name: `new-${random.below(50)}` } : thing;
	const ordered = (channels: Channel[]) => {
		const mixed = random.chance(0.5) ? shuffled(channels, random) : channels;
		return [...mixed.filter((one) => !isBelow(one)), ...mixed.filter(isBelow)];
	};
	const places = [document.channels ?? [], ...(document.categories ?? []).map(({ channels = [] }) => channels)].map(
		(channels): Channel[] =>
			channels.map((channel) => ({
				...rename(channel),
				overwrites: channel.overwrites ?? [],
				...(!channel.spoiler && random.chance(0.1) && { nsfw: true }),
			})),
	);
	for (let moves = random.below(8); moves > 0; moves--) {
		const from = random.pick(places);
		const [channel] = from.splice(random.below(from.length), 1);
		if (channel) random.pick(places).push(channel);
	}
	if (random.chance(0.5)) places[0]?.unshift({ name: "brand-new", overwrites: [] });
	const categories = (document.categories ?? []).map((category, index) => ({
		...rename(category),
		channels: ordered(places[index + 1] ?? []),
	}));
	return readDocument({
		...document,
		roles: shuffled((document.roles ?? []).map(rename), random),
		channels: ordered(places[0] ?? []),
		categories: random.chance(0.5) ? shuffled(categories, random) : categories,
		automod: document.automod?.slice(1),
	});
}

test.each([1, 2, 3, 4, 5, 6])("edits of a document are carried out (seed %d)", async (seed) => {
	const random = seeded(seed);
	await using simulator = await startGuilds();
	const first = simulator.guild("First");
	const second = simulator.guild("Second");
	const document = randomGuild(random, {
		roles: 12,
		channels: 30,
		memberIds: [first.owner_id],
		community: random.chance(0.5),
		pictures: [...pictures.keys()].slice(0, random.below(4)),
	});
	const exportOf = async (guild: Guild) => exportDocument(await stateOf(simulator, guild));
	await build(simulator, first, document);
	for (let round = 0; round < 3; round++) {
		const changed = edited(await exportOf(first), random);
		expect(await build(simulator, first, changed)).toBeLessThanOrEqual(2);
		const after = await exportOf(first);
		expect(difference(changed, await stateOf(simulator, first), { prune: true }).steps).toEqual([]);
		// Elsewhere, where all is new, the same document has the same result.
		if (round === 2) {
			await build(simulator, second, after);
			expect(withoutIds(await exportOf(second))).toEqual(withoutIds(after));
		}
	}
});

test.each([1, 2, 3])("a partial document touches nothing else (seed %d)", async (seed) => {
	const random = seeded(seed);
	await using simulator = await startGuilds();
	const guild = simulator.guild("First");
	await build(simulator, guild, randomGuild(random, { roles: 10, channels: 30, memberIds: [guild.owner_id] }));
	const before = exportDocument(await stateOf(simulator, guild));
	const roles = (before.roles ?? []).filter(() => random.chance(0.3));
	const categories = (before.categories ?? []).filter(() => random.chance(0.5));
	const partial = readDocument({
		version: 1,
		roles: roles.map(({ name, id, key }) => ({ name, id, key, hoist: true })),
		categories: categories.map(({ name, id, key, channels = [] }) => ({
			name,
			id,
			key,
			channels: channels
				.filter(({ spoiler }) => !spoiler && random.chance(0.5))
				.map(({ name, id, key }) => ({ name, id, key, nsfw: true })),
		})),
	});
	const touched = new Set((partial.categories ?? []).flatMap(({ channels = [] }) => channels.map(({ id }) => id)));
	const hoisted = new Set(roles.map(({ id }) => id));
	await build(simulator, guild, partial, false);
	const change = (channel: Channel): Channel => (touched.has(channel.id) ? { ...channel, nsfw: true } : channel);
	const expected = readDocument({
		...before,
		roles: before.roles?.map((role) => (hoisted.has(role.id) ? { ...role, hoist: true } : role)),
		channels: before.channels?.map(change),
		categories: before.categories?.map((category) => ({ ...category, channels: category.channels?.map(change) })),
	});
	expect(exportDocument(await stateOf(simulator, guild))).toEqual(expected);
});

test("a channel of onboarding is hidden, and another one takes its place", async () => {
	await using simulator = await startGuilds();
	const guild = simulator.guild("First");
	const names = Array.from({ length: 7 }, (_, index) => `c${index}`);
	const hidden = [{ role: "@everyone", deny: ["VIEW_CHANNEL"] }];
	const document = (shown: readonly string[]) =>
		readDocument({
			omitted: "default",
			settings: {
				name: "Community",
				community: true,
				verification_level: "MEDIUM",
				explicit_content_filter: "ALL_MEMBERS",
				rules_channel: "rules",
				public_updates_channel: "rules",
			},
			everyone: ["VIEW_CHANNEL", "SEND_MESSAGES"],
			channels: [...names, "new", "rules"].map((name) => ({
				name,
				overwrites: name === "rules" || shown.includes(name) ? [] : hidden,
			})),
			onboarding: {
				enabled: true,
				default_channels: shown,
				prompts: [
					{
						title: "What?",
						options: [
							{ title: "This", channels: [shown[0]] },
							{ title: "That", channels: ["rules"] },
						],
					},
				],
			},
		});
	await build(simulator, guild, document(names));
	const changed = document([...names.slice(1), "new"]);
	expect(await build(simulator, guild, changed)).toBe(1);
	const { onboarding } = exportDocument(await stateOf(simulator, guild));
	expect(onboarding?.enabled).toBe(true);
	expect(onboarding?.default_channels?.toSorted()).toEqual([...names.slice(1), "new"]);
});
