// A deleted channel or role that a setting names is told of where staff look.

import { describe, expect, test } from "bun:test";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { channelNamed, roleNamed, startWorld, type TestWorld } from "../../support/world.ts";

interface Row {
	what: string;
	settings(simulator: Simulator): Record<string, unknown>;
	remove(world: TestWorld): void;
	/** Where it is told; undefined: nowhere. */
	place?: string;
	lines?: string[];
	locale?: "de";
}

const channel = (name: string) => (world: TestWorld) =>
	world.simulator.world.channels.remove(channelNamed(world, name));
const role = (name: string) => (world: TestWorld) =>
	world.simulator.world.roles.remove(world.guild, roleNamed(world, name));

const rows: Row[] = [
	{
		what: "a role of two settings is told in the moderation log, in one message",
		settings: (simulator) => ({
			"moderation.log_channel": channelNamed(simulator, "staff").id,
			"audit.channel": channelNamed(simulator, "general").id,
			"join_role.role": roleNamed(simulator, "Newcomer").id,
			"game.tiers": { gold: roleNamed(simulator, "Newcomer").id, silver: roleNamed(simulator, "Newcomer").id },
		}),
		remove: role("Newcomer"),
		place: "staff",
		lines: [
			"A role of the setting **Role for those who join: Role** was deleted. `/settings` sets another one.",
			"A role of the setting **Game server: Roles of tiers** was deleted. `/settings` sets another one.",
		],
	},
	{
		what: "the moderation log itself is told in the log of assistants, in the language of the server",
		settings: (simulator) => ({
			"moderation.log_channel": channelNamed(simulator, "staff").id,
			"audit.channel": channelNamed(simulator, "general").id,
		}),
		remove: channel("staff"),
		place: "general",
		locale: "de",
		lines: [
			"Ein Kanal der Einstellung **Moderation: Moderations-Log** wurde gelöscht. Mit `/settings` lässt sich ein anderer festlegen.",
		],
	},
	{
		what: "one of several channels is told in the log of assistants where there is no moderation log",
		settings: (simulator) => ({
			"spam.honeypots": [channelNamed(simulator, "staff").id, channelNamed(simulator, "general").id],
			"audit.channel": channelNamed(simulator, "general").id,
		}),
		remove: channel("staff"),
		place: "general",
		lines: ["A channel of the setting **Spam: Honeypot channels** was deleted. `/settings` sets another one."],
	},
	{
		what: "the only log is told nowhere",
		settings: (simulator) => ({
			"moderation.log_channel": channelNamed(simulator, "staff").id,
			"audit.channel": channelNamed(simulator, "staff").id,
		}),
		remove: channel("staff"),
	},
	{
		what: "what no setting names is not told",
		settings: (simulator) => ({ "moderation.log_channel": channelNamed(simulator, "staff").id }),
		remove: role("Regular"),
	},
];

const told = ({ simulator, guild }: TestWorld) =>
	[...guild.channels.keys()]
		.flatMap((one) => [...simulator.world.messages.in(one)])
		.filter(({ author }) => author.id === simulator.bot("alpha").id)
		.map(({ channel_id, embeds }) => [channel_id, embeds.map((embed) => embed.description)]);

describe("the deletion of", () => {
	test.each(rows)("$what", async ({ settings, remove, place, lines = [], locale }) => {
		await using world = await startWorld({}, { settings });
		const { simulator } = world;
		if (locale) simulator.world.guilds.edit(world.guild, { preferred_locale: locale });
		await world.heard();
		const expected = place === undefined ? [] : [[channelNamed(simulator, place).id, [lines.join("\n")]]];
		remove(world);
		await world.heard();
		await world.bot.close();
		expect(told(world)).toEqual(expected);
	});
});
