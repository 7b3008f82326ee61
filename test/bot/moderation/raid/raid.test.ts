// Raid mode as people and assistants use it: the tools, the suggestion after many joins, and its button.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { read } from "../../../../src/bot/settings/guild-settings.ts";
import { buttonsIn } from "../../../../src/simulator/world/messages/components.ts";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { until } from "../../../support/until.ts";
import { channelNamed, denyBot, giveRole, memberOverwrite, roleNamed } from "../../../support/world.ts";
import {
	general,
	type ModerationWorld,
	moderationTest,
	moderator,
	staffChannel,
	startModerationWorld,
} from "../moderation-world.ts";

const slowModeOf = ({ simulator }: ModerationWorld, name = general) =>
	Object(simulator.channel(name).channel).rate_limit_per_user;

moderationTest("a dry run shows what would change, and changes nothing", async (world) => {
	const { text } = await world.call("raid_mode", { mode: "on", dry_run: true });
	expect(text).toContain("Dry run: nothing was done.");
	expect(text).toMatch(/Invites: paused/);
	expect(text).toMatch(/Verification level: \w+ → HIGH/);
	expect(text).toMatch(/Slow mode: 30 s in \d+ channel/);
	expect(text).toContain("only staff see them: #staff");
	expect(slowModeOf(world)).toBe(0);
	expect((await world.call("raid_status")).text).toContain("never on");
});

moderationTest("the result says what was done, each is done once, and a case is kept", async (world) => {
	const on = await world.call("raid_mode", { mode: "on", slowmode: "1m" });
	expect(on).toMatchObject({ isError: false });
	expect(on.text).toContain("Raid mode is on");
	expect(on.text).toContain("Slow mode: 60 s in");
	expect(slowModeOf(world)).toBe(60);
	const again = await world.call("raid_mode", { mode: "on", slowmode: "1m" });
	expect(again).toMatchObject({ isError: true });
	expect(again.text).toContain("Nothing was done.");
	const status = await world.call("raid_status");
	expect(status.text).toContain("Raid mode is on");
	const off = await world.call("raid_mode", { mode: "off" });
	expect(off.text).toContain("Raid mode is off");
	expect(slowModeOf(world)).toBe(0);
	expect((await world.call("raid_mode", { mode: "off" })).isError).toBe(true);
	await until("the log has both", () => {
		const titles = world.notes().map(({ title }) => title);
		return ["Raid mode is on", "Raid mode is off"].every((one) => titles.includes(one));
	});
});

moderationTest("a channel that the bot has lost sight of counts as not restored, not as deleted", async (world) => {
	await world.call("raid_mode", { mode: "on", slowmode: "1m" });
	const channel = channelNamed(world, "general");
	const { id } = channel;
	await denyBot(world, channel, PermissionFlagsBits.ViewChannel);
	await until("the bot has heard of it", async () =>
		(await world.call("get_channel", { channel_id: id })).text.startsWith("a channel that the bot cannot see"),
	);
	const off = await world.call("raid_mode", { mode: "off" });
	expect(off.text).toMatch(/Slow mode not restored: .*: the bot cannot see it\./);
	expect(off.text).not.toContain("deleted");
	expect(slowModeOf(world)).toBe(60);
});

moderationTest("two moderators at once turn it on once", async (world) => {
	const results = await Promise.all(["ada", "mona_lisa", "zoe"].map(() => world.call("raid_mode", { mode: "on" })));
	const done = results.filter(({ isError }) => !isError);
	expect(done).toHaveLength(1);
	expect(world.simulator.journal.entries("PATCH /guilds/:guild_id")).toHaveLength(1);
});

test("/raid on shows what would change, and changes it after the confirmation; channels that the person cannot see are not named", async () => {
	await using world = await startModerationWorld();
	const { simulator, guild } = world;
	const { ManageGuild, ManageChannels, ViewChannel, UseApplicationCommands } = PermissionFlagsBits;
	const permissions = ManageGuild | ManageChannels | ViewChannel | UseApplicationCommands;
	giveRole(world, "mona_lisa", { permissions });
	const mona = simulator.user("mona_lisa");
	const permission_overwrites = [memberOverwrite(world.id("mona_lisa"), { deny: ViewChannel })];
	const secret = simulator.world.channels.add(guild, { name: "secret-lounge", permission_overwrites });
	await until("the command is offered", () => mona.commands(general).some(({ name }) => name === "raid"));
	const zoe = simulator.user("zoe");
	expect(zoe.commands(general).some(({ name }) => name === "raid")).toBe(false);
	const asked = await (await mona.run(general, "raid on", {})).reply();
	expect(asked.content).toContain("Verification level: None → High");
	expect(slowModeOf(world)).toBe(0);
	const [yes] = asked.buttons;
	expect(asked.content).toContain("1 channel that you cannot see");
	expect(asked.content).not.toContain("secret");
	await mona.press(asked, yes?.label ?? "");
	await until("raid mode is on", () => slowModeOf(world) === 30);
	const { content } = await until("it has ended", async () => {
		const used = await mona.run(general, "raid status", {});
		const reply = await used.reply();
		return reply.content.includes("Raid mode is on") && reply;
	});
	expect(content).toContain("1 channel that you cannot see");
	expect(content).not.toContain("secret");
	expect(secret.rate_limit_per_user).toBe(0);
	const { id } = simulator.user("mona_lisa");
	simulator.world.users.locales.set(id, "de");
	const status = await (await mona.run(general, "raid status", {})).reply();
	expect(status.content.split("\n").slice(0, 3)).toEqual([
		expect.stringContaining(`Der Raid-Modus ist an, eingeschaltet von <@${id}> am <t:`),
		"Einladungen: pausiert; die Pause wird verlängert, solange der Raid-Modus an ist.",
		"Verifizierungsstufe: Keine → Hoch.",
	]);
});

test("joins above the rate suggest raid mode once, without pings, and the button works only for those who may", async () => {
	await using world = await startWithRate("5 joins in 60s");
	const { simulator } = world;
	join(world, 4);
	join(world, 40);
	const message = await suggestion(world);
	const embed = Object(message.embeds[0]);
	expect(embed.title).toBe("Is this a raid?");
	expect(message.mentions).toEqual([]);
	const jose = simulator.user(moderator);
	const pressed = await jose.press(message, "Turn on raid mode");
	const refusal = await pressed.reply();
	expect(refusal).toMatchObject({ ephemeral: true });
	expect(refusal.content).toBe(
		`You need the permission Manage Server for this. Ask somebody who has it: <@${world.guild.owner_id}>. Nothing was done.`,
	);
	simulator.world.users.locales.set(world.id(moderator), "de");
	const again = await (await jose.press(message, "Turn on raid mode")).reply();
	expect(again.content).toStartWith("Dafür brauchst du die Berechtigung „Server verwalten“.");
	expect(slowModeOf(world)).toBe(0);
	await world.set({ "may.raid_mode": ["@Staff"] });
	const granted = await jose.press(message, "Turn on raid mode");
	expect((await granted.reply()).content).toContain("Raid-Modus ist an");
	expect(slowModeOf(world)).toBe(30);
	await until("the button is gone", () => message.components.length === 0);
	expect(suggestions(world)).toHaveLength(1);
});

test("with night.raid the bot turns raid mode on by itself, pings a role once, and a button ends it", async () => {
	await using world = await startModerationWorld(undefined, { raid: "5 joins in 60s" }, (simulator) => ({
		night: { raid: true, ping_role: roleNamed(simulator, "Regular").id },
	}));
	const { simulator, guild } = world;
	join(world, 40);
	const pings = () => world.answers(staffChannel).filter(({ content }) => content !== "");
	const [message] = await until("the role is pinged", () => pings().length > 0 && pings());
	expect(message?.mention_roles).toEqual(
		[...guild.roles.values()].flatMap(({ name, id }) => (name === "Regular" ? id : [])),
	);
	expect(message?.embeds[0]?.description).toMatch(/^More people joined .* It ends <t:\d+:f> \(<t:\d+:R>\), unless/);
	await until("it is on", () =>
		world.notes().some(({ title, Moderator }) => title === "Raid mode is on" && !Moderator),
	);
	expect(slowModeOf(world)).toBe(30);
	const refused = await simulator.user(moderator).press(message as Message, "End raid mode");
	expect((await refused.reply()).content).toContain("You need the permission Manage Server");
	const pressed = await simulator.user("ada").press(message as Message, "End raid mode");
	expect((await pressed.reply()).content).toContain("Raid mode is off");
	expect(slowModeOf(world)).toBe(0);
	expect([pings().length, suggestions(world).length]).toEqual([1, 0]);
});

test("the setting is parsed, with clear errors", () => {
	const parse = (raid: string) => read({ "moderation.raid": raid });
	expect(parse("20 joins in 60s").values["moderation.raid"]).toEqual({ joins: 20, windowMs: 60_000 });
	for (const wrong of [
		"20",
		"1 joins in 60s",
		"1001 joins in 60s",
		"20 joins in 0s",
		"20 joins in 2d",
		"20 joins in 60",
		"20 joins in 60s ",
	])
		expect(parse(wrong).problems[0]?.message).toStartWith("expected 2 to 1000 joins within at most a day");
});

function startWithRate(raid: string) {
	return startModerationWorld(undefined, { raid });
}

/** As many people as this join now. */
function join({ simulator, guild }: ModerationWorld, count: number): void {
	const { users, members } = simulator.world;
	for (let number = 0; number < count; number += 1)
		members.add(guild, users.add({ username: `raider-${count}-${number}` }));
}

function suggestions({ answers }: ModerationWorld): Message[] {
	return answers(staffChannel).filter(({ embeds }) =>
		embeds.some((embed) => Object(embed).title === "Is this a raid?"),
	);
}

const suggestion = (world: ModerationWorld) => until("raid mode is suggested", () => suggestions(world)[0]);

test("the suggestion is in the guild's language", async () => {
	await using world = await startWithRate("5 joins in 2m");
	world.simulator.world.guilds.edit(world.guild, { preferred_locale: "de" });
	join(world, 5);
	const message = await until("it is suggested", () =>
		world.answers(staffChannel).find(({ components }) => components.length > 0),
	);
	expect(message.embeds[0]).toMatchObject({
		title: "Ist das ein Raid?",
		description: expect.stringContaining("5 Personen sind innerhalb von 2 Minuten beigetreten."),
	});
	expect(buttonsIn(message.components).map(({ label }) => label)).toEqual(["Raid-Modus einschalten"]);
});
