// Mass deletions: what counts as one, and what the bot does then, with the real connection and store.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { Backups } from "../../../src/bot/guild-documents/backups/backups.ts";
import { DeletionWatch, type DeletionWatchOptions } from "../../../src/bot/guild-documents/backups/deletion-watch.ts";
import { markedReason } from "../../../src/bot/guild-documents/jobs/made-things.ts";
import { noticeOf } from "../../../src/bot/moderation/night/notice.ts";
import { saveGuildBackup, selectGuildBackups } from "../../../src/bot/store/tables/guild-backups.ts";
import { incidentRows } from "../../../src/bot/store/tables/incidents.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { sayIn } from "../../../src/texts/texts.ts";
import { onBoth, type Place } from "../../support/stores.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { memberNamed } from "../../support/world.ts";
import { startFeature } from "../features/running-feature.ts";

const watchTest = testWith(startWatch);

interface Setup {
	place?: Pick<Place, "settings">;
	options?: Partial<DeletionWatchOptions>;
	prepare?(simulator: Simulator): void;
	/** Of the server in which notices are posted. */
	locale?: string;
	/** Called before the bot posts a notice. */
	beforeNotice?(): Promise<void>;
}

/** A bot that notices three deletions within a minute. */
async function startWatch(setup: Setup = {}) {
	const clock = { now: 0 };
	const notices: string[] = [];
	/** Channels and roles to delete. */
	const channels: string[] = [];
	const roles: string[] = [];
	const bot = await startFeature({
		...(setup.place && { place: setup.place }),
		prepare(simulator) {
			const guild = simulator.guild("The Cooks");
			const { world } = simulator;
			for (let number = 0; number < 20; number += 1) {
				channels.push(world.channels.add(guild, { name: `c${number}` }).id);
				roles.push(world.roles.add(guild, { name: `r${number}` }).id);
			}
			setup.prepare?.(simulator);
		},
		create({ connection, store, log }) {
			const backups = new Backups({
				settings: undefined,
				guilds: undefined,
				connection,
				store,
				pictures: { hashesOf: async () => ({ hashes: new Map() }) },
				log,
			});
			return new DeletionWatch({
				settings: { deletions: 3, windowMs: 60_000 },
				guilds: undefined,
				connection,
				backups,
				store,
				async notify(...given) {
					await setup.beforeNotice?.();
					notices.push(noticeOf(...given)(sayIn(setup.locale)).embeds[0].data.description ?? "");
				},
				log,
				monotonicNow: () => clock.now,
				backOffMs: [1, 5],
				maxSleepMs: 5,
				settleMs: 0,
				...setup.options,
			});
		},
	});
	const { world } = bot.simulator;
	const guild_id = bot.guild.id;
	const by = (username: string, reason?: string) => ({
		actor: bot.simulator.user(username).id,
		...(reason !== undefined && { reason }),
	});
	const removeChannel = (attribution: ReturnType<typeof by>) => {
		const id = channels.shift() ?? "";
		const channel = bot.guild.channels.get(id);
		if (channel) world.channels.remove(channel, attribution);
		return id;
	};
	const removeRole = (attribution: ReturnType<typeof by>) => {
		const id = roles.shift() ?? "";
		const role = bot.guild.roles.get(id);
		if (role) world.roles.remove(bot.guild, role, attribution);
		return id;
	};
	return {
		bot,
		clock,
		notices,
		channels,
		roles,
		by,
		removeChannel,
		removeRole,
		/** Resolves when the bot has received all events so far, which arrive in order. */
		async heard() {
			const { name } = bot.guild;
			const next = `${name}!`;
			world.guilds.edit(bot.guild, { name: next });
			await until("the bot has heard", () => bot.connection.guilds.some((one) => one.name === next));
		},
		/** Stores a backup that has these channels and roles. */
		backUp: (ids: readonly string[]) =>
			saveGuildBackup(
				bot.store,
				{
					guild_id,
					made_at: 1_790_000_000_000,
					guild_name: "The Cooks",
					length: 2,
					sha256: ids.join(),
					channels: 1,
					roles: 1,
					omitted: "",
					pictures: [],
					document: JSON.stringify({ roles: ids.map((id) => ({ id })) }),
				},
				{ keep: 10, keepReason: () => undefined },
			),
		kept: async () =>
			(await selectGuildBackups(bot.store.sql, guild_id))
				.filter(({ kept_at }) => kept_at !== null)
				.map(({ number }) => number),
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
}

watchTest("a mass deletion keeps the newest backup from before, and is announced once", async (world) => {
	const { channels, roles, notices } = world;
	await world.backUp(["1"]);
	await world.backUp([...channels, ...roles]);
	await world.backUp([...channels, ...roles, "2"]);
	// Made in the middle of the mass deletion.
	await world.backUp([...channels.slice(1), ...roles]);
	world.removeChannel(world.by("zoe"));
	world.removeRole(world.by("zoe"));
	await world.heard();
	expect(notices).toEqual([]);
	world.removeChannel(world.by("zoe"));
	await until("it is announced", () => notices.length === 1);
	const { id } = world.bot.simulator.user("zoe");
	expect(notices[0]).toMatch(
		new RegExp(`^In The Cooks!?, <@${id}> deleted 3 channels or roles from <t:\\d+:T> to <t:\\d+:T>: #c0, @r0, #c1.\n`),
	);
	expect(notices[0]).toContain("Backup 3 of <t:1790000000:f> has");
	expect(notices[0]).toContain(`plan_guild with guild_id = "${world.bot.guild.id}" and backup = "3"`);
	expect(await world.kept()).toEqual([3]);
	for (let times = 0; times < 10; times += 1) world.removeChannel(world.by("zoe"));
	await world.heard();
	await until("the notice is recorded", async () => {
		const due = await incidentRows.all(world.bot.store.sql, { told: 0 });
		return due.length === 0;
	});
	expect(notices).toHaveLength(1);
	expect(world.bot.logged.lines.join("\n")).toContain("noticed a mass deletion of channels or roles");
});

watchTest("in a German server the notice is German", { locale: "de" }, async (world) => {
	await world.backUp([...world.channels, ...world.roles]);
	for (let times = 0; times < 3; times += 1) world.removeChannel(world.by("zoe"));
	await until("it is announced", () => world.notices.length === 1);
	expect(world.notices[0]).toStartWith(`The Cooks: <@${world.bot.simulator.user("zoe").id}> hat von <t:`);
	expect(world.notices[0]).toContain(
		"3 Kanäle oder Rollen gelöscht: #c0, #c1, #c2.\nBackup 1 vom <t:1790000000:f> enthält, was gelöscht wurde",
	);
});

watchTest(
	"the notice has the right number and names, without what people could write into them",
	{ options: { settleMs: 3_000 } },
	async (world) => {
		const { bot, clock, notices } = world;
		const { channels: state } = bot.simulator.world;
		state.remove(state.add(bot.guild, { name: "**@everyone**" }), world.by("zoe"));
		for (let number = 0; number < 11; number += 1) world.removeChannel(world.by("zoe"));
		await world.heard();
		clock.now += 2_999;
		await world.heard();
		expect(notices).toEqual([]);
		clock.now += 1;
		await until("it is announced", () => notices.length === 1);
		expect(notices[0]).toContain(" deleted 12 channels or roles from <t:");
		expect(notices[0]).toContain(": #\\*\\*@everyone\\*\\*, #c0, #c1, #c2, #c3, #c4, #c5, #c6, #c7, #c8 and 2 more.");
	},
);

watchTest("deletions by several people are counted for each", async (world) => {
	for (const name of ["zoe", "ada", "zoe", "ada"]) world.removeChannel(world.by(name));
	await world.heard();
	expect(world.notices).toEqual([]);
	world.removeRole(world.by("ada"));
	await until("it is announced", () => world.notices.length === 1);
	expect(world.notices[0]).toContain(`<@${world.bot.simulator.user("ada").id}>`);
	expect(world.notices[0]).toContain("There is no backup from before.");
});

watchTest("the bot's own deletions count, except those of a plan", async (world) => {
	for (let times = 0; times < 5; times += 1)
		world.removeChannel(world.by("alpha", markedReason("job", "mark", "apply_guild")));
	await world.heard();
	expect(world.notices).toEqual([]);
	// Others cannot pretend to be a plan.
	for (let times = 0; times < 3; times += 1)
		world.removeChannel(world.by("zoe", markedReason("job", "mark", "apply_guild")));
	await until("it is announced", () => world.notices.length === 1);
	for (let times = 0; times < 3; times += 1) world.removeChannel(world.by("alpha", "delete_channel"));
	await until("it is announced", () => world.notices.length === 2);
	expect(world.notices[1]).toContain(`<@${world.bot.simulator.user("alpha").id}>`);
});

/** Takes all permissions from the bot except to view channels. */
function withoutAuditLog({ world, guild }: Simulator): void {
	const cooks = guild("The Cooks");
	const member = memberNamed({ guild: cooks }, "alpha");
	for (const id of [cooks.id, ...member.roles]) {
		const role = cooks.roles.get(id);
		const permissions = String(PermissionFlagsBits.ViewChannel);
		if (role) world.roles.edit(cooks, role, { permissions });
	}
}

test("without the audit log all deletions within the window count together", async () => {
	await using world = await startWatch({ prepare: withoutAuditLog });
	const { clock, notices } = world;
	for (const name of ["zoe", "ada", "zoe", "ada", "zoe", "ada"]) {
		world.removeChannel(world.by(name));
		await world.heard();
		clock.now += 30_000;
	}
	expect(notices).toEqual([]);
	world.removeRole(world.by("ada"));
	world.removeRole(world.by("zoe"));
	await until("it is announced", () => notices.length === 1);
	expect(notices[0]).toContain("someone (the bot may not view the audit log) deleted");
	// It is one mass deletion until nothing is deleted for a minute.
	clock.now += 50_000;
	for (let times = 0; times < 3; times += 1) world.removeChannel(world.by("zoe"));
	await world.heard();
	expect(notices).toHaveLength(1);
	clock.now += 60_000;
	for (let times = 0; times < 3; times += 1) world.removeRole(world.by("zoe"));
	await until("it is announced", () => notices.length === 2);
});

test("guilds that the bot does not serve are not watched", async () => {
	await using world = await startWatch({ options: { guilds: new Set(["123456789012345678"]) } });
	for (let times = 0; times < 5; times += 1) world.removeChannel(world.by("zoe"));
	await world.heard();
	expect(world.notices).toEqual([]);
	expect(world.bot.logged.lines.join("\n")).not.toContain("mass deletion");
});

test.each([false, true])(
	"without the database the operators are told at once, and the backup is kept later; with the rule: %p",
	async (isOn) => {
		let isAway = true;
		let acts = 0;
		await using world = await startWatch({
			options: {
				night: {
					loaded: Promise.resolve(),
					isOn: () => isOn,
					onSwitchedOn() {},
					async act() {
						acts += 1;
						return [];
					},
				},
				backups: {
					async keepBefore(...args) {
						if (isAway) throw new StoreUnavailable("it is away");
						kept.push(args);
						return undefined;
					},
				},
			},
		});
		const kept: unknown[] = [];
		for (let times = 0; times < 3; times += 1) world.removeChannel(world.by("zoe"));
		await until("it is announced", () => world.notices.length === 1);
		expect(world.notices[0]).toContain("The bot's database is unavailable");
		isAway = false;
		await until("it is kept", () => kept.length === 1);
		expect(kept[0]).toMatchObject([world.bot.guild.id, expect.any(Array), expect.any(String)]);
		await world.heard();
		if (isOn) await until("the rule acts, and staff are told", () => acts === 1 && world.notices.length === 2);
		await world.heard();
		expect([acts, world.notices.length]).toEqual(isOn ? [1, 2] : [0, 1]);
	},
);

onBoth((databases) => {
	/** Resolves when the bot has looked at the audit log of before its start. */
	const checked = ({ bot }: Awaited<ReturnType<typeof startWatch>>) =>
		until("the audit log was checked", async () => {
			const { sql } = bot.store;
			const marks = await sql`SELECT entry_id FROM audit_log_marks WHERE wanted = 'deletions'`;
			return marks.length === 1;
		});

	test("a mass deletion while the bot is offline is announced when it is back, once", async () => {
		await using world = await startWatch({
			place: await databases.place(),
			prepare({ world, guild, user }) {
				const cooks = guild("The Cooks");
				// Before the bot watched this guild for the first time.
				for (let number = 0; number < 5; number += 1) {
					const role = world.roles.add(cooks, { name: `old-${number}` });
					world.roles.remove(cooks, role, { actor: user("zoe").id });
				}
			},
		});
		const { bot, channels, roles, notices } = world;
		await checked(world);
		await world.backUp([...channels, ...roles]);
		await bot.stop();
		world.removeChannel(world.by("zoe"));
		world.removeRole(world.by("zoe"));
		world.removeChannel(world.by("zoe"));
		await bot.start();
		await until("it is announced", () => notices.length === 1);
		expect(notices[0]).toContain(`<@${world.bot.simulator.user("zoe").id}>`);
		expect(notices[0]).toContain("Backup 1 of");
		expect(await world.kept()).toEqual([1]);
		// The same mass deletion goes on.
		world.removeChannel(world.by("zoe"));
		const [last] = bot.guild.auditLog.slice(-1);
		await until("that is recorded", async () => {
			const { sql } = bot.store;
			const [mark] = await sql<{ entry_id: string }>`
				SELECT entry_id FROM audit_log_marks WHERE wanted = 'deletions'`;
			return mark?.entry_id === last?.id;
		});
		for (const how of ["stop", "kill"] as const) {
			await bot[how]();
			await bot.start();
			await world.heard();
		}
		expect(notices).toHaveLength(1);
	});

	test("a bot that is killed before it keeps the backup finds the mass deletion again", async () => {
		const never = new Promise<never>(() => {});
		let keeps = 0;
		await using world = await startWatch({
			place: await databases.place(),
			options: {
				backups: {
					keepBefore: async () => {
						keeps += 1;
						return keeps === 1 ? never : undefined;
					},
				},
			},
		});
		const { bot, notices } = world;
		await checked(world);
		for (let times = 0; times < 5; times += 1) world.removeChannel(world.by("zoe"));
		await until("the backup is looked for", () => keeps === 1);
		await world.heard();
		await bot.kill();
		expect(notices).toEqual([]);
		await bot.start();
		await until("it is announced", () => notices.length === 1);
		expect(keeps).toBe(2);
		expect(notices[0]).toContain(`<@${world.bot.simulator.user("zoe").id}>`);
	});

	test("a bot that is killed before the notice posts it when it is back", async () => {
		const never = new Promise<never>(() => {});
		let isKilled = false;
		await using world = await startWatch({
			place: await databases.place(),
			beforeNotice: () => (isKilled ? Promise.resolve() : never),
		});
		const { bot, channels, notices } = world;
		await world.backUp(channels);
		for (let times = 0; times < 3; times += 1) world.removeChannel(world.by("zoe"));
		await until("the backup is kept", async () => {
			const due = await incidentRows.all(bot.store.sql, { told: 0 });
			return due.length === 1;
		});
		await bot.kill();
		isKilled = true;
		await bot.start();
		await until("it is announced", () => notices.length === 1);
		expect(notices[0]).toContain(`<@${world.bot.simulator.user("zoe").id}>`);
		await until("that is recorded", async () => {
			const due = await incidentRows.all(bot.store.sql, { told: 0 });
			return due.length === 0;
		});
		await bot.stop();
		await bot.start();
		await world.heard();
		expect(notices).toHaveLength(1);
		expect(await world.kept()).toEqual([1]);
	});
});
