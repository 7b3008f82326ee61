// Slash commands, menus, forms and confirmations, with discord.js's own handling of interactions.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { isEqual } from "../../../src/bot/commands/registration.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { denyBot, memberOverwrite } from "../../support/world.ts";
import { grant } from "../features/running-feature.ts";
import {
	general,
	type ModerationWorld,
	moderator,
	staffChannel,
	startModerationWorld,
	textOf,
} from "../moderation/moderation-world.ts";

const registrations = ({ simulator }: ModerationWorld) =>
	simulator.journal.entries().filter(({ route }) => /^(PUT|POST|DELETE) .*\/commands/.test(route));

/** A world whose commands are registered, and in which the moderator may do everything. */
async function startSlashWorld() {
	const world = await startModerationWorld();
	const { simulator } = world;
	const { KickMembers, ManageMessages, ModerateMembers } = PermissionFlagsBits;
	grant(simulator, "Staff", KickMembers, ManageMessages, ModerateMembers);
	await until("the commands are registered", () =>
		simulator
			.user(moderator)
			.commands(general)
			.some(({ name }) => name === "ban"),
	);
	return world;
}

const slashWorldTest = testWith(startSlashWorld);

describe("registration", () => {
	slashWorldTest("happens once, and not again at the next start", async (world) => {
		expect(registrations(world)).toHaveLength(1);
		const { simulator } = world;
		const reads = () =>
			simulator.requests.list().filter(({ method, path }) => method === "GET" && /\/commands/.test(path)).length;
		const before = reads();
		await world.stop();
		await world.start();
		await until("they were compared", () => reads() > before);
		await world.stop();
		expect(registrations(world)).toHaveLength(1);
	});

	test.each<[string, object, object, boolean]>([
		["what Discord adds", { id: "1", version: "2", nsfw: false }, {}, true],
		["another description", { description: "old" }, {}, false],
		["an option that is no longer wanted", { options: [{ name: "x" }] }, {}, false],
		["required: false", { options: [{ name: "x" }] }, { options: [{ name: "x", required: false }] }, true],
		["a minimum of 0", { options: [{ name: "x" }] }, { options: [{ name: "x", min_value: 0 }] }, false],
		["another translation", { name_localizations: { de: "a" } }, { name_localizations: { de: "b" } }, false],
		["no translations", { name_localizations: null }, {}, true],
		["another permission", { default_member_permissions: "4" }, {}, false],
		["no permission", { default_member_permissions: null }, {}, true],
	])("%s", (_, found, wanted, same) => {
		const base = { name: "ban", type: 1, description: "new" };
		expect(isEqual([{ ...base, ...found }], [{ ...base, ...wanted }])).toBe(same);
	});
});

describe("commands", () => {
	let world: ModerationWorld;
	beforeAll(async () => {
		world = await startSlashWorld();
	});
	afterAll(() => world[Symbol.asyncDispose]());

	/** Uses a command; returns its answer. */
	async function run(command: string, options: Record<string, unknown>, person = moderator) {
		const user = world.simulator.user(person);
		const asked = await user.run(general, command, options as never);
		const reply = await asked.reply();
		expect(reply.ephemeral).toBe(true);
		return textOf(reply);
	}

	test("a command whose deferral was accepted, but not answered, is carried out and answered once", async () => {
		const { simulator, guild } = world;
		const { user } = simulator.world.users.addPerson({ username: "dropped" });
		simulator.world.members.add(guild, user);
		simulator.faults.drop("POST /interactions/:interaction_id/:interaction_token/callback", {
			when: "after",
			times: 1,
		});
		const asked = await simulator.user(moderator).run(general, "ban", { user: user.id });
		const { content, ephemeral, followUps } = await asked.reply();
		expect(content).toContain("Banned");
		expect(ephemeral).toBe(true);
		expect(followUps).toEqual([]);
		expect(guild.bans.has(user.id)).toBe(true);
	});

	test("whoever lacks the permission is refused, whatever the guild shows", async () => {
		await expect(run("ban", { user: world.id("zoe") }, "mona_lisa")).rejects.toThrow("Missing Permissions");
		// Nobody needs a permission to use the command any more.
		const { world: state } = world.simulator;
		const bot = world.simulator.bot("alpha").id;
		const command = present(state.commands.usable(bot, world.guild).find(({ name }) => name === "ban"));
		const { default_member_permissions: before } = command;
		command.default_member_permissions = null;
		expect(await run("ban", { user: world.id("zoe") }, "mona_lisa")).toStartWith("You lack Ban Members");
		command.default_member_permissions = before;
		expect(world.isBanned("zoe")).toBe(false);
	});

	test("/help lists what the person may use", async () => {
		const all = await run("help", {});
		expect(all).toContain("`/ban`: ");
		expect(all).not.toContain("`/raid on`");
		expect(await run("help", {}, "zoe")).not.toContain("`/ban`");
	});

	test("help has pages, which only the person who asked turns", async () => {
		const { simulator } = world;
		const user = simulator.user("ada");
		const names = (text: string) => text.split("\n").flatMap((line) => /^`(.*?)`/.exec(line)?.[1] ?? []);
		const first = await (await user.run(general, "help")).reply();
		const pages = Number(/-# Page 1 of (\d)$/.exec(first.content)?.[1]);
		const seen = names(first.content);
		expect(seen).toHaveLength(10);
		for (let page = 2; page <= pages; page += 1) {
			await user.press(first, "Next");
			await until(`page ${page}`, () => first.content.endsWith(`-# Page ${page} of ${pages}`));
			seen.push(...names(first.content));
		}
		expect(new Set(seen).size).toBe(seen.length);
		expect(seen).toEqual(expect.arrayContaining(["/help", "/ban", "/purge joined", "/rolemenu"]));
		await user.press(first, "Back");
		await until("page 2", () => first.content.endsWith(`-# Page ${pages - 1} of ${pages}`));
		const before = world.answers().length;
		await user.say(general, "!m help");
		const chat = await until("it is answered", () =>
			world
				.answers()
				.slice(before)
				.find(({ components }) => components.length > 0),
		);
		const other = await (await simulator.user("zoe").press(chat, "Next")).reply();
		expect(other.content).toContain("Only the person");
		expect(chat.content).toContain("Page 1 of");
		await user.press(chat, "Next");
		await until("page 2", () => chat.content.includes("Page 2 of"));
	});

	test("durations are suggested", async () => {
		const { simulator } = world;
		const user = simulator.user(moderator);
		const suggest = (duration: string) => user.suggest(general, "ban", { user: world.id("zoe"), duration }, "duration");
		expect(await suggest("3")).toEqual([
			{ name: "3 minutes", value: "3m" },
			{ name: "3 hours", value: "3h" },
			{ name: "3 days", value: "3d" },
			{ name: "3 weeks", value: "3w" },
		]);
		expect(await suggest("1d12h")).toEqual([{ name: "1 day 12 hours", value: "1d12h" }]);
		expect(await suggest("2 Tage")).toEqual([{ name: "2 days", value: "2 d" }]);
		expect((await suggest("")).map(({ value }) => value)).toContain("forever");
	});

	test("a channel that the person cannot see is like one that does not exist", async () => {
		const { simulator } = world;
		const { id, channel } = simulator.channel(staffChannel);
		const overwrite = memberOverwrite(world.id(moderator), { deny: PermissionFlagsBits.ViewChannel });
		const { ManageChannels, ManageGuild, ManageRoles } = PermissionFlagsBits;
		grant(simulator, "Staff", ManageChannels, ManageGuild, ManageRoles);
		const unknown = "1".repeat(18);
		simulator.world.channels.setOverwrite(channel as never, overwrite);
		const say = (line: string) => world.ask(moderator, line);
		const isHidden = async () => (await say(`!m slowmode off <#${id}>`)).includes("no such channel");
		await until("the bot has heard of it", isHidden);
		for (const line of ["lock ID", "slowmode 5s <#ID>"]) {
			const hidden = await say(`!m ${line.replace("ID", id)}`);
			expect(hidden.replaceAll(id, unknown)).toBe(await say(`!m ${line.replace("ID", unknown)}`));
		}
		expect(await say("!m lock #staff")).toStartWith("No channel is called");
		simulator.world.channels.removeOverwrite(channel as never, overwrite);
	});

	test("the invented name of a channel that the bot cannot see names nothing", async () => {
		const { simulator } = world;
		const { channel } = simulator.channel(staffChannel);
		const overwrite = memberOverwrite(simulator.bot("alpha").id, { deny: PermissionFlagsBits.ViewChannel });
		simulator.world.channels.setOverwrite(channel as never, overwrite);
		const locked = (name: string) => world.ask("ada", `!m lock #${name}`);
		await until("the bot has heard of it", async () => (await locked(staffChannel)).startsWith("No channel is called"));
		expect(await locked("___hidden___")).toStartWith("No channel is called");
		simulator.world.channels.removeOverwrite(channel as never, overwrite);
	});

	test("the menu of a person asks for a duration and a reason, and times out", async () => {
		const user = world.simulator.user(moderator);
		const mona = world.id("mona_lisa");
		const used = await user.runOnUser(general, "Time out", mona);
		const modal = await used.modal();
		expect(modal.title).toBe("Time out");
		expect(modal.texts).toEqual([`For <@${mona}>`]);
		const sent = await user.submit(used, { duration: "soon", reason: "rude" });
		const refused = await sent.reply();
		expect(refused.content).toStartWith("“soon” is not a duration.");
		expect(refused.ephemeral).toBe(true);
		const { channel } = world.simulator.channel(general);
		const button = { type: 2, style: 1, label: "Try again", custom_id: `retry:${sent.id}` };
		const copy = world.simulator.world.messages.add(channel, world.member("alpha").user, {
			content: "",
			components: [{ type: 1, components: [button] }],
		});
		const other = await world.simulator.user("ada").press(copy, "Try again");
		expect((await other.reply()).content).toBe("Only the person who used the command can use these buttons.");
		const again = await user.press(refused, "Try again");
		// The reason is still there.
		const done = await user.submit(again, { duration: "10 minutes" });
		const reply = await done.reply();
		expect(reply.ephemeral).toBe(true);
		expect(reply.content).toStartWith("Timed out ");
		await until("the timeout is logged", () => world.notes().at(-1)?.Reason === "rude");
		expect(world.member("mona_lisa").communication_disabled_until).toBeTruthy();
	});

	test("answers, suggestions and forms are in the language of the person", async () => {
		const { simulator } = world;
		const { locales } = simulator.world.users;
		locales.set(world.id(moderator), "de");
		const user = simulator.user(moderator);
		const mona = world.id("mona_lisa");
		expect(await run("help", {})).toContain("`/bannen`: Bannt jemanden ");
		expect(await run("timeout", { user: mona, duration: "bald" })).toStartWith("„bald“ ist keine Dauer.");
		const suggested = await user.suggest(general, "ban", { user: mona, duration: "3 Tage" }, "duration");
		expect(suggested).toEqual([{ name: "3 Tage", value: "3 d" }]);
		const modal = await (await user.runOnUser(general, "Time out", mona)).modal();
		expect(modal.title).toBe("Timeout geben");
		expect(modal.texts).toEqual([`Für <@${mona}>`]);
		expect(modal.inputs.map(({ label }) => label)).toEqual(["Dauer", "Grund"]);
		locales.delete(world.id(moderator));
	});

	test("chat commands answer in the language of the server", async () => {
		const { simulator, guild } = world;
		simulator.world.guilds.edit(guild, { preferred_locale: "de" });
		await until("the bot has heard of it", async () =>
			(await world.ask(moderator, "!m role")).startsWith(
				"Schreib eins davon:\n`!m role add <@rolle> <@nutzer …> [grund]`",
			),
		);
		const missing = await world.ask(moderator, "!m timeout mona_lisa");
		expect(missing).toBe("Es fehlt: dauer. Schreib `!m timeout <@nutzer …> <dauer> [grund]`.");
		expect(await world.ask(moderator, "!m nuke")).toStartWith("Schreib `!m nuke <1-100>`: wie viele");
		expect(await world.ask(moderator, "!m help")).toContain("[grund]`: Bannt jemanden befristet oder für immer");
		simulator.world.guilds.edit(guild, { preferred_locale: "en-US" });
		await until("the bot has heard of it", async () => (await world.ask(moderator, "!m role")).startsWith("Write"));
	});

	test("in a thread, lock, slow mode and unlock are the thread's", async () => {
		const { simulator, guild } = world;
		const { ManageChannels, ManageRoles, ManageThreads } = PermissionFlagsBits;
		grant(simulator, "Staff", ManageChannels, ManageRoles, ManageThreads);
		const { channel } = simulator.channel(general);
		const owner = present(simulator.world.users.get(world.id("zoe")));
		const thread = simulator.world.threads.add(channel as never, owner, { name: "recipes" });
		const runThere = async (name: string, options: Record<string, unknown> = {}) =>
			(await (await simulator.user(moderator).run(thread.id, name, options as never)).reply()).content;
		await until("it is locked", async () => {
			await runThere("lock", { reason: "calm down" });
			return thread.locked;
		});
		expect(guild.channels.get(channel.id)).toMatchObject({ permission_overwrites: [] });
		const slowed = `Slow mode is now on in <#${thread.id}>: members wait 10 seconds between two messages.`;
		expect(await runThere("slowmode", { interval: "10 seconds" })).toBe(slowed);
		expect(thread.rate_limit_per_user).toBe(10);
		simulator.world.users.locales.set(world.id(moderator), "de");
		expect(await runThere("slowmode", { interval: "10s" })).toBe(
			`Der Slow-Modus in <#${thread.id}> steht schon auf 10 Sekunden. Es ist nichts passiert.`,
		);
		expect(await runThere("slowmode", { interval: "1m", announce: true })).toBe(
			`Der Slow-Modus ist in <#${thread.id}> jetzt an: Mitglieder warten zwischen zwei Nachrichten 1 Minute.\nEs wurde nichts mitgeteilt: Das geht nur in Kanälen, nicht in Threads.`,
		);
		simulator.world.users.locales.delete(world.id(moderator));
		expect(await world.ask(moderator, `!m unlock <#${thread.id}>`)).toBe(`Unlocked <#${thread.id}>.`);
		expect(await runThere("lock", { announce: true })).toBe(
			`Locked <#${thread.id}>: only moderators can write in it or reopen it.\nNothing was announced: announcements are only made in channels, not in threads.`,
		);
		await runThere("unlock");
		expect(thread.locked).toBe(false);
		expect(await runThere("unlock")).toBe(`<#${thread.id}> already has these settings. Nothing was done.`);
	});

	test("a slow mode that the channel has already is named in the language of the person", async () => {
		const { simulator } = world;
		grant(simulator, "Staff", PermissionFlagsBits.ManageChannels);
		const { id, channel } = simulator.channel(general);
		expect(await run("slowmode", { interval: "off" })).toBe(`Slow mode is already off in <#${id}>. Nothing was done.`);
		simulator.world.channels.edit(channel as never, { rate_limit_per_user: 60 });
		await until("the bot has heard of it", async () =>
			(await run("slowmode", { interval: "1m" })).startsWith(
				`Slow mode in <#${id}> is already set to 1 minute. Nothing was done.`,
			),
		);
		simulator.world.users.locales.set(world.id(moderator), "de");
		expect(await run("slowmode", { interval: "1m" })).toBe(
			`Der Slow-Modus in <#${id}> steht schon auf 1 Minute. Es ist nichts passiert.`,
		);
		simulator.world.channels.edit(channel as never, { rate_limit_per_user: 0 });
		await until("the bot has heard of it", async () =>
			(await run("slowmode", { interval: "off" })).startsWith(
				`Der Slow-Modus ist in <#${id}> schon aus. Es ist nichts passiert.`,
			),
		);
		simulator.world.users.locales.delete(world.id(moderator));
	});

	test("a lock of several channels says why some are left, and does not say that nothing was done", async () => {
		const { simulator, guild } = world;
		grant(simulator, "Staff", PermissionFlagsBits.ManageRoles);
		const { channels } = simulator.world;
		const category = channels.add(guild, { name: "several", type: ChannelType.GuildCategory });
		const [open, closed, refused, half] = ["open", "closed", "refused", "half"].map((name) =>
			channels.add(guild, { name, parent_id: category.id }),
		);
		if (!open || !closed || !refused || !half) throw new Error("there are four channels");
		const alpha = simulator.bot("alpha").id;
		denyBot(world, closed, PermissionFlagsBits.ManageRoles);
		const path = ({ id }: { id: string }, target: string) => `PUT /channels/${id}/permissions/${target}`;
		for (const target of [guild.id, alpha]) simulator.faults.refuse(path(refused, target), 50013);
		simulator.faults.refuse(path(half, guild.id), 50013);
		const text = await run("lock", { channel: category.id, announce: false });
		expect(text.split("\n").filter((line) => !line.startsWith("Case "))).toEqual([
			`Locked <#${open.id}>: members can no longer write or speak there.`,
			`Not done for <#${refused.id}>: Discord refuses: the bot lacks a permission, or its role is too low.`,
			`Not done for <#${half.id}>: Discord refuses: the bot lacks a permission, or its role is too low. <#${half.id}> may be locked in part: unlock it to undo that.`,
			`Not changed: <#${closed.id}>. The bot lacks Manage Roles in <#${closed.id}>.`,
			expect.stringMatching(/^The owner, or anyone with Manage Roles .* in the channel's own permissions\.$/),
		]);
		expect(text).not.toContain("Nothing was done");
		simulator.faults.clear();
		expect(await run("unlock", { channel: category.id })).toStartWith("Unlocked");
	});

	test("Delete and warn deletes the message and warns its author", async () => {
		const { simulator } = world;
		const message = await simulator.user("zoe").say(general, "rude words");
		const user = simulator.user(moderator);
		const used = await user.runOnMessage(message, "Delete and warn");
		const sent = await user.submit(used, { reason: "be kind" });
		const reply = await sent.reply();
		expect(reply.content).toContain("Deleted");
		expect(reply.content).toMatch(/[Ww]arned/);
		const channel = simulator.channel(general);
		expect(simulator.world.messages.get(channel.id, message.id)).toBeUndefined();
		const [deletion] = simulator.journal.entries("DELETE /channels/:channel_id/messages/:message_id").slice(-1);
		expect(deletion?.reason).toContain("for José García, by Delete and warn");
	});
});

describe("confirmation", () => {
	async function askToKick(world: ModerationWorld) {
		const { simulator, guild } = world;
		simulator.world.members.addMany(guild, 4);
		const ids = [...guild.members.values()].slice(-4).map(({ user }) => user.id);
		const line = `!m kick ${ids.map((id) => `<@${id}>`).join(" ")} raid`;
		await simulator.user(moderator).say(general, line);
		const question = await until("it is asked", () => world.answers().find(({ components }) => components.length > 0));
		expect(question.content).toBe(`Kick ${ids.map((id) => `<@${id}>`).join(", ")}?\nNothing has been done yet.`);
		const present = () => ids.filter((id) => guild.members.has(id)).length;
		const kicked = () =>
			until("the message says so", () =>
				world.answers().find(({ id, content }) => id === question.id && /^Kicked/.test(content)),
			);
		return { question, present, kicked };
	}

	slashWorldTest("many people are kicked only after the person who asked has confirmed it, once", async (world) => {
		const { simulator } = world;
		const { question, present, kicked } = await askToKick(world);
		const others = await simulator.user("ada").press(question, "Do it");
		expect((await others.reply()).content).toContain("Only the person");
		expect(present()).toBe(4);
		await simulator.user(moderator).press(question, "Do it");
		await until("they are kicked", () => present() === 0);
		expect((await kicked()).components).toEqual([]);
	});

	test.each([
		["one after the other", false],
		["at once", true],
	])(
		"of two presses %s one is carried out, and stays in the message; the other says so privately",
		async (_, isAtOnce) => {
			await using world = await startSlashWorld();
			const { simulator } = world;
			const { question, present, kicked } = await askToKick(world);
			// The first is not over before the second is answered. Of two at once, either can be the first.
			const held = simulator.faults.stall("DELETE /guilds/*/members/*");
			const press = () => simulator.user(moderator).press(question, "Do it");
			const first = press();
			if (!isAtOnce) await until("the first is carried out", async () => (await first) && held.hits > 0);
			const presses = await Promise.all([first, press()]);
			const refusals = async () => {
				const replies = await Promise.all(presses.map((one) => one.reply()));
				return replies.map(({ followUps }) => followUps.map(({ content }) => content));
			};
			await until("one is answered", async () => (await refusals()).flat().length > 0 && held.hits > 0);
			held.release();
			await until("they are kicked", () => present() === 0);
			await kicked();
			const [ofFirst, ofSecond] = await refusals();
			if (!isAtOnce) expect(ofFirst).toEqual([]);
			expect([ofFirst, ofSecond].flat()).toEqual(["This was already answered."]);
			expect(simulator.requests.list("DELETE /guilds/:guild_id/members/:user_id")).toHaveLength(4);
		},
	);

	slashWorldTest(
		"a purge deletes what its preview counted, and not what is written before the confirmation",
		async (world) => {
			const { simulator, guild } = world;
			const { channel } = simulator.channel(general);
			for (let index = 0; index < 5; index++) await simulator.user("zoe").say(general, `first ${index}`);
			const user = simulator.user(moderator);
			const asked = await user.run(general, "purge user", { user: world.id("zoe"), within: "1h" });
			const question = await until("it is asked", async () => {
				const reply = await asked.reply();
				return reply.buttons.length > 0 && reply;
			});
			const count = Number(/(\d+) message/.exec(question.content)?.[1]);
			expect(count).toBeGreaterThanOrEqual(5);
			expect(guild.members.has(world.id("zoe"))).toBe(true);
			const later = await simulator.user("zoe").say(general, "later");
			const ofZoe = () => simulator.world.messages.in(channel.id).filter(({ author }) => author.id === world.id("zoe"));
			await user.press(question, "Do it");
			await until("they are deleted", () => ofZoe().length === 1);
			expect(ofZoe().map(({ id }) => id)).toEqual([later.id]);
		},
	);

	slashWorldTest("after a restart nothing is done", async (world) => {
		const { question, present } = await askToKick(world);
		await world.stop();
		await world.start();
		await world.simulator.user(moderator).press(question, "Do it");
		await until("it is answered", () => world.answers().some(({ content }) => content.includes("Nothing was done.")));
		expect(present()).toBe(4);
	});

	slashWorldTest("Cancel does nothing", async (world) => {
		const { question, present } = await askToKick(world);
		await world.simulator.user(moderator).press(question, "Cancel");
		await until("it is answered", () => world.answers().some(({ content }) => content === "Nothing was done."));
		expect(present()).toBe(4);
	});
});
