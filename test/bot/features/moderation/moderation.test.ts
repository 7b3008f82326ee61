// What moderators can do by typing, who may, what is said of it, and what becomes of bans that end.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { Guild } from "../../../../src/simulator/world/state/entities.ts";
import { onBoth } from "../../../support/stores.ts";
import { until } from "../../../support/until.ts";
import {
	general,
	type ModerationWorld,
	moderator,
	staffChannel,
	startModerationWorld,
} from "./moderation-world.ts";

const hourMs = 3_600_000;

/** The requests that ban and lift bans, in order. */
function banWrites({ simulator }: ModerationWorld): string[] {
	return simulator.journal
		.entries()
		.filter(({ route }) => route.includes("/bans/"))
		.map(({ route }) => route.split(" ")[0] ?? "");
}

/** Moves the ends of all bans, as time does. */
const pass = (ms: number) =>
	`UPDATE temp_bans SET ends_at = ends_at - ${ms}, asked_at = asked_at - ${ms}`;

onBoth((databases, kind) => {
	test("a ban with an end is made, noted, listed, told of, and lifted when the end has come while the bot was down", async () => {
		const place = await databases.place();
		await using world = await startModerationWorld(place);
		const mona = world.id("mona_lisa");
		const answer = await world.ask(
			moderator,
			`!m ban <@${mona}> 3d  being rude`,
		);
		expect(answer).toStartWith(`Banned <@${mona}> (ID: ${mona}) until <t:`);
		expect(world.isBanned("mona_lisa")).toBe(true);
		const reason = world.guild.bans.get(mona)?.reason;
		expect(reason).toMatch(
			/^By @jose\.garcia \(ID: \d+\) until \d{4}-\d\d-\d\dT[\d:]+Z: being rude$/,
		);
		const [note] = await world.noted(1);
		expect(note).toEqual({
			title: "Ban",
			Moderator: `<@${world.id(moderator)}> (ID: ${world.id(moderator)})`,
			User: `<@${mona}> (ID: ${mona})`,
			Until: expect.stringMatching(/^<t:\d+:f> \(<t:\d+:R>\)$/),
			Reason: "being rude",
		});
		const list = await world.ask(moderator, "!m banlist");
		expect(list.split("\n")).toEqual([
			"1 temporary ban(s), page 1 of 1, soonest end first:",
			expect.stringContaining(`<@${mona}> (ID: ${mona}) until <t:`),
		]);
		expect(list).toEndWith(`by <@${world.id(moderator)}>: being rude`);

		await world.stop();
		await place.look(pass(80 * hourMs));
		expect(world.isBanned("mona_lisa")).toBe(true);
		await world.start();
		await until("it is lifted", () => !world.isBanned("mona_lisa"));
		expect((await world.noted(2))[1]).toMatchObject({
			title: "Ban expired",
			User: `<@${mona}> (ID: ${mona})`,
		});
		expect(banWrites(world)).toEqual(["PUT", "DELETE"]);
		expect(await world.ask(moderator, "!m banlist")).toBe(
			"There are no temporary bans.",
		);
		expect(world.logged.join("\n")).not.toContain("rude");
	});

	test("a ban that was lifted by hand, while the bot was there or not, is not kept", async () => {
		const place = await databases.place();
		await using world = await startModerationWorld(place);
		const rows = () => place.look("SELECT user_id FROM temp_bans");
		const lift = (person: string) => {
			const ban = world.guild.bans.get(world.id(person));
			if (!ban) throw new Error(`${person} is banned`);
			world.simulator.world.bans.remove(world.guild, ban);
		};
		for (const person of ["mona_lisa", "zoe"])
			await world.ask(moderator, `!m ban ${world.id(person)} 1d`);
		expect(await rows()).toHaveLength(2);
		lift("mona_lisa");
		await until("its row is gone", async () => (await rows()).length === 1);
		await world.stop();
		lift("zoe");
		await world.start();
		await until("its row is gone", async () => (await rows()).length === 0);
		expect(banWrites(world)).toEqual(["PUT", "PUT"]);
	});

	test("a new ban of the same person replaces the end, and one without an end has none", async () => {
		const place = await databases.place();
		await using world = await startModerationWorld(place);
		const mona = world.id("mona_lisa");
		const ends = async () => {
			const rows = await place.look<{ ends_at: number | bigint | string }>(
				"SELECT ends_at FROM temp_bans",
			);
			return rows.map(({ ends_at }) => Number(ends_at));
		};
		await world.ask(moderator, `!m ban ${mona} 1h`);
		const [first = 0] = await ends();
		expect(await world.ask(moderator, `!m ban ${mona} 1w2d`)).toStartWith(
			`<@${mona}> (ID: ${mona}) was already banned, and is now banned until <t:`,
		);
		const [second = 0] = await ends();
		expect(Math.round((second - first) / hourMs)).toBe(9 * 24 - 1);
		expect(await world.ask(moderator, `!m ban ${mona} FOREVER`)).toEndWith(
			"was already banned, and is now banned permanently.",
		);
		expect(await ends()).toEqual([]);
		expect(banWrites(world)).toEqual(["PUT"]);
		expect((await world.noted(3)).map(({ title }) => title)).toEqual([
			"Ban",
			"Ban duration changed",
			"Ban made permanent",
		]);
	});

	test("the guild's choice of a log channel survives a restart", async () => {
		const place = await databases.place();
		await using world = await startModerationWorld(place);
		const { id } = world.simulator.channel(general);
		expect(await world.ask("ada", "!m setlog")).toContain(
			`Moderation is logged in <#${world.simulator.channel(staffChannel).id}>.`,
		);
		expect(await world.ask("ada", `!m setlog <#${id}>`)).toBe(
			`Moderation is now logged in <#${id}>.`,
		);
		// In the one that it was, too.
		await world.noted(1);
		await world.stop();
		await world.start();
		await world.ask(moderator, `!m ban ${world.id("zoe")} forever`);
		await until("it is told there", () =>
			world
				.answers()
				.some(({ embeds }) => JSON.stringify(embeds).includes(world.id("zoe"))),
		);
		expect(world.notes()).toHaveLength(1);
		expect(await world.ask("ada", "!m setlog off")).toBe(
			"Moderation logging is now off.",
		);
		await world.stop();
		await world.start();
		expect(await world.ask("ada", "!m setlog")).toStartWith(
			"Moderation logging is off.",
		);
	});

	test("a ban that was asked for long ago, and not made, is not made any more", async () => {
		const place = await databases.place();
		await using world = await startModerationWorld(place);
		await world.stop();
		const zoe = world.id("zoe");
		await place.look(
			`INSERT INTO temp_bans (guild_id, user_id, moderator_id, asked_at, ends_at, state, mark) VALUES ('${world.guild.id}', '${zoe}', '${world.id(moderator)}', ${Date.now() - hourMs}, ${Date.now() + hourMs}, 'asked', 'By someone')`,
		);
		await world.start();
		expect((await world.noted(1))[0]).toMatchObject({
			title: "Ban failed",
			User: `<@${zoe}> (ID: ${zoe})`,
		});
		expect(await place.look("SELECT user_id FROM temp_bans")).toEqual([]);
		expect(world.isBanned("zoe")).toBe(false);
	});
	if (kind !== "SQLite") return;

	// What Discord answers is the same to either.
	test("a ban that somebody made anew by hand is not lifted", async () => {
		const place = await databases.place();
		await using world = await startModerationWorld(place);
		const mona = world.id("mona_lisa");
		await world.ask(moderator, `!m ban ${mona} 1d`);
		await world.stop();
		const { world: discord } = world.simulator;
		const ban = world.guild.bans.get(mona);
		if (!ban) throw new Error("mona_lisa is banned");
		discord.bans.remove(world.guild, ban);
		discord.bans.add(world.guild, ban.user);
		await place.look(pass(48 * hourMs));
		await world.start();
		await until(
			"its row is gone",
			async () =>
				(await place.look("SELECT user_id FROM temp_bans")).length === 0,
		);
		expect(world.isBanned("mona_lisa")).toBe(true);
		expect(banWrites(world)).toEqual(["PUT"]);
	});

	test.each([
		["before", "refused", 0],
		["after", "carried out", 1],
	] as const)(
		"a ban whose request is cut off %s it is %s is noted, and seen through once",
		async (when) => {
			const place = await databases.place();
			await using world = await startModerationWorld(place);
			const { faults } = world.simulator;
			// Bun sends a PUT that is dropped no second time: the bot has it so.
			faults.drop("PUT /guilds/:guild_id/bans/:user_id", { when, times: 1 });
			const mona = world.id("mona_lisa");
			expect(await world.ask(moderator, `!m ban ${mona} 1d why`)).toBe(
				"Discord did not confirm the ban. The bot will check, and complete it if necessary.",
			);
			await until("they are banned", () => world.isBanned("mona_lisa"));
			await until(
				"it is noted",
				async () =>
					(
						await place.look<{ state: string }>("SELECT state FROM temp_bans")
					)[0]?.state === "banned",
			);
			expect(banWrites(world)).toEqual(["PUT"]);
			const notes = await world.noted(1);
			expect(notes.map(({ title }) => title)).toEqual(["Ban"]);
		},
	);

	test("a ban that Discord refuses leaves nothing behind", async () => {
		const place = await databases.place();
		await using world = await startModerationWorld(place);
		world.simulator.faults.refuse(
			"PUT /guilds/:guild_id/bans/:user_id",
			50013,
			{ times: 1 },
		);
		const answer = await world.ask(moderator, `!m ban ${world.id("zoe")} 1d`);
		expect(answer).toContain("Missing Permissions (code 50013)");
		expect(answer).toEndWith("Nothing was done.");
		expect(await place.look("SELECT user_id FROM temp_bans")).toEqual([]);
		expect(world.isBanned("zoe")).toBe(false);
	});
});

describe("who may", () => {
	const shared = oneWorld();

	test("help shows the owner all, a moderator theirs, and a newcomer what is for everyone", async () => {
		const world = shared();
		const shown = async (person: string) =>
			(await world.ask(person, "!m help"))
				.split("\n")
				.map((line) => /^`!m (\w+)/.exec(line)?.[1]);
		const all = ["help", "ban", "unban", "banlist", "nuke", "setlog"];
		expect(await shown("ada")).toEqual(all);
		expect(await shown(moderator)).toEqual(
			all.filter((name) => name !== "setlog"),
		);
		expect(await shown("zoe")).toEqual(["help"]);
	});

	test.each([
		["ban", "Ban Members", ""],
		["unban", "Ban Members", ""],
		["banlist", "Ban Members", ""],
		["nuke", "Manage Messages", " in this channel"],
		["setlog", "Manage Server", ""],
	])("%s needs %s", async (name, permission, where) => {
		const world = shared();
		const answer = await world.ask(
			"mona_lisa",
			`!m ${name} ${world.id("ada")} 1d`,
		);
		expect(answer).toBe(`You need ${permission}${where} to use \`${name}\`.`);
		expect(banWrites(world)).toEqual([]);
	});

	test("nobody bans themselves, the owner, the bot, or whoever does not rank below them", async () => {
		await using world = await startModerationWorld();
		const { simulator, guild } = world;
		const staff = roleNamed(guild, "Staff");
		const ban = (person: string) =>
			world.ask(moderator, `!m ban ${world.id(person)} 1h`);
		expect(await ban(moderator)).toBe("You can't ban yourself.");
		expect(await ban("ada")).toContain("You can't ban the server owner");
		expect(
			await world.ask(moderator, `!m ban ${simulator.bot("alpha").id} 1h`),
		).toBe("I can't ban myself.");
		const zoe = guild.members.get(world.id("zoe"));
		if (!zoe) throw new Error("zoe is a member");
		simulator.world.members.edit(guild, zoe, { roles: [staff.id] });
		expect(await ban("zoe")).toContain(
			"You can only ban members ranked below you",
		);
		// The owner ranks above all.
		expect(await world.ask("ada", `!m ban ${world.id("zoe")} 1h`)).toStartWith(
			"Banned",
		);
		expect(banWrites(world)).toEqual(["PUT"]);
	});

	test("the bot itself has to be allowed, and to rank above", async () => {
		await using world = await startModerationWorld();
		const { simulator, guild } = world;
		const high = simulator.world.roles.add(guild, { name: "High" });
		const top = Math.max(
			...[...guild.roles.values()].map((one) => one.position),
		);
		simulator.world.roles.move(guild, new Map([[high, top]]));
		const zoe = guild.members.get(world.id("zoe"));
		if (!zoe) throw new Error("zoe is a member");
		simulator.world.members.edit(guild, zoe, { roles: [high.id] });
		const zoeId = world.id("zoe");
		expect(await world.ask("ada", `!m ban ${zoeId} 1h`)).toContain(
			"does not rank below the bot",
		);
		const own = [...guild.roles.values()].find(({ managed }) => managed);
		if (!own) throw new Error("the bot has a role");
		simulator.world.roles.edit(guild, own, { permissions: "0" });
		expect(
			await until("the bot has heard of it", async () => {
				const answer = await world.ask(
					"ada",
					`!m ban ${world.id("mona_lisa")} 1h`,
				);
				return answer.includes("The bot lacks BAN_MEMBERS") && answer;
			}),
		).toContain("Nothing was done.");
		expect(banWrites(world)).toEqual([]);
	});

	test("a channel that the moderator cannot see is none to log in", async () => {
		await using world = await startModerationWorld();
		const { simulator, guild } = world;
		const role = simulator.world.roles.add(guild, {
			name: "Manager",
			permissions: String(PermissionFlagsBits.ManageGuild),
		});
		const zoe = guild.members.get(world.id("zoe"));
		if (!zoe) throw new Error("zoe is a member");
		simulator.world.members.edit(guild, zoe, { roles: [role.id] });
		const { id } = simulator.channel(staffChannel);
		expect(await world.ask("zoe", `!m setlog <#${id}>`)).toContain(
			"a text channel of this server that you can see",
		);
		const other = simulator.channel("The Bakers/general").id;
		expect(await world.ask("ada", `!m setlog <#${other}>`)).toContain(
			"a text channel of this server",
		);
	});
});

describe("what people write", () => {
	const shared = oneWorld();

	test("a hostile reason ends up on one line, cut to what Discord takes, and pings nobody", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		const mona = world.id("mona_lisa");
		const hostile = `@everyone <@${mona}>\n\u202eevil\0 [x](http://x) ${"ü".repeat(1_800)}`;
		await world.ask(moderator, `!m ban ${mona} 1h ${hostile}`);
		const reason = world.guild.bans.get(mona)?.reason ?? "";
		expect(reason).toEndWith("ü…");
		expect(encodeURIComponent(reason).length).toBeLessThanOrEqual(512);
		expect(encodeURIComponent(reason).length).toBeGreaterThan(500);
		expect(reason).toContain("\\n\\u{202e}evil");
		const [note] = await world.noted(1);
		expect(note?.Reason?.length).toBeLessThanOrEqual(1_024);
		expect(note?.Reason).toContain(`\\<@${mona}>`);
		expect(note?.Reason).not.toMatch(/[\n\u202e\0]/);
		const list = await world.ask(moderator, "!m banlist");
		expect(list.split("\n")).toHaveLength(2);
		for (const { content, mentions, mention_everyone } of [
			...world.answers(),
			...world.answers(staffChannel),
		])
			expect({ content, mentions, mention_everyone }).toEqual({
				...{ content, mentions: [], mention_everyone: false },
			});
		for (const { body, actor } of simulator.journal.entries(
			"POST /channels/:channel_id/messages",
		))
			if (actor === simulator.bot("alpha").id)
				expect(body).toMatchObject({ allowed_mentions: { parse: [] } });
		expect(world.logged.join("\n")).not.toContain("evil");
	});

	test.each([
		"!m ban",
		"!m ban @mona 1h",
		"!m ban 123 1h",
		"!m ban <@MONA>",
		"!m ban <@MONA> rude",
		"!m ban <@MONA> 0m",
		"!m ban <@MONA> -1h",
		"!m ban <@MONA> 6000000m",
		"!m ban <@MONA> 30s",
		"!m ban <@MONA>1h",
		"!m ban <#MONA> 1h",
	])("%j is answered with how to write it", async (text) => {
		const world = shared();
		const answer = await world.ask(
			moderator,
			text.replace("MONA", world.id("mona_lisa")),
		);
		expect(answer).toStartWith("Write `!m ban @user <duration> [reason]`:");
		expect(banWrites(world)).toEqual([]);
	});

	test("an account that Discord does not have is not banned", async () => {
		const world = shared();
		expect(
			await world.ask(moderator, "!m ban 123456789012345678 1h"),
		).toContain("Unknown User");
		expect(await world.ask(moderator, "!m unban 123456789012345678")).toBe(
			"<@123456789012345678> (ID: 123456789012345678) is not banned.",
		);
	});

	test("a ban is lifted by id and by mention, and told of", async () => {
		await using world = await startModerationWorld();
		const mona = world.id("mona_lisa");
		for (const whom of [mona, `<@${mona}>`]) {
			await world.ask(moderator, `!m ban ${mona} 1h`);
			expect(await world.ask(moderator, `!m unban ${whom} sorry`)).toBe(
				`Unbanned <@${mona}> (ID: ${mona}).`,
			);
		}
		expect(world.isBanned("mona_lisa")).toBe(false);
		expect((await world.noted(4))[3]).toMatchObject({
			title: "Unban",
			Reason: "sorry",
		});
		expect(await world.ask("ada", "!m banlist")).toBe(
			"There are no temporary bans.",
		);
	});

	test("the list of bans comes in pages", async () => {
		await using world = await startModerationWorld();
		const { simulator, guild } = world;
		simulator.world.members.addMany(guild, 12);
		const crowd = [...guild.members.values()].slice(-12);
		const people = crowd.map(({ user }) => user.id);
		for (const [index, id] of people.entries())
			await world.ask(moderator, `!m ban ${id} ${index + 1}h`);
		const first = await world.ask(moderator, "!m banlist");
		expect(first.split("\n")).toHaveLength(12);
		expect(first).toEndWith("More: `!m banlist 2`");
		const second = await world.ask(moderator, "!m banlist 2");
		const [, ...lines] = second.split("\n");
		expect(lines.map((line) => line.slice(2, line.indexOf(">")))).toEqual(
			people.slice(10),
		);
		expect(await world.ask(moderator, "!m banlist 3")).toBe(
			"Page 3 does not exist: there are 12 temporary ban(s) on 2 page(s).",
		);
	});
});

describe("nuke", () => {
	const shared = oneWorld();

	const texts = (world: ModerationWorld) =>
		world.simulator.world.messages
			.in(world.simulator.channel(general).id)
			.map(({ content }) => content);

	const deletions = ({ simulator }: ModerationWorld) =>
		simulator.journal
			.entries()
			.filter(({ route }) => /^DELETE|bulk-delete/.test(route));

	test("takes that many of the latest messages before it, itself, and then its notice", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		for (const text of ["one", "two", "three"])
			await simulator.user("zoe").say(general, text);
		expect(await world.ask(moderator, "!m nuke 2")).toBe(
			"Deleted 2 message(s).",
		);
		expect(texts(world)).toEqual(["one", "Deleted 2 message(s)."]);
		const [note] = await world.noted(1);
		const { id } = simulator.channel(general);
		expect(note).toMatchObject({
			title: "Nuke",
			description: `2 message(s) deleted in <#${id}> (ID: ${id}).`,
			Moderator: expect.stringContaining(world.id(moderator)),
		});
		await until("the notice is gone", () => texts(world).length === 1);
	});

	test("a notice that stands goes when the bot ends", async () => {
		await using world = await startModerationWorld();
		await world.simulator.user("zoe").say(general, "one");
		await world.ask(moderator, "!m nuke 1");
		await world.stop();
		expect(texts(world)).toEqual([]);
	});

	test("where the bot may not write, it deletes, says nothing there, and asks nothing that Discord would refuse", async () => {
		await using world = await startModerationWorld();
		const { simulator, guild } = world;
		const { id } = simulator.channel(general);
		const channel = guild.channels.get(id);
		if (!channel) throw new Error("the guild has the channel");
		simulator.world.channels.setOverwrite(channel, {
			...{ id: simulator.bot("alpha").id, type: 1, allow: "0" },
			deny: String(PermissionFlagsBits.SendMessages),
		});
		for (const text of ["one", "two", "!m nuke 1"])
			await simulator.user(moderator).say(general, text);
		const [note] = await world.noted(1);
		expect(note?.description).toStartWith("1 message(s) deleted in ");
		const line = await until("the log says so", () =>
			world.logged.find((line) => line.includes("nuke confirmation not sent")),
		);
		expect(line).toContain("the bot lacks SEND_MESSAGES there");
		expect(texts(world)).toEqual(["one"]);
		const sent = simulator.journal
			.entries("POST /channels/:channel_id/messages")
			.filter(({ actor }) => actor === simulator.bot("alpha").id);
		expect(sent).toHaveLength(1);
	});

	test.each(["", "0", "101", "-1", "1.5", "all", "1 2", "1e2"])(
		"%j is no number of messages",
		async (count) => {
			const world = shared();
			expect(await world.ask(moderator, `!m nuke ${count}`)).toStartWith(
				"Write `!m nuke <1-100>`",
			);
			expect(deletions(world)).toEqual([]);
		},
	);

	test("a hundred go with the command, and what is over 14 days old stays", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		const { channel } = simulator.channel(general);
		const zoe = simulator.world.users.get(world.id("zoe"));
		if (!zoe) throw new Error("zoe has an account");
		const idAt = (days: number) =>
			String(
				(BigInt(Date.now() - days * 24 * hourMs) - 1_420_070_400_000n) << 22n,
			);
		simulator.world.messages.add(channel, zoe, {
			id: idAt(15),
			content: "old",
		});
		for (let index = 0; index < 100; index++)
			simulator.world.messages.add(channel, zoe, { content: `new ${index}` });
		expect(await world.ask(moderator, "!m nuke 100")).toBe(
			"Deleted 100 message(s).",
		);
		expect(texts(world)).toEqual(["old", "Deleted 100 message(s)."]);
		await simulator.user(moderator).say(general, "!m nuke 5");
		// The notice that stands goes with it.
		const said =
			"Deleted 1 message(s). Kept 1: Discord does not bulk-delete messages older than 14 days.";
		await until("it is answered", () => texts(world).includes(said));
		expect(texts(world)).toEqual(["old", said]);
	});
});

describe("a flood", () => {
	test("five within ten seconds are answered; that it is too much is said once, and others are heard", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		for (let index = 0; index < 40; index++)
			await simulator.user("zoe").say(general, "!m help");
		expect(await world.ask("mona_lisa", "!m help")).toStartWith("`!m help`");
		await until("all are answered", () => world.answers().length >= 7);
		const [slow, ...more] = world
			.answers()
			.filter(({ content }) => content.startsWith("That was"));
		expect(slow?.content).toMatch(
			/^That was 5 commands within 10 seconds\. Try again in \d+ s\.$/,
		);
		expect(more).toEqual([]);
		expect(world.answers()).toHaveLength(7);
	});

	test("a moderator acts thirty times a minute, mistakes not counted, is told once that it is too much, and may still look", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		const zoe = world.id("zoe");
		for (const mistake of [
			"ban",
			`ban ${zoe}`,
			"ban zoe 1h",
			`ban ${world.id(moderator)} 1h`,
			"unban",
			`unban ${zoe}`,
			"nuke all",
			"banlist none",
		])
			expect(await world.ask(moderator, `!m ${mistake}`)).not.toStartWith(
				"That was",
			);
		const answered = world.answers().length;
		for (let index = 0; index < 35; index++)
			await simulator.user(moderator).say(general, `!m ban ${zoe} 1h`);
		await until(
			"all are answered",
			() => world.answers().length === answered + 31,
		);
		expect(await world.ask(moderator, "!m banlist")).toContain(zoe);
		const [slow, ...more] = world
			.answers()
			.filter(({ content }) => content.startsWith("That was"));
		expect(slow?.content).toMatch(
			/^That was 30 commands within 60 seconds\. Try again in \d+ s\.$/,
		);
		expect(more).toEqual([]);
	});

	test("whose mistakes are too many is told so once, and still obeyed", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		for (let index = 0; index < 40; index++)
			await simulator.user(moderator).say(general, "!m ban zoe");
		await until("all are answered", () => world.answers().length === 31);
		expect(
			await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`),
		).toStartWith("Banned ");
		expect(
			world.answers().filter(({ content }) => content.startsWith("That was")),
		).toHaveLength(1);
	});

	test("whoever lacks the permission is answered five times, and takes nothing from those who have it", async () => {
		await using world = await startModerationWorld();
		const { simulator } = world;
		for (let index = 0; index < 40; index++)
			await simulator.user("zoe").say(general, "!m nuke 1");
		await until("all are answered", () => world.answers().length >= 6);
		expect(await world.ask(moderator, "!m banlist")).toBe(
			"There are no temporary bans.",
		);
		expect(world.answers().map(({ content }) => content.slice(0, 6))).toEqual([
			...Array(5).fill("You ne"),
			"That w",
			"There ",
		]);
	});
});

/** A bot for the tests of a group that leave all as it was. */
function oneWorld(): () => ModerationWorld {
	let world: ModerationWorld;
	beforeAll(async () => {
		world = await startModerationWorld();
	});
	afterAll(() => world[Symbol.asyncDispose]());
	return () => world;
}

function roleNamed(guild: Guild, name: string) {
	for (const role of guild.roles.values()) if (role.name === name) return role;
	throw new Error(`no role is called ${name}`);
}
