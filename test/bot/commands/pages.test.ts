// Pages of cases and of temporary bans, and the buttons that turn them.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { Action } from "../../../src/bot/commands/action.ts";
import { paged } from "../../../src/bot/commands/pages.ts";
import { said } from "../../../src/texts/texts.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { roleNamed } from "../../support/world.ts";
import { grant } from "../features/running-feature.ts";
import {
	general,
	type ModerationWorld,
	moderator,
	staffChannel,
	startModerationWorld,
	textOf,
} from "../moderation/moderation-world.ts";

/** José has noted 25 cases, and Ada, the owner, one. */
async function startWithCases() {
	const world = await startModerationWorld();
	const { simulator, guild } = world;
	grant(simulator, "Staff", PermissionFlagsBits.ModerateMembers);
	simulator.world.members.addMany(guild, 20);
	const ids = [...guild.members.keys()].slice(-20);
	await world.ask(moderator, `!m note ${ids.join(" ")} here`, staffChannel);
	await world.ask("ada", `!m note ${world.id("zoe")} hers`, staffChannel);
	await world.ask(moderator, `!m note ${ids.slice(0, 5).join(" ")} there`, staffChannel);
	return world;
}

const casesTest = testWith(startWithCases);

type Shown = Parameters<typeof textOf>[0];

const numbersIn = (message: Shown) =>
	[...textOf(message).matchAll(/^\*\*#(\d+)\*\*/gm)].map(([, number]) => Number(number));

const countDown = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

/** José presses a button of a list of cases, until it shows these. */
async function turn(
	{ simulator }: ModerationWorld,
	list: Shown & { id: string; channel_id: string },
	button: string,
	numbers: readonly number[],
) {
	await simulator.user(moderator).press(list, button);
	await until(`${button} shows ${numbers}`, () => Bun.deepEquals(numbersIn(list), numbers));
}

async function openCases({ simulator }: ModerationWorld, options: Record<string, string> = {}) {
	await until("the commands are registered", () =>
		simulator
			.user(moderator)
			.commands(general)
			.some(({ name }) => name === "cases"),
	);
	return (await simulator.user(moderator).run(general, "cases", options)).reply();
}

casesTest("turn forward and back with the filter, also after a restart", async (world) => {
	const list = await openCases(world, { moderator: world.id(moderator), action: "note" });
	const { ephemeral, embeds, buttons } = list;
	expect({ ephemeral, embeds, buttons }).toMatchObject({
		ephemeral: true,
		embeds: [{ title: "Cases" }],
		buttons: [{ label: "Back", disabled: true }, { label: "Next" }],
	});
	const [first, second, third] = [
		[...countDown(26, 22), ...countDown(20, 16)],
		countDown(15, 6),
		countDown(5, 1),
	] as const;
	expect(numbersIn(list)).toEqual([...first]);
	await turn(world, list, "Next", second);
	await world.stop();
	await world.start();
	await turn(world, list, "Next", third);
	expect(list.buttons).toMatchObject([{ label: "Back" }, { label: "Next", disabled: true }]);
	expect(textOf(list)).not.toContain("Older cases");
	await turn(world, list, "Back", second);
	await turn(world, list, "Back", first);
	expect(list.buttons).toMatchObject([{ label: "Back", disabled: true }, { label: "Next" }]);
});

casesTest("turn past a case that was deleted in between, also if it was the page's last", async (world) => {
	const list = await openCases(world);
	await world.ask(moderator, "!m delete-case 17", staffChannel);
	await turn(world, list, "Next", countDown(16, 7));
	await world.ask(moderator, "!m delete-case 16", staffChannel);
	await turn(world, list, "Next", countDown(6, 1));
	await turn(world, list, "Back", [18, ...countDown(15, 7)]);
	await turn(world, list, "Back", countDown(26, 19).concat(18, 15).slice(0, 10));
});

casesTest(
	"of one person's cases have the name; those of a list in chat are turned in a private channel only",
	async (world) => {
		const { simulator, guild } = world;
		const own = await openCases(world, { user: world.id("zoe") });
		expect(own.embeds).toMatchObject([{ title: "Cases of Zoë 🍞" }]);
		expect(own.buttons).toEqual([]);
		await world.ask(moderator, "!m cases", staffChannel);
		const shown = present(world.answers(staffChannel).at(-1));
		await turn(world, shown, "Next", countDown(16, 7));
		const channel = present(guild.channels.get(shown.channel_id));
		simulator.world.channels.edit(channel, { permission_overwrites: [] });
		const press = await simulator.user(moderator).press(shown, "Next");
		expect((await press.reply()).content).toStartWith("Everyone can read this channel.");
		expect(numbersIn(shown)).toEqual(countDown(16, 7));
	},
);

testWith(startModerationWorld)(
	"of temporary bans are turned by the person who asked, with that person's rights",
	async (world) => {
		const { simulator, guild } = world;
		simulator.world.members.addMany(guild, 12);
		const people = [...guild.members.keys()].slice(-12);
		for (const [index, id] of people.entries()) await world.ask(moderator, `!m ban ${id} ${index + 1}h`);
		await world.ask(moderator, "!m banlist");
		const list = present(world.answers().at(-1));
		const isPage = (page: number) => textOf(list).includes(`Page ${page} of 2`);
		expect(isPage(1)).toBe(true);
		const user = simulator.user(moderator);
		const other = await (await simulator.user("ada").press(list, "Next")).reply();
		expect(other).toMatchObject({ ephemeral: true, content: expect.stringContaining("Only the person") });
		await user.press(list, "Next");
		await until("page 2", () => isPage(2));
		expect(list.embeds).toMatchObject([{ title: "Temporary bans" }]);
		for (const id of people.slice(10)) expect(textOf(list)).toContain(id);
		await user.press(list, "Back");
		await until("page 1", () => isPage(1));

		const [row] = list.components as unknown as { components: { custom_id: string }[] }[];
		const forge = async (id: string) => {
			const next = present(row?.components.at(-1));
			next.custom_id = id;
			return user.press(list, id);
		};
		const bans = Array.from({ length: 8 }, (_, more) => `ban:${world.id("zoe")}${":".repeat(more)}`);
		for (const rest of [...bans, "banlist:1:2", "banlist", ""])
			expect((await (await forge(`page:${user.id}:${rest}`)).reply()).content).toStartWith("This list is out of date");
		expect((await (await forge(`page:${user.id}:banlist:x`)).followUp()).content).toStartWith("page: expected");
		expect((await (await forge(`page:${user.id}:banlist:9`)).followUp()).content).toStartWith("There is no page 9");
		expect(world.isBanned("zoe")).toBe(false);

		const staff = roleNamed({ guild }, "Staff");
		simulator.world.roles.edit(guild, staff, { permissions: "0" });
		const refused = await (await forge(`page:${user.id}:banlist:2`)).followUp();
		expect(refused).toMatchObject({ ephemeral: true, content: expect.stringContaining("Ban Members") });
		expect(isPage(1)).toBe(true);
	},
);

test("a query that does not fit into a custom_id has the sentence and no buttons", () => {
	const action: Action = {
		name: "cases",
		tool: "list_cases",
		options: [
			{ name: "text", kind: "text", argument: "text" },
			{ name: "before", kind: "case", argument: "before" },
		],
		pages: "before",
	};
	const call = {
		guildId: "1",
		person: { id: "18446744073709551615", name: "Ada" },
		command: "/cases",
		tool: "list_cases",
		args: {},
		locale: "de",
	};
	const shown = {
		text: "Text",
		title: said("result.cases.title"),
		back: null,
		next: 7,
		more: said("result.older_cases", { number: "7" }),
	};
	const rowsOf = (length: number) => {
		const { page } = paged(action, new Map([["text", ["a".repeat(length)]]]), call, shown);
		const [embed] = page?.embeds ?? [];
		return { rows: page?.components.length, ...embed };
	};
	const fits = 100 - `page:${call.person.id}:cases::7`.length;
	expect(rowsOf(fits)).toMatchObject({ rows: 1, title: "Fälle", description: "Text" });
	expect(rowsOf(fits + 1)).toMatchObject({
		rows: 0,
		description: expect.stringMatching(/^Text\nÄltere Fälle: .* 7“\.$/),
	});
});
