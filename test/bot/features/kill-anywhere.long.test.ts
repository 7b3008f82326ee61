// What the bot does on its own, killed before and after each of its requests and statements. The next start ends it, and
// the end is that of a run without a kill.
// What a kill is: test/support/kills.ts.

import { afterAll, describe, expect, test } from "bun:test";
import type { Client } from "discord.js";
import * as v from "valibot";
import type { FeatureOptions } from "../../../src/bot/commands/feature.ts";
import { type EscalationRule, readRule } from "../../../src/bot/config/escalation.ts";
import { toml } from "../../../src/bot/config/settings.ts";
import { createAutoRole } from "../../../src/bot/features/auto-role.ts";
import { createJoinRole } from "../../../src/bot/features/join-role.ts";
import { Chargebacks } from "../../../src/bot/game/chargebacks.ts";
import { createGameClient } from "../../../src/bot/game/client.ts";
import { DonatorSync } from "../../../src/bot/game/donators.ts";
import { Backups } from "../../../src/bot/guild-documents/backups/backups.ts";
import { DeletionWatch } from "../../../src/bot/guild-documents/backups/deletion-watch.ts";
import { createPictures } from "../../../src/bot/guild-documents/read/pictures.ts";
import { createCaseTools } from "../../../src/bot/moderation/cases/case-tools.ts";
import { Cases } from "../../../src/bot/moderation/cases/cases.ts";
import { createModerationLog } from "../../../src/bot/moderation/moderation-log.ts";
import { RaidModes } from "../../../src/bot/moderation/raid/raid-mode.ts";
import { Reports } from "../../../src/bot/moderation/reports/reports.ts";
import { createSpam } from "../../../src/bot/moderation/spam/spam.ts";
import { TempBans } from "../../../src/bot/moderation/temp-bans.ts";
import { type Store, startStore } from "../../../src/bot/store/store.ts";
import type { CaseRow } from "../../../src/bot/store/tables/cases.ts";
import { insertChargeback } from "../../../src/bot/store/tables/chargebacks.ts";
import { createCallAs } from "../../../src/bot/tool/call-as.ts";
import { tools } from "../../../src/bot/tools/index.ts";
import { Connection } from "../../../src/discord/connection/connection.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import type { Sql } from "../../../src/lib/store/statement.ts";
import { type GameServer, startGameServer } from "../../../src/simulator/game/game-server.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import type { Member } from "../../../src/simulator/world/state/entities.ts";
import { botConfig } from "../../support/bot-config.ts";
import { Kill, proxy, type Trouble } from "../../support/kills.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { onBoth, type Place } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { createChargebackFixture, pressable, staff } from "../game/chargeback-world.ts";
import { createTestDocuments, hashIn } from "../guild-documents/running-service.ts";
import { allowStaff } from "../moderation/cases/cases-world.ts";
import { quickTiming as spamTiming } from "../moderation/spam/spam-world.ts";
import { noTools } from "./running-feature.ts";

const dayMs = 86_400_000;
/** One life of the feature. */
interface Life {
	connection: Connection;
	sql: Sql;
	/** What a scenario needs of its feature. */
	feature: Feature;
	/** Whether another was killed before. */
	isSecond: boolean;
	/** Ends it without waiting for what it does. */
	end(): Promise<void>;
}

interface Feature {
	attach?(client: Client): void;
	start?(): void;
	close?(): Promise<void> | void;
	/** Runs in each life before anything is killed. */
	prepare?(life: Pick<Life, "connection">): Promise<void>;
	/** Begins what is killed; again in the next life, where it happens again. */
	begin?(life: Life): unknown;
}

interface World {
	simulator: Simulator;
	game: GameServer;
	/** For the features that compare with a clock. */
	clock: { now: number };
	role(name: string): string;
	person(name: string): Member;
	executed(route: string): number;
}

interface Scenario {
	prepare?(world: World): void;
	settings?(world: World): Record<string, unknown>;
	create(world: World, options: FeatureOptions, gameUrl: string): Feature | undefined;
	/** Whether the first life may be killed from now on. */
	isReady?(life: Life): Promise<boolean>;
	/** Something happens on Discord, once, while the first life runs. */
	happen?(world: World): unknown;
	isOver(world: World, life: Life): boolean | Promise<boolean>;
	/** What is left of it on Discord and in the game, the same after every kill. */
	outcome(world: World): unknown;
}

const patch = "PATCH /guilds/:guild_id/members/:user_id";
const ban = "/guilds/:guild_id/bans/:user_id";
const longAgo = "2020-01-01T00:00:00.000Z";

const scenarios: Record<string, Scenario> = {
	"the join role": {
		prepare({ simulator }) {
			for (const member of simulator.guild("The Cooks").members.values()) member.joined_at = longAgo;
		},
		settings: ({ role }) => ({
			features: { join_role: true },
			join_role: { role: role("Newcomer") },
		}),
		create: (_, options) =>
			createJoinRole(options, {
				scanIntervalMs: 5,
				saveIntervalMs: 10,
				backOffMs: [5, 20],
			}),
		isReady: async ({ sql }) => (await sql`SELECT guild_id FROM join_role_marks`).length === 1,
		happen: ({ simulator }) =>
			simulator.world.members.add(simulator.guild("The Cooks"), simulator.world.users.add({ username: "nora" })),
		isOver: ({ person, role }) => person("nora").roles.includes(role("Newcomer")),
		// Giving a role twice is giving it once.
		outcome: ({ person }) => person("nora").roles.length,
	},
	"a promotion": {
		prepare({ simulator, role, clock }) {
			clock.now = Date.UTC(2026, 0, 5);
			for (const member of simulator.guild("The Cooks").members.values())
				member.joined_at = new Date(clock.now).toISOString();
			const zoe = [...simulator.guild("The Cooks").members.values()].find(({ user }) => user.username === "zoe");
			Object.assign(zoe ?? {}, {
				joined_at: new Date(Date.UTC(2026, 0, 1)).toISOString(),
				roles: [role("Newcomer")],
			});
		},
		settings: ({ role }) => ({
			features: { auto_role: true },
			auto_role: {
				from_role: role("Newcomer"),
				to_role: role("Regular"),
				min_age: "3d",
			},
		}),
		create({ clock }, options) {
			const feature = createAutoRole(options, {
				sweepIntervalMs: 20,
				flushIntervalMs: 20,
				backOffMs: [1, 5],
				now: () => clock.now,
			});
			return feature;
		},
		async isOver({ person, role }, { sql }) {
			const { roles, user } = person("zoe");
			const settled = await sql`
				SELECT user_id FROM member_activity WHERE user_id = ${user.id} AND promoted = 1 AND claimed = 0`;
			return roles.includes(role("Regular")) && settled.length === 1;
		},
		outcome: ({ person, role, executed }) => [
			person("zoe").roles.indexOf(role("Regular")),
			person("zoe").roles.length,
			executed(patch),
		],
	},
	"roles of supporters": {
		prepare({ simulator, game }) {
			const { world } = simulator;
			const guild = simulator.guild("The Cooks");
			const gold = world.roles.add(guild, { name: "gold" });
			const lapsed = guild.members.get(simulator.user("mona_lisa").id);
			if (lapsed) world.members.edit(guild, lapsed, { roles: [gold.id] });
			for (const name of ["zoe", "ada", "jose.garcia"])
				game.addDonator({ chat_id: simulator.user(name).id, tier: "gold" });
		},
		create({ role }, { connection, store, mutex, log }, gameUrl) {
			return new DonatorSync({
				game: createGameClient({ url: gameUrl, secret: "secret", log }),
				connection,
				store,
				guildId: undefined,
				tiers: { gold: role("gold") },
				intervalMs: 60,
				restrictedRole: undefined,
				mutex,
				log,
			});
		},
		isOver: ({ person, role }) =>
			["zoe", "ada", "jose.garcia"].every((name) => person(name).roles.includes(role("gold"))) &&
			!person("mona_lisa").roles.includes(role("gold")),
		outcome: ({ person, role }) =>
			["zoe", "ada", "jose.garcia", "mona_lisa"].map((name) => person(name).roles.includes(role("gold"))),
	},
	"a ban that ends": {
		prepare({ clock }) {
			clock.now = 1_700_000_000_000;
		},
		create({ clock, simulator }, { connection, store, mutex, log }) {
			const bans = new TempBans({
				connection,
				store,
				mutex,
				log,
				moderationLog: { add() {} },
				now: () => clock.now,
				backOffMs: [5, 50],
				maxSleepMs: 20,
			});
			return {
				...parts(bans),
				begin({ connection }) {
					// The moderator asks once.
					if (clock.now !== 1_700_000_000_000) return;
					clock.now += 1;
					const [guild] = connection.guilds;
					if (!guild) throw new Error("the bot is in its guild");
					const order = {
						userId: simulator.user("zoe").id,
						moderator: { id: "1", name: "@someone (ID: 1)" },
						reason: null,
						endsAt: clock.now + dayMs,
					};
					// A life that was killed hears of it when its servers end.
					bans.ban(guild, order).catch(() => {});
				},
			};
		},
		async isOver({ clock, executed }, { sql, isSecond }) {
			const rows = await sql`SELECT state FROM temp_bans`;
			if (executed(`PUT ${ban}`) === 1 && rows[0]?.state === "banned") clock.now = 1_700_000_000_000 + 2 * dayMs;
			// Killed before it was noted, nobody is banned.
			return rows.length === 0 && (isSecond || executed(`DELETE ${ban}`) === 1);
		},
		outcome: ({ executed, simulator }) => [
			executed(`PUT ${ban}`) - executed(`DELETE ${ban}`),
			simulator.guild("The Cooks").bans.size,
			executed(`PUT ${ban}`) <= 1,
		],
	},
	"raid mode, turned on": raids(["on"]),
	"raid mode, turned on and off": raids(["on", "off"]),
	"a job that changes a guild": {
		create(_, options) {
			const documents = createTestDocuments(options);
			let hash = "";
			return {
				...documents,
				async prepare({ connection }) {
					const [guild] = connection.guilds;
					if (!guild) throw new Error("the bot is in its guild");
					const text = await documents.plan(guild, { document: plannedGuild });
					hash = hashIn(text);
				},
				// The person asks again until the job runs.
				begin: () => documents.apply(hash, "because").catch(() => {}),
			};
		},
		isOver: async (_, { sql }) => (await sql`SELECT id FROM guild_jobs WHERE ended_at > ${0}`).length > 0,
		outcome: ({ simulator, executed }) => [
			executed("POST /guilds/:guild_id/roles"),
			executed("POST /guilds/:guild_id/channels"),
			[...simulator.guild("The Cooks").roles.values()].filter(({ name }) => name === "Mods").length,
			[...simulator.guild("The Cooks").channels.values()].map(({ name, permission_overwrites }) => [
				name,
				permission_overwrites.length,
			]),
		],
	},
	"a backup": {
		prepare: prepareBackups,
		create: createBackupFeature,
		isOver: async (_, { sql }) => {
			const checks = await sql`SELECT guild_id FROM guild_backup_checks`;
			const backups = await sql`SELECT number FROM guild_backups`;
			if (backups.length > 1) throw new Error("one backup is enough");
			return checks.length === 1 && backups.length === 1;
		},
		outcome: ({ simulator }) => simulator.journal.entries().length,
	},
	"a report": {
		prepare({ simulator }) {
			const { channel } = simulator.channel("The Cooks/general");
			const mona = simulator.world.users.get(simulator.user("mona_lisa").id);
			if (mona) simulator.world.messages.add(channel, mona, { content: "a copy" });
		},
		create(world, { connection, store, log }) {
			const { channel } = world.simulator.channel("The Cooks/general");
			const [message] = world.simulator.world.messages.in(channel.id);
			if (!message) throw new Error("there is a message");
			const reports = new Reports({
				channelId: world.simulator.channel("The Cooks/staff").id,
				...{ connection, store, log },
				callAs: noTools,
				backOffMs: [5, 50],
				updateIntervalMs: 0,
			});
			return {
				...parts(reports),
				end: (...args: Parameters<Reports["end"]>) => reports.end(...args),
				async begin() {
					const [guild] = connection.guilds;
					if (!guild) throw new Error("the bot is in its guild");
					// A reporter without an answer tries again.
					await reports.file(guild, {
						reporterId: world.simulator.user("zoe").id,
						message: {
							id: message.id,
							channelId: channel.id,
							authorId: message.author.id,
							authorKind: "person",
							copy: { text: message.content, files: [] },
						},
						reason: "spam",
					});
				},
			};
		},
		async isOver(world, { sql, feature }) {
			const [entry] = entriesOf(world);
			const end = { state: "dismissed", by: "1", case: null } as const;
			const [row] = await sql`SELECT state, shown, version FROM reports`;
			if (entry && row?.state === "open" && row.shown === row.version) {
				const { id } = world.simulator.guild("The Cooks");
				// Fails if this life is killed, or if it has ended the report.
				(feature as unknown as Pick<Reports, "end">).end(id, 1, end).catch(() => {});
			}
			return row?.state === "dismissed" && row.shown === row.version;
		},
		outcome: (world) => [
			entriesOf(world).map(({ embeds, components }) => [embeds.map(({ title }) => title), components.length]),
			world.executed("POST /channels/:channel_id/messages"),
		],
	},
	"a message in a honeypot": {
		settings: ({ simulator }) => ({
			features: { moderation: true },
			moderation: {
				log_channel: simulator.channel("The Cooks/staff").id,
				spam: { honeypots: [simulator.channel("The Cooks/general").id] },
			},
		}),
		create(world, options) {
			const { log_channel, spam } = options.config.toml.moderation ?? {};
			if (!spam) return undefined;
			const moderationLog = createModerationLog({
				...{ ...options, defaultChannel: log_channel },
			});
			const parts = { ...options, moderationLog };
			const bans = new TempBans(parts);
			const settings = { tell: [] };
			return {
				...createSpam({
					...{ ...parts, settings: spam, cdn: "http://127.0.0.1:1" },
					cases: new Cases({ ...parts, bans, settings }),
					timing: { ...spamTiming, quietMs: 5 },
				}),
				// In the next life, the account writes again unless it was timed out.
				begin() {
					const { user, communication_disabled_until } = world.person("mona_lisa");
					if (communication_disabled_until) return;
					const { channel } = world.simulator.channel("The Cooks/general");
					world.simulator.world.messages.add(channel, user, { content: "" });
				},
			};
		},
		async isOver(world, { sql }) {
			const rows = await sql<{ id: string }>`
				SELECT id FROM spam_incidents WHERE state = ${"done"}`;
			const open = await sql`
				SELECT id FROM spam_incidents WHERE state = ${"asked"}`;
			const cases = await sql`SELECT source FROM cases WHERE state = ${"done"}`;
			const { id } = world.simulator.channel("The Cooks/general");
			const { messages } = world.simulator.world;
			const left = rows.filter((row) => messages.get(id, row.id));
			if (rows.length > 0 && open.length + left.length > 0) return false;
			return rows.length > 0 && cases.length === rows.length && entriesOf(world).length === rows.length;
		},
		outcome: ({ person }) => [Boolean(person("mona_lisa").communication_disabled_until)],
	},
	"a ban of which the person is told": order("ban", ["ban"], []),
	"a warning that a timeout follows": order("warn_member", ["warn", "timeout"], ["1 warning in 1d: timeout 1h"]),
	"a warning that a temporary ban follows": order("warn_member", ["warn", "temp_ban"], ["1 warning in 1d: ban 7d"]),
	"a mass deletion": {
		prepare: prepareBackups,
		create: createBackupFeature,
		isReady: async ({ sql }) => {
			const checks = await sql`SELECT guild_id FROM guild_backup_checks`;
			const marks = await sql`SELECT guild_id FROM guild_deletion_marks`;
			return checks.length === 1 && marks.length === 1;
		},
		happen({ simulator }) {
			const { world } = simulator;
			const by = { actor: simulator.user("zoe").id };
			for (const channel of [...simulator.guild("The Cooks").channels.values()])
				if (channel.name.startsWith("recipes-")) world.channels.remove(channel, by);
		},
		async isOver(world, { sql }) {
			const rows = await sql`
				SELECT number, notice_due FROM guild_backups WHERE kept_at IS NOT NULL`;
			const isKept = rows.length === 1 && rows[0]?.notice_due === 0;
			return isKept && noticesOf(world).length > 0;
		},
		// After a kill the notice may be posted again.
		outcome: (world) => [...new Set(noticesOf(world))].length,
	},
	"a chargeback, with a ban": chargeback("Ban"),
	"a chargeback, dismissed": chargeback("Dismiss"),
};

/**
 * A moderator's command, given once: what happens are `acts`, of which the person is told. Nothing happens twice or without
 * a case, nobody is told twice, and each case is true.
 */
function order(tool: string, acts: readonly string[], rules: readonly string[]): Scenario {
	const stored = new WeakMap<World, CaseRow[]>();
	const ended = new WeakSet<World>();
	return {
		prepare: ({ simulator }) => allowStaff(simulator),
		create(world, { connection, store, mutex, log }) {
			const parts = {
				...{ connection, store, mutex, log },
				moderationLog: { add() {} },
				backOffMs: [5, 50] as const,
			};
			const bans = new TempBans(parts);
			const escalate = rules.map((text) => readRule(text) as EscalationRule);
			const cases = new Cases({
				...{ ...parts, bans, decideAfterMs: 0 },
				settings: { tell: acts, escalate },
			});
			const none = {} as never;
			const callAs = createCallAs({
				tools: () => [...tools, ...createCaseTools({ cases })],
				context: () => ({
					...{ connection, mutex, log, cases, tempBans: bans },
					...{ audit: none, self: none, locks: none, guildDocuments: none },
					...{ guildId: undefined, principal: undefined },
				}),
				record() {},
				log,
			});
			const both = [bans, cases];
			return {
				attach(client) {
					for (const one of both) one.attach(client);
				},
				start() {
					for (const one of both) one.start();
				},
				async close() {
					await Promise.all(both.map((one) => one.close()));
				},
				async begin({ isSecond }) {
					if (isSecond) return;
					const { isError } = await callAs({
						guildId: world.simulator.guild("The Cooks").id,
						person: { id: world.simulator.user("jose.garcia").id, name: "" },
						tool,
						args: {
							user_ids: [world.simulator.user("zoe").id],
							reason: "because",
						},
						door: "/try",
					});
					// A life that was killed gets an error.
					if (!isError) ended.add(world);
				},
			};
		},
		async isOver(world, { sql, isSecond }) {
			const rows = await sql<CaseRow>`SELECT * FROM cases ORDER BY number`;
			stored.set(world, rows);
			const temporary = await sql`
				SELECT state FROM temp_bans WHERE state = ${"asked"}`;
			const isEnded = isSecond || ended.has(world);
			const isOpen = rows.some(({ state }) => state === "asked");
			return isEnded && !isOpen && temporary.length === 0;
		},
		outcome(world) {
			const { simulator, executed } = world;
			const { id } = simulator.user("zoe");
			const cooks = simulator.guild("The Cooks");
			const isBanned = cooks.bans.has(id);
			const member = cooks.members.get(id);
			const truth: Record<string, boolean> = {
				warn: true,
				ban: isBanned,
				temp_ban: isBanned,
				timeout: Boolean(member?.communication_disabled_until),
			};
			const rows = stored.get(world) ?? [];
			const [bot, person] = [simulator.bot("alpha").id, id].map((one) => simulator.world.users.get(one));
			const dm = bot && person && simulator.world.channels.findDm(bot, person);
			const told = dm ? simulator.world.messages.in(dm.id) : [];
			const known = rows.filter(({ told }) => told === "yes").length;
			const tried = rows.filter(({ told }) => told !== null).length;
			return [
				rows.length === 0 || rows.length === acts.length,
				rows.every(({ action }, index) => action === acts[index]),
				rows.every(({ state, action }) => (state === "done") === truth[action]),
				rows.length > 0 || !(truth.ban || truth.timeout),
				known <= told.length && told.length <= tried,
				told.length === new Set(told.map(({ content }) => content)).size,
				executed(`PUT ${ban}`) <= 1 && executed(patch) <= 1,
			];
		},
	};
}

/** A feature of which the table needs what every feature has. */
function parts(feature: Required<Pick<Feature, "attach" | "start" | "close">>): Feature {
	return {
		attach: (client) => feature.attach(client),
		start: () => feature.start(),
		close: () => feature.close(),
	};
}

/** The entries of reports. */
function entriesOf({ simulator }: World) {
	const { id } = simulator.channel("The Cooks/staff");
	return simulator.world.messages.in(id);
}

const plannedGuild = {
	version: 1,
	roles: [{ name: "Mods", color: "#FF0000" }],
	channels: [
		{
			name: "mod-chat",
			overwrites: [{ role: "Mods", allow: ["VIEW_CHANNEL"] }],
		},
		{ name: "general", topic: "Everything" },
	],
};

/** The notices of mass deletions that were posted. */
const allNotices = new WeakMap<World, string[]>();

function noticesOf(world: World): string[] {
	const notices = allNotices.get(world) ?? [];
	allNotices.set(world, notices);
	return notices;
}

function prepareBackups({ simulator, clock }: World): void {
	clock.now = 1_700_000_000_000;
	const { world } = simulator;
	const cooks = simulator.guild("The Cooks");
	for (let number = 0; number < 3; number += 1) world.channels.add(cooks, { name: `recipes-${number}` });
	const zoe = world.users.get(simulator.user("zoe").id);
	if (zoe) world.emojis.add(cooks, zoe, { name: "soup" });
}

function createBackupFeature(world: World, { connection, store, log }: FeatureOptions): Feature {
	const given = { connection, store, log, guilds: undefined };
	const backups = new Backups({
		...given,
		settings: { every: dayMs, keep: 14 },
		pictures: createPictures({ store, downloads: connection.pictures }),
		timing: {
			now: () => world.clock.now,
			startDelayMs: 0,
			spacingMs: 0,
			maxSleepMs: 50,
			backOffMs: [5, 50],
			shutdownGraceMs: 1,
		},
	});
	const watch = new DeletionWatch({
		...given,
		settings: { deletions: 3, windowMs: 60_000 },
		backups,
		notify: async ({ data }) => {
			noticesOf(world).push(data.description ?? "");
		},
		backOffMs: [5, 50],
	});
	return {
		attach(client) {
			backups.attach(client);
			watch.attach(client);
		},
		start() {
			backups.start();
			watch.start();
		},
		async close() {
			await Promise.all([backups.close(), watch.close()]);
		},
	};
}

/** Somebody asks for these states of raid mode, one after the other, each until it is stored. */
function raids(states: readonly ("on" | "off")[]): Scenario {
	const guildOf = ({ simulator }: World) => simulator.guild("The Cooks");
	return {
		create(world, { connection, store, mutex, log }) {
			const modes = new RaidModes({
				...{ connection, store, mutex, log },
				moderationLog: { add() {} },
				now: () => 1_700_000_000_000,
				backOffMs: [5, 50],
				maxSleepMs: 20,
				arrivedAfterMs: 5,
			});
			const { id } = guildOf(world);
			return {
				...parts(modes),
				async begin() {
					const before = await modes.view(id);
					for (const wanted of states.slice(before?.mode.run ?? 0))
						await modes.turn(id, { wanted, moderator_id: null, mark: "", slowmode: 30 }).then(({ ended }) => ended);
				},
			};
		},
		isOver: async (_, { sql }) => {
			const [row] = await sql`SELECT run, ended_at FROM raid_modes`;
			return row?.run === states.length && row.ended_at !== null;
		},
		outcome: (world) => {
			const { incidents_data, verification_level, channels } = guildOf(world);
			return [
				verification_level,
				incidents_data?.invites_disabled_until ?? null,
				...[...channels.values()].map((one) => Object(one).rate_limit_per_user),
			];
		},
	};
}

function chargeback(decision: "Ban" | "Dismiss"): Scenario {
	return {
		create(world, { connection, store, mutex, log }, gameUrl) {
			const chargebacks = new Chargebacks({
				connection,
				store,
				mutex,
				log,
				game: createGameClient({ url: gameUrl, secret: "secret", log }),
				guildId: undefined,
				secret: "secret",
				backOffMs: [5, 50],
				settings: chargebackSettings(world),
			});
			const target = world.simulator.user("mona_lisa").id;
			return {
				...parts(chargebacks),
				async begin({ sql }) {
					// The game server tells until it is heard.
					const event = {
						id: "ab".repeat(32),
						uuid: "11111111-2222-4333-8444-555555555555",
						username: "Mona",
						chat_id: target,
						tier: "gold",
						happened_at: "2026-01-01T00:00:00.000Z",
					};
					await insertChargeback(sql, event, new Date(0));
					chargebacks.start();
				},
			};
		},
		isOver: async (world, life) => {
			const [alert] = alertsOf(world);
			if (alert && !pressed.has(life) && pressable(alert).includes(decision)) {
				pressed.add(life);
				await world.simulator.user(staff).press(alert, decision);
			}
			if (!alert || pressable(alert).length > 0) return false;
			const fields = sceneOf(world).fields(alert);
			return decision === "Ban"
				? fields["Ban on Discord"] === "Done." && fields["Ban in the game"] === "Done."
				: fields.Roles === "Restored.";
		},
		outcome: (world) => [
			alertsOf(world).length,
			world.executed(`PUT ${ban}`),
			[...world.game.bans.keys()],
			world.simulator.guild("The Cooks").bans.size,
			sceneOf(world).target.roles().length,
			world.executed(patch),
		],
	};
}

const scenes = new WeakMap<World, ReturnType<typeof createChargebackFixture>>();

function sceneOf(world: World) {
	const scene = scenes.get(world) ?? createChargebackFixture(world.simulator);
	scenes.set(world, scene);
	return scene;
}

function chargebackSettings(world: World) {
	const { roles } = sceneOf(world);
	return {
		restrictedRole: roles.restricted,
		staffChannel: world.simulator.channel("The Cooks/staff").id,
		staffRoles: [roles.staff],
	};
}

/** The lives in which the staff have decided, if they had to. */
const pressed = new WeakSet<Life>();

const alertsOf = (world: World) => sceneOf(world).alerts();

const leftovers: (() => unknown)[] = [];
afterAll(async () => {
	await Promise.all(leftovers.map((end) => end()));
}, 120_000);

async function startLife(
	world: World,
	{ settings, create, isReady }: Scenario,
	place: Pick<Place, "settings">,
	kill: Kill,
	isSecond = false,
): Promise<Life> {
	const { log } = recordLog("debug");
	const discord = proxy(kill, () => new URL(world.simulator.api).origin);
	const gameServer = proxy(kill, () => world.game.url);
	const real: Store = startStore({
		...place.settings,
		instance: "Alpha",
		log,
		backOffMs: [10, 20],
	});
	await real.opened;
	const sql: Sql = (...statement) => kill.operation(() => real.sql(...statement)) as never;
	const store = {
		sql,
		transaction: (work: Parameters<Store["transaction"]>[0]) => kill.operation(() => real.transaction(work)),
	} as unknown as Store;
	const connection: Connection = new Connection({
		token: world.simulator.bot("alpha").token,
		api: `${discord.url.origin}/api`,
		cdn: discord.url.origin,
		log,
		onResponse() {},
		needsModerationEvents: true,
		attach: (client) => feature?.attach?.(client),
		timing: { backOffMs: [1, 4], invalidSessionMs: [1, 4], identifyMs: 0 },
		requestsPerSecond: 1_000,
	});
	const feature = create(
		world,
		{
			config: botConfig({
				toml: v.parse(toml, {
					bot_name: "Alpha",
					...settings?.(world),
				}),
			}),
			connection,
			store,
			log,
			mutex: new KeyedMutex(),
			callAs: noTools,
		},
		gameServer.url.origin,
	);
	if (!feature) throw new Error("the feature is off");
	const opened = connection.open();
	await until("the bot is ready", () => connection.ready);
	await until("its members are known", () => connection.guilds.every((one) => connection.hasAllMembers(one)));
	await feature.prepare?.({ connection });
	kill.isArmed = isReady === undefined;
	feature.start?.();
	leftovers.push(async () => {
		await feature.close?.();
		for (const server of [discord, gameServer]) await server.stop(true);
	});
	return {
		connection,
		sql: real.sql,
		feature,
		isSecond,
		async end() {
			void kill.die();
			await connection.close();
			await opened;
			await real.close();
		},
	};
}

/** One scenario from its beginning to its end, with the first life killed at `at`; gives how many operations that had. */
async function run(scenario: Scenario, place: Pick<Place, "settings">, at?: Trouble) {
	await using simulator = await startSimulator();
	await using game = await startGameServer({ secret: "secret" });
	const guild = simulator.guild("The Cooks");
	const world: World = {
		simulator,
		game,
		clock: { now: 0 },
		role(name) {
			for (const role of guild.roles.values()) if (role.name === name) return role.id;
			throw new Error(`no role is called ${name}`);
		},
		person(name) {
			for (const member of guild.members.values()) if (member.user.username === name) return member;
			throw new Error(`no member is called ${name}`);
		},
		executed: (route) => simulator.journal.entries(route).length,
	};
	scenario.prepare?.(world);
	const kill = new Kill(at);
	let life = await startLife(world, scenario, place, kill);
	try {
		await until("it is ready", async () => scenario.isReady?.(life) ?? true);
		kill.isArmed = true;
		scenario.happen?.(world);
		void life.feature.begin?.(life);
		const first = life;
		await until("it is over, or killed", async () => kill.isDead || (await scenario.isOver(world, first)));
		const { count } = kill;
		if (kill.isDead) {
			await life.end();
			life = await startLife(world, scenario, place, new Kill(), true);
			void life.feature.begin?.(life);
			await until("the next life ends it", () => scenario.isOver(world, life));
		}
		return { count, outcome: scenario.outcome(world) };
	} finally {
		await life.end();
	}
}

onBoth((databases, kind) => {
	/** On SQLite both, on PostgreSQL alternately: before the first operation, after the second, and so on. */
	const momentsOf = (operation: number) => (kind === "SQLite" ? [false, true] : [operation % 2 === 0]);
	for (const [name, scenario] of Object.entries(scenarios))
		describe(`${name}, killed`, () => {
			test("anywhere ends as without a kill", async () => {
				const place = await databases.place();
				const whole = await run(scenario, place);
				expect(whole.count).toBeGreaterThan(0);
				for (let operation = 1; operation <= whole.count; operation++)
					for (const after of momentsOf(operation)) {
						const at = { kind: "kill", operation, after } as const;
						await place.clear();
						const { outcome } = await run(scenario, place, at);
						expect([at, outcome]).toEqual([at, whole.outcome]);
					}
			}, 600_000);
		});
});
