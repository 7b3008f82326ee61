// The moderation commands: bans and their ends, permissions, arguments, the log, `nuke`, cooldowns.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { onBoth } from "../../support/stores.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { channelNamed, denyBot, roleNamed } from "../../support/world.ts";
import {
	general,
	type ModerationWorld,
	moderationTest,
	moderator,
	staffChannel,
	startModerationWorld,
} from "./moderation-world.ts";

const hourMs = 3_600_000;

/** Methods of the requests that ban (PUT) and unban (DELETE), in order. */
function banWrites({ simulator }: ModerationWorld): string[] {
	return simulator.journal
		.entries()
		.filter(({ route }) => route.includes("/bans/"))
		.map(({ route }) => route.split(" ")[0] ?? "");
}

/** SQL that lets time pass for all bans. */
const pass = (ms: number) => `UPDATE temp_bans SET ends_at = ends_at - ${ms}, asked_at = asked_at - ${ms}`;

onBoth((databases, kind) => {
	const storedTest = testWith(async () => {
		const place = await databases.place();
		return Object.assign(await startModerationWorld(place), { place });
	});

	storedTest("a ban without an end makes a temporary ban permanent", async (world) => {
		await world.ask(moderator, `!m ban ${world.id("zoe")} 3d`);
		const { text } = await world.call("ban", { user_ids: [world.id("zoe")] });
		expect(text).toContain("was banned for a time, and is now banned permanently.");
		const { text: list } = await world.call("list_temp_bans");
		expect(list).toBe("There are no temporary bans.");
		expect(world.isBanned("zoe")).toBe(true);
		const again = await world.call("ban", { user_ids: [world.id("zoe")] });
		expect(again.text).toContain("is already banned from the guild.");
	});

	storedTest(
		"a temporary ban is stored, logged, listed, and lifted when it expired while the bot was down",
		async (world) => {
			const mona = world.id("mona_lisa");
			const command = `!m ban <@${mona}> 3d  being rude`;
			const answer = await world.ask(moderator, command);
			expect(answer).toStartWith(`Banned <@${mona}> until <t:`);
			expect(world.isBanned("mona_lisa")).toBe(true);
			const reason = world.guild.bans.get(mona)?.reason;
			expect(reason).toMatch(/^By @jose\.garcia \(ID: \d+\) until \d{4}-\d\d-\d\dT[\d:]+Z: being rude$/);
			const [note] = await world.noted(1);
			expect(note).toMatchObject({
				title: "Temporary ban",
				Moderator: `<@${world.id(moderator)}>`,
				User: `<@${mona}>`,
				Until: expect.stringMatching(/^<t:\d+:f> \(<t:\d+:R>\)$/),
				Reason: "being rude",
			});
			const list = await world.ask(moderator, "!m banlist");
			expect(list.split("\n")).toEqual([
				"1 temporary ban:",
				expect.stringMatching(new RegExp(`^<@${mona}> until <t:\\d+:f> · by <@${world.id(moderator)}>$`)),
				"> being rude",
			]);

			await world.stop();
			await world.place.look(pass(80 * hourMs));
			await world.place.look(`UPDATE cases SET ends_at = ends_at - ${80 * hourMs}`);
			expect(world.isBanned("mona_lisa")).toBe(true);
			await world.start();
			await until("it is lifted", () => !world.isBanned("mona_lisa"));
			expect((await world.noted(2))[1]).toMatchObject({ title: "Ban expired", User: `<@${mona}>`, Case: "1" });
			expect(banWrites(world)).toEqual(["PUT", "DELETE"]);
			expect(await world.ask(moderator, "!m banlist")).toBe("There are no temporary bans.");
			expect(world.logged.join("\n")).not.toContain("rude");
		},
	);

	storedTest("a ban that was lifted by hand, with or without the bot running, is forgotten", async (world) => {
		const rows = () => world.place.look("SELECT user_id FROM temp_bans");
		for (const person of ["mona_lisa", "zoe"]) await world.ask(moderator, `!m ban ${world.id(person)} 1d`);
		expect(await rows()).toHaveLength(2);
		world.liftBan("mona_lisa");
		await until("its row is gone", async () => (await rows()).length === 1);
		await world.stop();
		world.liftBan("zoe");
		await world.start();
		await until("its row is gone", async () => (await rows()).length === 0);
		expect(banWrites(world)).toEqual(["PUT", "PUT"]);
	});

	storedTest("a new ban of the same person replaces its end, or makes it permanent", async (world) => {
		const mona = world.id("mona_lisa");
		const ends = async () => {
			const rows = await world.place.look("SELECT ends_at FROM temp_bans");
			return rows.map(({ ends_at }) => Number(ends_at));
		};
		expect(await world.ask(moderator, `!m ban ${mona} 1h`)).toContain(`Told by direct message: <@${mona}>.`);
		const [first = 0] = await ends();
		const changed = await world.ask(moderator, `!m ban ${mona} 1w2d`);
		// Nobody who is banned can get a direct message from the bot.
		expect(changed).not.toContain("direct message");
		expect(changed).toStartWith(`<@${mona}> was already banned. The ban now ends on <t:`);
		const [second = 0] = await ends();
		expect(Math.round((second - first) / hourMs)).toBe(9 * 24 - 1);
		expect(await world.ask(moderator, `!m ban ${mona} FOREVER`)).toContain(`The ban of <@${mona}> is permanent now.`);
		expect(await ends()).toEqual([]);
		expect(banWrites(world)).toEqual(["PUT"]);
		expect((await world.noted(3)).map(({ title }) => title)).toEqual([...["Temporary ban", "Temporary ban", "Ban"]]);
	});

	storedTest("the guild's choice of a log channel survives a restart", async (world) => {
		const { id } = world.simulator.channel(general);
		expect(await world.set({ "moderation.log_channel": id })).toContain("everyone can see it");
		// Also in the previous channel.
		await world.noted(1);
		await world.stop();
		await world.start();
		await world.ask(moderator, `!m ban ${world.id("zoe")} forever`);
		await until("it is logged there", () =>
			world.answers().some(({ embeds }) => JSON.stringify(embeds).includes(world.id("zoe"))),
		);
		expect(world.notes()).toHaveLength(1);
		await world.set({ "moderation.log_channel": null });
		await world.ask(moderator, `!m unban ${world.id("zoe")}`);
		await world.stop();
		const titles = world.answers().flatMap(({ embeds }) => embeds.map((embed) => Object(embed).title));
		expect(titles).toEqual(["Moderation log", "Ban", "Moderation log"]);
	});

	storedTest("an unconfirmed ban of an hour ago is dropped", async (world) => {
		await world.stop();
		const zoe = world.id("zoe");
		await world.place.look(
			`INSERT INTO temp_bans (guild_id, user_id, moderator_id, asked_at, ends_at, state, mark) VALUES ('${world.guild.id}', '${zoe}', '${world.id(moderator)}', ${Date.now() - hourMs}, ${Date.now() + hourMs}, 'asked', 'By someone')`,
		);
		await world.start();
		expect((await world.noted(1))[0]).toMatchObject({ title: "Ban failed", User: `<@${zoe}>` });
		expect(await world.place.look("SELECT user_id FROM temp_bans")).toEqual([]);
		expect(world.isBanned("zoe")).toBe(false);
	});
	if (kind !== "SQLite") return;

	// Discord's responses do not depend on the database.
	storedTest("a ban that someone renewed by hand is not lifted", async (world) => {
		const mona = world.id("mona_lisa");
		await world.ask(moderator, `!m ban ${mona} 1d`);
		await world.stop();
		const user = world.liftBan("mona_lisa");
		world.simulator.world.bans.add(world.guild, user);
		await world.place.look(pass(48 * hourMs));
		await world.start();
		await until("its row is gone", async () => {
			const rows = await world.place.look("SELECT user_id FROM temp_bans");
			return rows.length === 0;
		});
		expect(world.isBanned("mona_lisa")).toBe(true);
		expect(banWrites(world)).toEqual(["PUT"]);
	});

	storedTest.each(["before", "after"] as const)(
		"a ban whose request is dropped %s it is executed is confirmed, and made once",
		async (world, when) => {
			const { faults } = world.simulator;
			faults.drop("PUT /guilds/:guild_id/bans/:user_id", { when, times: 1 });
			const mona = world.id("mona_lisa");
			expect(await world.ask(moderator, `!m ban ${mona} 1d why`)).toBe(
				"Discord did not confirm the ban. The bot will check whether the user is banned, and try again if not.",
			);
			await until("she is banned", () => world.isBanned("mona_lisa"));
			await until("it is stored", async () => {
				const [row] = await world.place.look("SELECT state FROM temp_bans");
				return row?.state === "banned";
			});
			expect(banWrites(world)).toEqual(["PUT"]);
			const notes = await world.noted(1);
			// Its case is not decided yet.
			expect(notes.map(({ title }) => title)).toEqual(["Ban confirmed"]);
		},
	);

	storedTest("a ban that Discord refuses is not stored", async (world) => {
		const { faults } = world.simulator;
		const once = { times: 1 };
		faults.refuse("PUT /guilds/:guild_id/bans/:user_id", 50013, once);
		const answer = await world.ask(moderator, `!m ban ${world.id("zoe")} 1d`);
		expect(answer).toBe("Discord refuses: the bot lacks a permission, or its role is too low. Nothing was done.");
		expect(await world.place.look("SELECT user_id FROM temp_bans")).toEqual([]);
		expect(world.isBanned("zoe")).toBe(false);
	});
});

describe("permissions", () => {
	const shared = oneWorld();

	test("help lists the commands that the author may use", async () => {
		const world = shared();
		const shown = async (person: string) =>
			(await world.ask(person, "!m help")).split("\n").map((line) => /^`!m (\w+)/.exec(line)?.[1]);
		const forBans = ["ban", "unban", "banlist"];
		const ofZoe = await shown("zoe");
		for (const name of [...forBans, "nuke", "raid", "kick"]) expect(ofZoe).not.toContain(name);
		const names = await shown(moderator);
		expect(names).toEqual(expect.arrayContaining(["help", ...forBans]));
		expect(names).not.toContain("raid");
		// Hers has several pages.
		expect(await shown("ada")).toEqual(expect.arrayContaining(["help", ...forBans, "nuke", "kick"]));
	});

	test.each([
		["banlist", "Ban Members", ""],
		["nuke", "Manage Messages", "1"],
		["raid", "Manage Server", "status"],
	])("%s needs %s", async (name, permission, rest) => {
		const world = shared();
		const command = `!m ${name} ${rest}`;
		const answer = await world.ask("mona_lisa", command);
		expect(answer).toMatch(/^You (need|lack) /);
		expect(answer).toContain(permission);
		expect(banWrites(world)).toEqual([]);
	});

	test("moderators cannot ban themselves, the owner, the bot, or members not ranked below them", async () => {
		await using world = await startModerationWorld();
		const { simulator, guild } = world;
		const staff = roleNamed({ guild }, "Staff");
		const ban = (person: string) => world.ask(moderator, `!m ban ${world.id(person)} 1h`);
		expect(await ban(moderator)).toContain("You cannot do this to yourself");
		expect(await ban("ada")).toContain("Nothing was done.");
		expect(await world.ask(moderator, `!m ban ${simulator.bot("alpha").id} 1h`)).toContain("Nothing was done.");
		const zoe = world.member("zoe");
		simulator.world.members.edit(guild, zoe, { roles: [staff.id] });
		expect(await ban("zoe")).toContain("does not rank below");
		// The owner ranks above all.
		expect(await world.ask("ada", `!m ban ${world.id("zoe")} 1h`)).toStartWith("Banned");
		expect(banWrites(world)).toEqual(["PUT"]);
	});
});

describe("arguments", () => {
	const shared = oneWorld();

	test("a hostile reason is escaped to one line, truncated to Discord's limits, and pings nobody", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		const mona = world.id("mona_lisa");
		const hostile = `@everyone <@${mona}>\n\u202eevil\0 [x](http://x) ${"ü".repeat(1_800)}`;
		await world.ask(moderator, `!m ban ${mona} 1h ${hostile}`);
		const reason = world.guild.bans.get(mona)?.reason ?? "";
		expect(reason).toEndWith("ü…");
		expect(reason).toHaveLength(512);
		expect(reason).toContain("> \\u{202e}evil");
		const [note] = await world.noted(1);
		expect(note?.Reason?.length).toBeLessThanOrEqual(1_024);
		expect(note?.Reason).toContain(`\\<@${mona}>`);
		expect(note?.Reason).not.toMatch(/[\n\u202e\0]/);
		const list = await world.ask(moderator, "!m banlist");
		expect(list.split("\n")).toHaveLength(3);
		for (const { content, mentions, mention_everyone } of [...world.answers(), ...world.answers(staffChannel)])
			expect({ content, mentions, mention_everyone }).toEqual({ content, mentions: [], mention_everyone: false });
		for (const { body, actor } of simulator.journal.entries("POST /channels/:channel_id/messages"))
			if (actor === simulator.bot("alpha").id) expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
		expect(world.logged.join("\n")).not.toContain("evil");
	});

	test.each([
		["!m ban", "@user is missing. Write `!m ban <@user …> [duration] [reason]`."],
		["!m ban @mona 1h", "No member is called exactly @mona"],
		["!m ban 123 1h", "No member of this server is called 123."],
		["!m ban <@MONA> -1h", "“-1h” is not a duration. Write a number with a unit"],
		["!m ban <@MONA> 10 minits", "“10” is not a duration. Write a number with a unit"],
		["!m ban <@MONA> zoe", "“zoe” is the name of a member. Write <@"],
		["!m ban <@MONA> 1d ZOE was rude, too", "“ZOE” is the name of a member."],
		["!m kick mona_lisa zoe", "put the reason in quotation marks. Nothing was done."],
		["!m timeout <@MONA>", "duration is missing. Write `!m timeout"],
		["!m timeout <@MONA> 29 days", "“29 days” is too long: at most 28 days. Nothing was done."],
		["!m ban <@MONA> 0m", "expected a duration of at most 5 years"],
		["!m ban <@MONA> 6000000m", "expected a duration of at most 5 years"],
		["!m ban <@MONA>1h", "No member of this server is called"],
		["!m ban <#MONA> 1h", "No member of this server is called"],
		["!m role add", "Write `!m role add <@role> <@user …> [reason]`."],
		["!m role", "Write one of these:\n`!m role add"],
	])("%j is a mistake: %s", async (text, said) => {
		const world = shared();
		const answer = await world.ask(moderator, text.replace("MONA", world.id("mona_lisa")));
		expect(answer).toContain(said);
		expect(banWrites(world)).toEqual([]);
	});

	moderationTest("unban finds a banned person by name, whom only those who may ban find", async (world) => {
		const mona = world.id("mona_lisa");
		await world.ask(moderator, `!m ban ${mona} 1h`);
		expect(await world.ask("zoe", "!m unban mona_lisa")).toStartWith("No member of this server is called mona");
		expect(await world.ask(moderator, "!m unban mona_lis")).toStartWith("No member of this server is called mona");
		expect(world.isBanned("mona_lisa")).toBe(true);
		world.simulator.faults.refuse("GET /guilds/:guild_id/bans", 50013, { times: 1 });
		expect(await world.ask(moderator, "!m unban mona_lisa")).toContain("the bot lacks a permission");
		expect(await world.ask(moderator, "!m unban Mona_Lisa sorry")).toStartWith("Lifted the ban");
		expect(world.isBanned("mona_lisa")).toBe(false);
		expect((await world.noted(2))[1]).toMatchObject({ title: "Unban", Reason: "sorry" });
	});

	moderationTest("people are named by username, by a name that only one has, and several at once", async (world) => {
		const { simulator, guild } = world;
		const join = (username: string, nick?: string) => {
			const user = simulator.world.users.add({ username });
			simulator.world.members.add(guild, user, nick ? { nick } : {});
			return user.id;
		};
		const one = join("one", "Same Name");
		const two = join("two", "Same Name");
		const three = join("three", "Only Name");
		const refused = await world.ask(moderator, '!m ban "Same Name" 1h Same Name');
		expect(refused).toStartWith("Several members are called Same Name.");
		for (const id of [one, two]) expect(refused).toContain(id);
		expect(guild.bans.size).toBe(0);
		const line = `!m ban "only name" @two ${one} 1h "being rude"`;
		expect(await world.ask(moderator, line)).toMatch(/^Banned (<@\d+>(, | until )){3}/);
		for (const id of [one, two, three]) expect(guild.bans.get(id)?.reason).toEndWith(": being rude");
	});

	moderationTest("a ban of several tells for each person why not, and how many are not named", async (world) => {
		const { simulator, guild } = world;
		const join = (username: string) => {
			const user = simulator.world.users.add({ username });
			return { user, member: simulator.world.members.add(guild, user) };
		};
		const banned = simulator.world.users.add({ username: "banned" });
		simulator.world.bans.add(guild, banned);
		const [one, two] = [join("one"), join("two")];
		const ids = [one.user.id, two.user.id, banned.id];
		expect(await world.ask("ada", `!m ban ${ids.map((id) => `<@${id}>`).join(" ")} rude`)).toStartWith(
			`Banned <@${one.user.id}>, <@${two.user.id}> for good.\nAlready banned: <@${banned.id}>.\n`,
		);
		const above = simulator.world.roles.add(guild, { name: "Above", position: 99 });
		const high = Array.from({ length: 12 }, (_, number) => join(`high${number}`));
		for (const { member } of high) simulator.world.members.edit(guild, member, { roles: [above.id] });
		const refused = await world.ask("ada", `!m ban ${high.map(({ user }) => `<@${user.id}>`).join(" ")} rude`);
		expect(refused.match(/<@\d+>/g)).toHaveLength(10);
		expect(refused.split("\n").at(10)).toBe("And 2 more.");
	});

	moderationTest("to remove a nickname that nobody has is answered so", async (world) => {
		const zoe = `<@${world.id("zoe")}>`;
		expect(await world.ask("ada", `!m nick ${zoe}`)).toBe(`${zoe} has no nickname. Nothing was done.`);
	});

	moderationTest("banlist has pages of ten", async (world) => {
		const { simulator, guild } = world;
		simulator.world.members.addMany(guild, 12);
		const crowd = [...guild.members.values()].slice(-12);
		const people = crowd.map(({ user }) => user.id);
		for (const [index, id] of people.entries()) await world.ask(moderator, `!m ban ${id} ${index + 1}h`);
		const first = await world.ask(moderator, "!m banlist");
		expect(first.split("\n")).toHaveLength(12);
		expect(first).toEndWith("Page 1 of 2");
		const second = await world.ask(moderator, "!m banlist 2");
		const lines = second.split("\n").slice(1, -1);
		expect(lines.map((line) => /^<@(\d+)>/.exec(line)?.[1])).toEqual(people.slice(10));
		expect(await world.ask(moderator, "!m banlist 3")).toBe("There is no page 3: there are 2 pages.");
	});
});

describe("nuke", () => {
	const shared = oneWorld();

	const texts = (world: ModerationWorld) =>
		world.simulator.world.messages.in(world.simulator.channel(general).id).map(({ content }) => content);

	const deletions = ({ simulator }: ModerationWorld) =>
		simulator.journal.entries().filter(({ route }) => /^DELETE|bulk-delete/.test(route));

	const deleted = (world: ModerationWorld, count: number) =>
		`Deleted ${count} messages in <#${world.simulator.channel(general).id}>.`;

	moderationTest("deletes the latest messages, itself, and later its confirmation", async (world) => {
		const { simulator } = world;
		for (const text of ["one", "two", "three"]) await simulator.user("zoe").say(general, text);
		const said = deleted(world, 3);
		expect(await world.ask(moderator, "!m nuke 2")).toBe(said);
		expect(texts(world)).toEqual(["one", said]);
		const [note] = await world.noted(1);
		expect(note).toMatchObject({
			title: expect.stringContaining("Purge"),
			Moderator: expect.stringContaining(world.id(moderator)),
		});
		await until("the confirmation is deleted", () => texts(world).length === 1);
	});

	moderationTest("a shutdown deletes the confirmation", async (world) => {
		await world.simulator.user("zoe").say(general, "one");
		await world.ask(moderator, "!m nuke 1");
		await world.stop();
		expect(texts(world)).toEqual([]);
	});

	moderationTest("without Send Messages it deletes, and sends no confirmation", async (world) => {
		const { simulator } = world;
		await denyBot(world, channelNamed(world, "general"), PermissionFlagsBits.SendMessages);
		for (const text of ["one", "two", "!m nuke 1"]) await simulator.user(moderator).say(general, text);
		const line = await until("the log says so", () =>
			world.logged.find((line) => line.includes("could not send the confirmation of the chat command nuke")),
		);
		expect(line).toContain("the bot may not write in the channel");
		expect(texts(world)).toEqual(["one"]);
	});

	test.each(["", "0", "101", "-1", "1.5", "all", "1 2", "1e2"])("%j is not a number of messages", async (count) => {
		const world = shared();
		expect(await world.ask(moderator, `!m nuke ${count}`)).toStartWith("Write `!m nuke <1-100>`");
		expect(deletions(world)).toEqual([]);
	});

	test("deletes up to 100 messages beside the command, none older than 14 days, and keeps pinned ones", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		const { channel } = simulator.channel(general);
		const zoe = world.member("zoe").user;
		const idAt = (days: number) => String((BigInt(Date.now() - days * 24 * hourMs) - 1_420_070_400_000n) << 22n);
		const { messages } = simulator.world;
		messages.add(channel, zoe, { id: idAt(15), content: "old" });
		const pinned = messages.add(channel, zoe, { content: "pinned" });
		pinned.pinned_at = "2026-01-01T00:00:00.000Z";
		for (let index = 0; index < 100; index++) messages.add(channel, zoe, { content: `new ${index}` });
		expect(await world.ask(moderator, "!m nuke 100")).toBe(deleted(world, 101));
		expect(texts(world).slice(0, 2)).toEqual(["old", "pinned"]);
	});
});

describe("cooldowns", () => {
	test("five commands in ten seconds are answered, the sixth gets one notice, and others are answered", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		for (let index = 0; index < 40; index++) await simulator.user("zoe").say(general, "!m help");
		expect(await world.ask("mona_lisa", "!m help")).toStartWith("`!m help`");
		await until("all are answered", () => world.answers().length >= 7);
		const [slow, ...more] = world.answers().filter(({ content }) => content.startsWith("You used"));
		expect(slow?.content).toMatch(/^You used 5 commands in 10 seconds\. Try again in \d+ seconds?\.$/);
		expect(more).toEqual([]);
		expect(world.answers()).toHaveLength(7);
	});

	test("a moderator may act 30 times a minute, without mistakes and banlist, and gets one notice", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		const zoe = world.id("zoe");
		for (const mistake of [
			"ban",
			`ban ${zoe} 10`,
			"ban nobody 1h",
			`ban ${world.id(moderator)} 1h`,
			"unban",
			`unban ${zoe}`,
			"nuke all",
			"banlist none",
		])
			expect(await world.ask(moderator, `!m ${mistake}`)).not.toStartWith("You used");
		const answered = world.answers().length;
		for (let index = 0; index < 35; index++) await simulator.user(moderator).say(general, `!m ban ${zoe} 1h`);
		await until("all are answered", () => world.answers().length === answered + 31);
		expect(await world.ask(moderator, "!m banlist")).toContain(zoe);
		const [slow, ...more] = world.answers().filter(({ content }) => content.startsWith("You used"));
		expect(slow?.content).toMatch(/^You used 30 commands in 60 seconds\. Try again in \d+ seconds?\.$/);
		expect(more).toEqual([]);
	});
});

/** One world for a group of tests that change nothing. */
function oneWorld(): () => ModerationWorld {
	let world: ModerationWorld;
	beforeAll(async () => {
		world = await startModerationWorld();
	});
	afterAll(() => world[Symbol.asyncDispose]());
	return () => world;
}
