// All features of one bot in two guilds at once, each with its own settings.

import { expect, spyOn } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { Guild, User } from "../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { memberOverwrite, roleOverwrite, startWorld, userNamed } from "../../support/world.ts";

const channelNames = ["hello", "log", "reports", "honeypot"] as const;

/** A guild with what the settings name. The second bot's guild has other values for all of them. */
function prepare(world: Awaited<ReturnType<typeof startWorld>>, guild: Guild) {
	const { channels, roles, messages, members, users } = world.simulator.world;
	const alpha = world.simulator.bot("alpha").id;
	const { ViewChannel } = PermissionFlagsBits;
	const hidden = [roleOverwrite(guild.id, { deny: ViewChannel }), memberOverwrite(alpha, { allow: ViewChannel })];
	const add = (name: (typeof channelNames)[number]) => {
		const permission_overwrites = name === "reports" || name === "log" ? hidden : [];
		return channels.add(guild, { name, permission_overwrites }).id;
	};
	const ids = { hello: add("hello"), log: add("log"), reports: add("reports"), honeypot: add("honeypot") };
	const [newcomer, active] = ["Just arrived", "Has written"].map((name) => roles.add(guild, { name }).id);
	if (!newcomer || !active) throw new Error("both were made");
	return {
		guild,
		ids: { ...ids, newcomer, active },
		join(username: string): User {
			const user = users.addPerson({ username }).user;
			members.add(guild, user);
			return user;
		},
		write: (user: User, channel: "hello" | "honeypot", content: string) => {
			const found = guild.channels.get(ids[channel]);
			if (found) messages.add(found, user, { content });
		},
		said: (channel: (typeof channelNames)[number]) =>
			messages
				.in(ids[channel])
				.filter(({ author }) => author.id === alpha)
				.map((message) => JSON.stringify([message.content, message.embeds])),
		rolesOf: ({ id }: User) => guild.members.get(id)?.roles ?? [],
		isTimedOut: ({ id }: User) => Boolean(guild.members.get(id)?.communication_disabled_until),
	};
}

const twoGuildsTest = testWith(async () => {
	const intervals = spyOn(globalThis, "setInterval");
	const world = await startWorld({}, { toml: { commands: "guild" } });
	const { guilds, members } = world.simulator.world;
	const bakers = guilds.add({ name: "Bakers", owner: userNamed(world, "ada") });
	members.add(bakers, userNamed(world, "alpha"), { botPermissions: PermissionFlagsBits.Administrator });
	await world.heard();
	const [one, other] = [prepare(world, world.guild), prepare(world, bakers)];
	await world.heard();
	const set = async ({ guild, ids }: typeof one, greeting: string, more: object) => {
		const settings = {
			"welcome.channel": ids.hello,
			"welcome.message": greeting,
			"join_role.role": ids.newcomer,
			"auto_role.from_role": ids.newcomer,
			"auto_role.to_role": ids.active,
			"moderation.log_channel": ids.log,
			"moderation.reports": ids.reports,
			"moderation.tell": [],
			"spam.on": true,
			"spam.honeypots": [ids.honeypot],
			...more,
		};
		const { text, isError } = await world.call("set_settings", { guild_id: guild.id, settings });
		if (isError) throw new Error(text);
	};
	await set(one, "Hello {user}", { "auto_role.min_messages": 1, "moderation.raid": "4 joins in 10m" });
	await set(other, "Moin {user}", {
		"auto_role.min_messages": 3,
		"moderation.escalate": ["1 warnings in 30d: timeout 1h"],
	});
	return {
		world,
		one,
		other,
		/** What runs every minute runs now. */
		passMinute() {
			for (const [run, ms] of intervals.mock.calls) if (ms === 60_000) run();
		},
		[Symbol.asyncDispose]() {
			intervals.mockRestore();
			return world[Symbol.asyncDispose]();
		},
	};
});

twoGuildsTest(
	"every feature works in each guild with that guild's settings",
	async ({ world, one, other, passMinute }) => {
		const { simulator } = world;
		const [nora, otto] = [one.join("nora"), other.join("otto")];
		await until("both are greeted", () => one.said("hello").length > 0 && other.said("hello").length > 0);
		expect(one.said("hello").join()).toContain(`Hello <@${nora.id}>`);
		expect(other.said("hello").join()).toContain(`Moin <@${otto.id}>`);
		const newcomers = () =>
			one.rolesOf(nora).includes(one.ids.newcomer) && other.rolesOf(otto).includes(other.ids.newcomer);
		await until("both have the role of those who join", newcomers);

		one.write(nora, "hello", "first words");
		other.write(otto, "hello", "first words");
		await world.heard();
		passMinute();
		await until("one message is enough in one of them", () => one.rolesOf(nora).includes(one.ids.active));
		expect(one.rolesOf(nora)).toEqual([one.ids.active]);
		expect(other.rolesOf(otto)).toEqual([other.ids.newcomer]);
		for (const text of ["second words", "third words"]) other.write(otto, "hello", text);
		await world.heard();
		passMinute();
		await until("three are in the other", () => other.rolesOf(otto).includes(other.ids.active));

		const [mara, oskar] = [one.join("mara"), other.join("oskar")];
		one.write(mara, "honeypot", "free skins");
		other.write(oskar, "honeypot", "free skins");
		await until("both are timed out", () => one.isTimedOut(mara) && other.isTimedOut(oskar));
		await until("both are logged", () => one.said("log").length > 0 && other.said("log").length > 0);
		expect(one.said("log").join()).not.toContain(oskar.id);
		expect(other.said("log").join()).not.toContain(mara.id);

		const warn = (guild: Guild, { id }: User) =>
			world.call("warn_member", { guild_id: guild.id, user_ids: [id], reason: "noise" });
		expect(await warn(one.guild, nora)).toMatchObject({ isError: false });
		expect(await warn(other.guild, otto)).toMatchObject({ isError: false });
		await until("the rule of the other guild applies", () => other.isTimedOut(otto));
		await until("the warning is logged", () => one.said("log").join().includes(nora.id));
		expect(one.isTimedOut(nora)).toBe(false);
		expect(other.said("log").join()).not.toContain(nora.id);

		const report = async (place: typeof one, { id }: User) => {
			const used = await simulator.user("ada").run(`${place.guild.name}/hello`, "report", { user: id, reason: "rude" });
			await used.reply();
		};
		await report(one, nora);
		await report(other, otto);
		await until("staff have both", () => one.said("reports").length === 1 && other.said("reports").length === 1);
		expect(one.said("reports")[0]).toContain(nora.id);
		expect(other.said("reports")[0]).toContain(otto.id);

		const [before, quiet] = [one.said("log").length, other.said("log").length];
		for (const name of ["r1", "r2", "r3", "r4"]) {
			one.join(`one_${name}`);
			other.join(`other_${name}`);
		}
		await until("raid mode is suggested", () => one.said("log").length > before);
		await world.heard();
		expect(other.said("log")).toHaveLength(quiet);
	},
);
