// /settings and /setup, used as people use them.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { pageNamed, pagesWith } from "../../../src/bot/features/settings-panel.ts";
import { allKeys, kindOf } from "../../../src/bot/settings/keys.ts";
import type { InteractionHandle } from "../../../src/simulator/interactions/handle.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { channelNamed, giveRole, roleNamed, startWorld, type TestWorld } from "../../support/world.ts";
import { grant } from "./running-feature.ts";

const general = "The Cooks/general";

async function startScene() {
	const world = await startWorld({}, { toml: { features: { game: true } } });
	const { simulator } = world;
	grant(simulator, "Staff", PermissionFlagsBits.ManageGuild, PermissionFlagsBits.ManageRoles);
	await world.heard();
	const jose = simulator.user("jose.garcia");
	const open = async (command: string, person = jose) => (await person.run(general, command)).reply();
	const choose = async (reply: Reply, section: string, text: string | RegExp, person = jose) => {
		await person.select(reply, "settings:page", section);
		await reads(reply, text);
	};
	const stored = async (query: string) => (await world.call("get_settings", { query })).text;
	return {
		world,
		simulator,
		jose,
		open,
		/** Chooses another section, and resolves when it is shown with this text. */
		choose,
		/** Opens the settings at a section. */
		async openAt(section: string, text: string | RegExp, person = jose) {
			const reply = await open("settings", person);
			await choose(reply, section, text, person);
			return reply;
		},
		/** Types texts into the form of the section. Returns the form. */
		async fill(reply: Reply, texts: Record<string, string>) {
			const used = await jose.press(reply, "Edit texts and numbers");
			const form = JSON.stringify(await used.modal());
			await jose.submit(used, texts);
			return form;
		},
		stored,
		[Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
	};
}

const sceneTest = testWith(startScene);

type Scene = Awaited<ReturnType<typeof startScene>>;
type Reply = Awaited<ReturnType<InteractionHandle["reply"]>>;

/** Resolves when the message has a text like this. */
const reads = (reply: Reply, text: string | RegExp) =>
	until(`it reads ${text}`, () => (typeof text === "string" ? reply.content.includes(text) : text.test(reply.content)));

/** The custom_id of the component of the panel that begins like this. */
function idIn(reply: Reply, start: string): string {
	const found = reply.menus.find(({ custom_id }) => custom_id.startsWith(`settings:${start}`));
	if (!found) throw new Error(`the panel has no ${start}`);
	return found.custom_id;
}

sceneTest("a section is chosen, a channel and a role are picked, and both take effect", async (scene) => {
	const { world, jose, open, choose, stored } = scene;
	const reply = await open("settings");
	expect(reply.content).toContain("Settings of this bot");
	await choose(reply, "welcome", "**Channel**: not set");
	const channel = channelNamed(world, "general");
	await jose.select(reply, idIn(reply, "set:welcome:0:welcome.channel"), channel.id);
	await reads(reply, `**Channel**: not set → <#${channel.id}>`);
	expect(reply.content).toContain("newcomers will read:\n> Welcome, <@");
	expect(await stored("welcome.channel")).toContain(`#general (ID: ${channel.id})`);
	await choose(reply, "join_role", "Role for those who join");
	await jose.select(reply, idIn(reply, "set:join_role"), roleNamed(world, "Newcomer").id);
	await reads(reply, "<@&");
	const { users, members } = world.simulator.world;
	const nora = members.add(world.guild, users.add({ username: "nora" }));
	await until("she has the role", () => nora.roles.includes(roleNamed(world, "Newcomer").id));
});

sceneTest("what is no longer picked is unset, a switch is pressed, and a text is typed into a form", async (scene) => {
	const { world, jose, openAt, fill, stored } = scene;
	const reply = await openAt("welcome", "## Greetings");
	await jose.select(reply, idIn(reply, "set:welcome"), channelNamed(world, "general").id);
	await reads(reply, "not set →");
	await jose.select(reply, idIn(reply, "set:welcome"));
	await reads(reply, "→ not set");
	await jose.press(reply, "Written by AI: on");
	await reads(reply, "**Written by AI**: off");
	await fill(reply, { "welcome.message": "Hi {user}", "welcome.summary": "" });
	await reads(reply, "**Greeting**: not set → Hi {user}");
	expect(await stored("welcome")).toContain('welcome.message: "Hi {user}".');
});

sceneTest("roles by name are typed into a form, a line each, and shown there again", async (scene) => {
	const { world, openAt, fill, stored } = scene;
	const reply = await openAt("game", /^This bot has no game server here: .+\n\n## Game server/);
	const edit = (text: string) => fill(reply, { "game.tiers": text });
	const [newcomer, regular] = [roleNamed(world, "Newcomer"), roleNamed(world, "Regular")];
	await edit(`vip: gold: Newcomer\n\nsilver : @Regular\nbronze:<@&${regular.id}>`);
	await reads(reply, `vip: gold: <@&${newcomer.id}>, silver: <@&${regular.id}>, bronze: <@&${regular.id}>`);
	expect(await stored("game.tiers")).toContain(
		`game.tiers: vip: gold: @Newcomer (ID: ${newcomer.id}), silver: @Regular`,
	);
	const shown = await edit("silver: @Nowhere");
	expect(shown).toContain("vip: gold: @Newcomer\\nsilver: @Regular\\nbronze: @Regular");
	await reads(reply, "there is no role of this name");
	await edit("Regular");
	await reads(reply, "Nothing was changed.");
	await edit("");
	await reads(reply, "→ not set");
});

sceneTest("a text that is too long for a form is left out of it, and kept", async (scene) => {
	const { world, openAt, fill, stored } = scene;
	const links = Array.from({ length: 400 }, (_, index) => `host-${index}.example`);
	await world.call("set_settings", { settings: { "spam.links": links } });
	const reply = await openAt("spam", "⚠ Too long for the form here.");
	expect(await fill(reply, { "spam.times": "7" })).not.toContain("spam.links");
	await reads(reply, "not set → 7");
	expect(await stored("spam.links")).toContain("host-399.example");
});

sceneTest("a wrong text is refused with what is wrong, and nothing changes", async (scene) => {
	const { openAt, fill, stored } = scene;
	const reply = await openAt("auto_role", "Role for active members");
	await fill(reply, { "auto_role.min_age": "three days", "auto_role.min_messages": "x" });
	await reads(reply, "Nothing was changed.");
	expect(reply.content).toContain("**Time as a member**: expected a duration such as");
	expect(reply.content).toContain("**Messages**: expected a number");
	expect(await stored("auto_role.min")).not.toContain("three");
});

sceneTest("of two people at once, the second sees the first's change and is asked again", async (scene) => {
	const { world, simulator, jose, openAt, stored } = scene;
	const first = await openAt("welcome", "## Greetings");
	const owner = simulator.user("ada");
	const second = await openAt("welcome", "## Greetings", owner);
	await jose.select(first, idIn(first, "set:welcome"), channelNamed(world, "general").id);
	await reads(first, "not set →");
	await owner.select(second, idIn(second, "set:welcome"), channelNamed(world, "staff").id);
	await reads(second, "Somebody else changed the settings meanwhile.");
	expect(second.content).toContain(`**Channel**: <#${channelNamed(world, "general").id}>`);
	expect(await stored("welcome.channel")).toContain("#general");
});

sceneTest("without Manage Server nothing is shown, whoever may see the command", async (scene) => {
	const { world, simulator } = scene;
	const zoe = simulator.user("zoe");
	expect(zoe.commands(general).map(({ name }) => name)).not.toContain("settings");
	const reply = await scene.open("settings");
	// José loses the permission while the panel is open.
	simulator.world.roles.edit(world.guild, roleNamed(world, "Staff"), { permissions: "0" });
	await world.heard();
	const pressed = await scene.jose.select(reply, "settings:page", "welcome");
	expect((await pressed.reply()).content).toContain("You need the permission Manage Server for this.");
});

sceneTest("a grant opens the settings, and shows roles of a guild's actions on pages", async (scene) => {
	const { world, simulator, openAt, choose } = scene;
	const role = giveRole(world, "zoe");
	await world.heard();
	const { text } = await world.call("set_settings", { settings: { "may.settings": [role.id] } });
	expect(text).toContain("Discord still hides slash commands and menus");
	// As if an administrator had let the role see it: Discord hides it otherwise.
	for (const command of simulator.world.commands.in({ application_id: simulator.bot("alpha").id }))
		command.default_member_permissions = null;
	const person = simulator.user("zoe");
	const reply = await openAt("may-3", `**Settings**: <@&${role.id}>`, person);
	expect(reply.content).toContain("Who may do what (3)");
	await choose(reply, "may-2", "**Ban**", person);
	await person.select(reply, idIn(reply, "set:may-2:1:may.ban"), role.id);
	await reads(reply, "**Ban**: Only people with Ban Members can change this.");
});

sceneTest("/setup walks through its steps, forth and back", async (scene) => {
	const { jose, open } = scene;
	const reply = await open("setup");
	expect(reply.content).toContain("Setup, step 1 of ");
	await jose.press(reply, "Next");
	await reads(reply, "step 2 of");
	await jose.press(reply, "Back");
	await reads(reply, "step 1 of");
	for (let step = 2; !reply.buttons.some(({ label }) => label === "Done"); step += 1) {
		await jose.press(reply, "Next");
		await reads(reply, `step ${step} of`);
	}
	await jose.press(reply, "Done");
	await reads(reply, "Settings of this bot");
	const opened = await (await jose.press(reply, "Make a role menu")).reply();
	expect(opened.content).toStartWith("Choose the roles and where the menu goes.");
	expect(opened.ephemeral).toBe(true);
});

/** What a step shows below its settings, with names for ids: texts, embeds, and buttons that cannot be pressed. */
function previewIn(reply: Reply, world: TestWorld): string {
	const { guild, simulator } = world;
	const lines = reply.content.split("\n");
	const embeds = reply.embeds.flatMap(({ title, description, fields = [] }) => [
		`[${title}] ${fields.map(({ name, value }) => `${name}: ${value}`).join("; ")}`,
		...(description ? [description] : []),
	]);
	const buttons = reply.buttons.filter(({ custom_id }) => !/^(?:settings|menubuilder):/.test(custom_id ?? ""));
	expect(buttons.filter(({ disabled }) => !disabled)).toEqual([]);
	const first = lines.findLastIndex((line) => /^(?:-#|##) /.test(line)) + 1;
	return [...lines.slice(first), ...embeds, ...buttons.map(({ label }) => `(${label})`)]
		.join("\n")
		.replace(/<@&(\d+)>/g, (_, id) => `@${guild.roles.get(id)?.name}`)
		.replace(/<@(\d+)>/g, (_, id) => `@${simulator.world.users.get(id)?.username}`)
		.replace(/<#(\d+)>/g, (_, id) => `#${guild.channels.get(id)?.name}`)
		.replace(/<t:\d+:f> \(<t:\d+:R>\)/g, "then");
}

/** What each step shows. */
async function walk({ world, jose, open }: Scene, next: string): Promise<string[]> {
	const reply = await open("setup");
	const shown = [previewIn(reply, world)];
	while (shown.length < 10) {
		await jose.press(reply, next);
		await reads(reply, new RegExp(`${shown.length + 1} (?:of|von) 10`));
		shown.push(previewIn(reply, world));
	}
	return shown;
}

const off = "⏸ Not yet. Once it is set:\n";
const raid =
	"Raid mode pauses invites, raises the verification level and sets slow mode in all channels. It can be turned off again, which restores what was before.\n(Turn on raid mode)";
const spamHelp =
	"**Undo** ends the timeout; deleted messages cannot be restored. **Ban** also deletes the messages of the last hour. **It's fine** ends the timeout, and the bot ignores this person's posts for 24 hours.";
const report = "[Report #1] Person: @alpha\nReported by:\n@ada: Advertising\n(Warn)\n(Time out)\n(Ban)\n(Dismiss)";

/** What each step shows in English while nothing is set, and to a German in an English guild with settings. */
const previews: readonly (readonly [step: string, unset: string, settings: object, set: string])[] = [
	[
		"the greeting",
		`${off}In #…, newcomers will read:\n> Welcome, @alpha!`,
		{ "welcome.channel": "#general", "welcome.message": "Hi {user}\nRead this." },
		"In #general lesen neue Mitglieder:\n> Hi @alpha\n> Read this.",
	],
	[
		"the role for those who join",
		`${off}A new member gets @….`,
		{ "join_role.role": "@Newcomer" },
		"Ein neues Mitglied bekommt @Newcomer.",
	],
	[
		"the role for active members",
		`${off}After …, a member gets @….`,
		{ "auto_role.to_role": "@Regular", "auto_role.min_age": "7d", "auto_role.min_messages": 20 },
		"Nach 7 Tagen und 20 Nachrichten bekommt ein Mitglied @Regular.",
	],
	[
		"the moderation log",
		`${off}In #…, staff will read, for example:
[Warning] Moderator: @ada; User: @alpha; Reason: Advertising; Direct message: delivered; Case: 1`,
		{ "moderation.log_channel": "#staff" },
		`In #staff liest das Team zum Beispiel:
[Warning] Moderator: @ada; User: @alpha; Reason: Advertising; Case: 1`,
	],
	[
		"reports",
		`${off}In #…, staff will read, for example:\n${report}`,
		{ "moderation.reports": "#staff" },
		`In #staff liest das Team zum Beispiel:\n${report}`,
	],
	[
		"direct messages and rules",
		"**Warning**: the member reads, in a direct message:\n> You were warned in **The Cooks**.\n> Reason: Advertising",
		{
			"moderation.tell": ["spam", "timeout"],
			"moderation.appeal": "Write to Ada.",
			"moderation.escalate": ["3 warnings in 30d: timeout 1d", "5 timeouts in 2d: ban 7d", "2 bans in 12h: ban"],
		},
		`**Timeout**: Das Mitglied liest als Direktnachricht:
> You were timed out in **The Cooks**.
> Until: then
> Reason: Advertising
> Write to Ada.
3 × Verwarnung innerhalb von 30 Tagen: Timeout von 1 Tag
5 × Timeout innerhalb von 2 Tagen: Befristeter Bann von 7 Tagen
2 × Bann innerhalb von 12 Stunden: Bann`,
	],
	[
		"spam",
		`${off}Spam: the same text 4 times in 4 channels, the same text 5 times in 1 channel, within 15 seconds.
In #…, staff will read, for example:
[Spam] User: @alpha; Reason: Spam: the same text 4 times in 4 channels; Direct message: delivered; Case: 1
Timed out until then.
Deleted 4 messages; found in 4 channels.
${spamHelp}
(Undo)
(Ban)
(It's fine)`,
		{ "spam.on": true, "spam.dry": true, "spam.times": 3, "spam.honeypots": ["#general"] },
		`Spam: eine Nachricht in einem Köderkanal, derselbe Text 3-mal in 3 Kanälen, derselbe Text 3-mal in 1 Kanal, innerhalb von 15 Sekunden.
In #staff liest das Team zum Beispiel:
[Spam found (dry run)] User: @alpha; Reason: Spam: the same text 3 times in 3 channels; Direct message: delivered
The bot would time out this person and delete 3 messages in 3 channels. Nothing was done.`,
	],
	[
		"raids",
		`${off}In #…, staff will read, for example:\n[Is this a raid?] \n20 people joined within 1 minute. ${raid}`,
		{ "moderation.raid": "30 joins in 1d" },
		`In #staff liest das Team zum Beispiel:\n[Is this a raid?] \n30 people joined within 1 day. ${raid}`,
	],
	[
		"role menus, without roles that are in settings",
		`With a role menu, members give themselves roles. Make one here, or with \`/rolemenu\`:
> Choose your roles:
(Regular)
(Newcomer)`,
		{},
		`Mit einem Rollenmenü geben sich Mitglieder selbst Rollen. Du kannst es hier machen oder mit \`/rollenmenü\`:
> Choose your roles:
(Newcomer)`,
	],
	[
		"who may do what",
		"A role may do this without the permission for it on Discord. More actions: `/settings`, Who may do what.",
		{ "may.warn": ["@Regular"] },
		"Eine Rolle darf das ohne die Berechtigung auf Discord. Weitere Aktionen: `/settings`, Wer was darf.",
	],
];

sceneTest(
	"each step of /setup shows what its settings do, in the languages of the person and the guild",
	async (scene) => {
		const { world, simulator, jose } = scene;
		expect(await walk(scene, "Next")).toEqual(previews.map(([, unset]) => unset));
		for (const [, , settings] of previews) await world.call("set_settings", { settings });
		simulator.world.users.locales.set(jose.id, "de");
		expect(await walk(scene, "Weiter")).toEqual(previews.map(([, , , set]) => set));
	},
);

sceneTest("the example of the log leaves out the reason where everyone reads it", async (scene) => {
	await scene.world.call("set_settings", { settings: { "moderation.log_channel": "#general" } });
	const [, , , log] = await walk(scene, "Next");
	expect(log).toContain("Reason: left out, because everyone sees this");
});

describe("every page fits into a message", () => {
	const steps = Array.from({ length: 20 }, (_, index) => `step-${index + 1}`).filter((name) =>
		pageNamed(name, allKeys),
	);
	const pages = pagesWith(allKeys);
	test.each([...pages.map(({ name }) => name), ...steps])("%s", (name) => {
		const keys = pageNamed(name, allKeys)?.keys ?? [];
		const count = (...kinds: string[]) => keys.filter((key) => kinds.includes(kindOf(key))).length;
		// Discord allows five rows: one is for navigation, and one for buttons, of which there are at most five.
		expect(count("channel", "channels", "role", "roles", "choices")).toBeLessThanOrEqual(3);
		expect(count("flag")).toBeLessThanOrEqual(4);
		expect(count("text", "lines", "number")).toBeLessThanOrEqual(5);
	});

	test("every key is on one", () => {
		expect(pages.flatMap(({ keys }) => keys).sort()).toEqual([...allKeys].sort());
	});
});

sceneTest(
	"an administrator rehearses a raid, and a button applies the setting that stops it",
	async ({ world, simulator, open, stored }) => {
		const ada = simulator.user("ada");
		await world.call("set_settings", { settings: { "moderation.raid": "10 joins in 60s" } });
		expect((await open("settings")).menus.map(({ custom_id }) => custom_id)).not.toContain("settings:rehearse");
		const used = await ada.select(await open("settings", ada), "settings:rehearse", "raid");
		const reply = await used.reply();
		expect(reply.content).toStartWith("The rehearsal is running: ");
		await until("the question is asked", () => reply.followUps.length > 0);
		const { content } = reply;
		expect(content).toContain("60 of 60 accounts joined");
		expect(content).not.toMatch(/plan\\_hash|set\\_settings/);
		expect(content).toContain("night.raid default → true");
		await (await ada.press(await used.followUp(), "Do it")).reply();
		await until("the setting is on", async () => /night\.raid.*true/.test(await stored("night.raid")));
	},
	120_000,
);

sceneTest(
	"a form asks for what a scenario needs, and an error says what is missing",
	async ({ world, simulator, open }) => {
		const ada = simulator.user("ada");
		const rehearse = async (scenario: string, given?: string | string[]) => {
			const used = await ada.select(await open("settings", ada), "settings:rehearse", scenario);
			const answered = given === undefined ? used : await ada.submit(used, { given });
			const reply = await answered.reply();
			await until("it ends", () => !reply.content.startsWith("The rehearsal is"));
			return reply.content;
		};
		expect(await rehearse("member", [roleNamed(world, "Staff").id])).toContain("A member with @Staff tried.");
		expect(await rehearse("document", "channels: [{ name: planned }]")).toContain("The plan: create 1\n");
		expect(await rehearse("raid")).toStartWith("“Raid alarm” is not set, so nothing would happen.");
	},
	120_000,
);
