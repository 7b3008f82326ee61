// What the bot does on its own, each to be killed anywhere. Approved calls: approvals.ts.

import { PermissionFlagsBits } from "discord.js";
import type { FeatureOptions } from "../../../src/bot/commands/feature.ts";
import { createAutoRole } from "../../../src/bot/features/auto-role.ts";
import { createJoinRole } from "../../../src/bot/features/join-role.ts";
import { createRetention } from "../../../src/bot/features/privacy/retention.ts";
import { createChargebacks } from "../../../src/bot/game/chargebacks.ts";
import { createGameClient } from "../../../src/bot/game/client.ts";
import { DonatorSync } from "../../../src/bot/game/donators.ts";
import { Backups } from "../../../src/bot/guild-documents/backups/backups.ts";
import { DeletionWatch, type DeletionWatchOptions } from "../../../src/bot/guild-documents/backups/deletion-watch.ts";
import { createPictures } from "../../../src/bot/guild-documents/read/pictures.ts";
import { Announcements } from "../../../src/bot/moderation/announcements.ts";
import { createCaseTools } from "../../../src/bot/moderation/cases/case-tools.ts";
import { Cases } from "../../../src/bot/moderation/cases/cases.ts";
import { createModerationLog } from "../../../src/bot/moderation/moderation-log.ts";
import { createNotify, noticeOf, postOnce } from "../../../src/bot/moderation/night/notice.ts";
import { createStrip } from "../../../src/bot/moderation/night/strip.ts";
import { noticeOfRaid } from "../../../src/bot/moderation/raid/raid.ts";
import { RaidModes } from "../../../src/bot/moderation/raid/raid-mode.ts";
import { Reports } from "../../../src/bot/moderation/reports/reports.ts";
import { createAutomodRules } from "../../../src/bot/moderation/spam/automod-rules.ts";
import { createSpam } from "../../../src/bot/moderation/spam/spam.ts";
import { TempBans } from "../../../src/bot/moderation/temp-bans.ts";
import { GuildSettings } from "../../../src/bot/settings/guild-settings.ts";
import type { CaseRow } from "../../../src/bot/store/tables/cases.ts";
import { insertChargeback } from "../../../src/bot/store/tables/chargebacks.ts";
import type { RaidMode } from "../../../src/bot/store/tables/raid-modes.ts";
import type { SettingVersion } from "../../../src/bot/store/tables/setting-versions.ts";
import { PersonCalls } from "../../../src/bot/tool/call-as.ts";
import { createLocks } from "../../../src/bot/tool/channel-locks.ts";
import { tools } from "../../../src/bot/tools/index.ts";
import type { Restore } from "../../../src/guild-document/restore.ts";
import { sayIn } from "../../../src/texts/texts.ts";
import { channelNamed, userNamed } from "../../support/world.ts";
import { grant, noTools } from "../features/running-feature.ts";
import { createChargebackFixture, pressable, staff } from "../game/chargeback-world.ts";
import { createTestDocuments, hashIn } from "../guild-documents/running-service.ts";
import { allowStaff } from "../moderation/cases/cases-world.ts";
import { quickTiming as spamTiming } from "../moderation/spam/spam-world.ts";
import { type Feature, featureOf, type Life, type Scenario, type Work, type World } from "./life.ts";

const dayMs = 86_400_000;
const anyTime = 1_700_000_000_000;
const backOffMs = [5, 50] as const;
const noLog = { add() {} };
const member = "/guilds/:guild_id/members/:user_id";
const patch = `PATCH ${member}`;
const ban = "/guilds/:guild_id/bans/:user_id";

export const scenarios: Record<string, Scenario> = {
	"the join role"({ simulator, guild, role, person }) {
		for (const member of guild.members.values()) member.joined_at = "2020-01-01T00:00:00.000Z";
		return {
			settings: { join_role: { role: role("Newcomer") } },
			create: (options) => createJoinRole(options, { scanIntervalMs: 5, saveIntervalMs: 10, backOffMs: [5, 20] }),
			// The life before may still have stored one of its guild.
			isReady: async ({ sql }) =>
				(await sql`SELECT guild_id FROM join_role_marks WHERE guild_id = ${guild.id}`).length === 1,
			happen: () => simulator.world.members.add(guild, simulator.world.users.add({ username: "nora" })),
			// The first life is over when it knows of it.
			isOver: ({ isSecond, kill }) => person("nora").roles.includes(role("Newcomer")) && (isSecond || kill.writes > 0),
			// Giving a role twice is giving it once.
			outcome: () => person("nora").roles.length,
		};
	},
	"a promotion"({ guild, role, person, clock, executed }) {
		clock.now = Date.UTC(2026, 0, 5);
		for (const member of guild.members.values()) member.joined_at = new Date(clock.now).toISOString();
		Object.assign(person("zoe"), {
			joined_at: new Date(Date.UTC(2026, 0, 1)).toISOString(),
			roles: [role("Newcomer")],
		});
		const timing = { sweepIntervalMs: 20, flushIntervalMs: 20, backOffMs: [1, 5] as const };
		return {
			settings: { auto_role: { from_role: role("Newcomer"), to_role: role("Regular"), min_age: "3d" } },
			create: (options) => createAutoRole(options, { ...timing, now: () => clock.now }),
			async isOver({ sql }) {
				const { roles, user } = person("zoe");
				const settled = await sql`
					SELECT user_id FROM member_activity WHERE user_id = ${user.id} AND promoted = 1 AND claimed = 0`;
				return roles.includes(role("Regular")) && settled.length === 1;
			},
			outcome: () => [person("zoe").roles.indexOf(role("Regular")), person("zoe").roles.length, executed(patch)],
		};
	},
	"roles of supporters"({ simulator, guild, game, person }) {
		const { world } = simulator;
		const gold = world.roles.add(guild, { name: "gold" }).id;
		world.members.edit(guild, person("mona_lisa"), { roles: [gold] });
		const supporters = ["zoe", "ada", "jose.garcia"];
		for (const name of supporters) game.addDonator({ chat_id: simulator.user(name).id, tier: "gold" });
		const has = (name: string) => person(name).roles.includes(gold);
		return {
			create: ({ connection, store, mutex, log }, url) =>
				new DonatorSync({
					game: createGameClient({ url, secret: "secret", log }),
					connection,
					store,
					guildId: guild.id,
					tiers: { gold },
					intervalMs: 60,
					restrictedRole: undefined,
					mutex,
					log,
				}),
			isOver: () => supporters.every(has) && !has("mona_lisa"),
			outcome: () => [...supporters, "mona_lisa"].map(has),
		};
	},
	"a ban that ends"({ clock, simulator, guild, executed }) {
		clock.now = anyTime;
		return {
			create({ connection, store, mutex, log }) {
				const now = () => clock.now;
				const bans = new TempBans({
					connection,
					store,
					mutex,
					log,
					moderationLog: noLog,
					now,
					backOffMs,
					maxSleepMs: 20,
				});
				return {
					...featureOf(bans),
					begin({ guild }) {
						// The moderator asks once.
						if (clock.now !== anyTime) return;
						clock.now += 1;
						const userId = simulator.user("zoe").id;
						const moderator = { id: "1", name: "@someone (ID: 1)" };
						// A life that was killed hears of it when its servers end.
						bans.ban(guild, { userId, moderator, reason: null, endsAt: clock.now + dayMs }).catch(() => {});
					},
				};
			},
			async isOver({ sql, isSecond }) {
				const rows = await sql`SELECT state FROM temp_bans`;
				if (executed(`PUT ${ban}`) === 1 && rows[0]?.state === "banned") clock.now = anyTime + 2 * dayMs;
				// Killed before it was noted, nobody is banned.
				return rows.length === 0 && (isSecond || executed(`DELETE ${ban}`) === 1);
			},
			outcome: () => [executed(`PUT ${ban}`) - executed(`DELETE ${ban}`), guild.bans.size, executed(`PUT ${ban}`) <= 1],
		};
	},
	"a guild that the bot has left"({ clock, guild }) {
		clock.now = anyTime;
		const gone = "999";
		return {
			create: (options) => createRetention(options, { now: () => clock.now, backOffMs, maxSleepMs: 10 }),
			async isReady({ sql }) {
				for (const user of ["1", "2"])
					await sql`INSERT INTO joins VALUES (${gone}, ${user}, 1, '') ON CONFLICT DO NOTHING`;
				await sql`INSERT INTO known_guilds VALUES (${gone}, NULL) ON CONFLICT DO NOTHING`;
				return true;
			},
			async isOver({ sql }) {
				const known = await sql`SELECT guild_id, left_at FROM known_guilds`;
				// A jump of the clock would keep everything for an hour.
				if (known.some(({ left_at }) => left_at === anyTime))
					await sql`UPDATE known_guilds SET left_at = ${anyTime - 30 * dayMs} WHERE guild_id = ${gone}`;
				return known.every(({ guild_id }) => guild_id === guild.id);
			},
			outcome: async ({ sql }) => [
				(await sql`SELECT 1 FROM joins`).length,
				(await sql`SELECT * FROM known_guilds`).length,
			],
		};
	},
	"raid mode, turned on": raids("on"),
	"raid mode, turned off": raids("off"),
	"raid mode, turned on by the bot itself, for a time"(world) {
		const { clock, simulator } = world;
		const staff = simulator.channel("The Cooks/staff").id;
		clock.now = anyTime;
		return {
			...raids("on", { ends_at: anyTime + 60_000 })(world),
			async isOver({ sql }) {
				const [row] = await sql`SELECT wanted, told, ended_at FROM raid_modes`;
				if (row?.wanted === "on" && row.told === 1 && row.ended_at !== null) clock.now = anyTime + 60_000;
				return row?.wanted === "off" && row.ended_at !== null;
			},
			outcome: () => [
				simulator.world.messages.in(staff).filter(({ embeds }) => embeds.length > 0).length,
				...[...world.guild.channels.values()].map((one) => Object(one).rate_limit_per_user),
			],
		};
	},
	"a lock that is announced, and its end": announcedLock,
	"a job that changes a guild": ({ guild, executed }) => ({
		...jobOf(plannedGuild),
		outcome: () => [
			executed("POST /guilds/:guild_id/roles"),
			executed("POST /guilds/:guild_id/channels"),
			[...guild.roles.values()].filter(({ name }) => name === "Mods").length,
			[...guild.channels.values()].map(({ name, permission_overwrites }) => [name, permission_overwrites.length]),
		],
	}),
	"a job that posts messages, and changes settings of the bot": ({ simulator, guild, executed }) => ({
		...jobOf(plannedMessages, { hasRealRules: true }),
		outcome: async ({ sql }) => [
			(await sql<SettingVersion>`SELECT * FROM setting_versions`).map(({ version, door, settings }) => [
				version,
				door,
				settings.replace(/\d{17,}/, (id) => guild.channels.get(id)?.name ?? id),
			]),
			executed("POST /channels/:channel_id/messages"),
			executed("POST /channels/:channel_id/threads"),
			[...guild.channels.values(), ...guild.threads.values()].map(({ id, name }) => [
				name,
				simulator.world.messages
					.in(id)
					.map(({ content, pinned_at }) => [content.replace(/\d+/, "1"), Boolean(pinned_at)]),
			]),
		],
	}),
	"an undo of what an account did": ({ simulator, guild, executed }) => {
		const general = channelNamed({ guild }, "general");
		const old = simulator.world.roles.add(guild, { name: "Cooks" });
		simulator.world.roles.remove(guild, old);
		simulator.world.channels.edit(general, { name: "owned" });
		return {
			create(options) {
				const documents = createTestDocuments(options, { hasRealRules: true });
				let hash = "";
				return {
					...documents,
					async prepare({ guild }) {
						hash = hashIn(await documents.planRestore(guild, restoreOf(old.id, general.id)));
					},
					begin: () => documents.apply(hash, "because").catch(() => {}),
				};
			},
			isOver: async ({ sql }) => (await sql`SELECT id FROM guild_jobs WHERE ended_at > ${0}`).length > 0,
			outcome: async ({ sql }) => [
				executed("POST /guilds/:guild_id/roles"),
				[...guild.roles.values()].filter(({ name }) => name === "Cooks").length,
				general.name,
				await sql`SELECT entry_id FROM undone_entries ORDER BY entry_id`,
			],
		};
	},
	"a backup": (world) => ({
		create: backupsOf(world).create,
		async isOver({ sql }) {
			const checks = await sql`SELECT guild_id FROM guild_backup_checks`;
			const backups = await sql`SELECT number FROM guild_backups`;
			if (backups.length > 1) throw new Error("one backup is enough");
			return checks.length === 1 && backups.length === 1;
		},
		outcome: () => world.simulator.journal.entries().length,
	}),
	"a mass deletion"(world) {
		const { create, notices } = backupsOf(world);
		const { channels } = world.simulator.world;
		return {
			create,
			async isReady({ sql }) {
				const checks = await sql`SELECT guild_id FROM guild_backup_checks`;
				const marks = await sql`SELECT guild_id FROM audit_log_marks WHERE wanted = 'deletions'`;
				return checks.length === 1 && marks.length === 1;
			},
			happen() {
				const by = { actor: world.simulator.user("zoe").id };
				for (const channel of [...world.guild.channels.values()])
					if (channel.name.startsWith("recipes-")) channels.remove(channel, by);
			},
			async isOver({ sql }) {
				const rows = await sql`SELECT told FROM incidents WHERE backup = 1`;
				return rows.length === 1 && rows[0]?.told === 1 && notices.length > 0;
			},
			// After a kill the notice may be posted again.
			outcome: () => new Set(notices).size,
		};
	},
	"a mass ban, whose account loses its roles"(world) {
		const { simulator, guild, person } = world;
		const { bans, users } = simulator.world;
		const staff = simulator.channel("The Cooks/staff").id;
		grant(simulator, "Staff", PermissionFlagsBits.BanMembers);
		const raiders = Array.from({ length: 6 }, (_, number) => users.add({ username: `raider-${number}` }));
		return {
			settings: { night: { strip: true }, moderation: { log_channel: staff } },
			create: (options) =>
				new DeletionWatch({
					...options,
					guilds: undefined,
					settings: { deletions: 5, windowMs: 60_000 },
					isSilent: true,
					backups: { keepBefore: async () => undefined },
					notify: createNotify(options),
					night: createStrip(options),
					backOffMs,
					maxSleepMs: 20,
					settleMs: 0,
				}),
			isReady: async ({ sql }) =>
				(await sql`SELECT guild_id FROM audit_log_marks WHERE wanted = 'deletions'`).length === 1,
			happen() {
				for (const user of raiders) bans.add(guild, user, 0, { actor: simulator.user("jose.garcia").id });
			},
			isOver: async ({ sql }) => (await sql`SELECT id FROM incidents WHERE told = 1`).length > 0,
			outcome: () => [
				person("jose.garcia").roles,
				simulator.world.messages.in(staff).filter(({ embeds }) => embeds.length > 0).length,
			],
		};
	},
	"a report"(world) {
		const { simulator, guild, executed } = world;
		const { channel } = simulator.channel("The Cooks/general");
		const author = userNamed(simulator, "mona_lisa");
		const { id, content } = simulator.world.messages.add(channel, author, { content: "a copy" });
		let current: Reports;
		return {
			settings: { features: { moderation: true }, moderation: { reports: simulator.channel("The Cooks/staff").id } },
			create({ settings, connection, store, log }) {
				const reports = new Reports({
					settings,
					connection,
					store,
					log,
					callAs: noTools,
					backOffMs,
					updateIntervalMs: 0,
				});
				current = reports;
				return {
					...featureOf(reports.worker),
					// A reporter without an answer tries again.
					begin: ({ guild }) =>
						reports.file(guild, {
							reporterId: simulator.user("zoe").id,
							message: {
								id,
								channelId: channel.id,
								authorId: author.id,
								authorKind: "person",
								copy: { text: content, files: [] },
							},
							reason: "spam",
						}),
				};
			},
			async isOver({ sql }) {
				const [row] = await sql`SELECT state, shown, version FROM reports`;
				const isShown = row?.shown === row?.version;
				// Fails if this life is killed, or if it has ended the report.
				if (entriesOf(world).length > 0 && row?.state === "open" && isShown)
					current.end(guild.id, 1, { state: "dismissed", by: "1", case: null }).catch(() => {});
				return row?.state === "dismissed" && isShown;
			},
			outcome: () => [
				entriesOf(world).map(({ embeds, components }) => [embeds.map(({ title }) => title), components.length]),
				executed("POST /channels/:channel_id/messages"),
			],
		};
	},
	"a message in a honeypot"(world) {
		const { simulator, person } = world;
		const { id, channel } = simulator.channel("The Cooks/general");
		const { messages } = simulator.world;
		return {
			settings: {
				features: { moderation: true },
				moderation: { log_channel: simulator.channel("The Cooks/staff").id, tell: [] },
				spam: { on: true, honeypots: [id] },
			},
			create(options) {
				const parts = { ...options, moderationLog: createModerationLog(options) };
				const cases = new Cases({ ...parts, bans: new TempBans(parts) });
				return {
					...createSpam({ ...parts, cdn: "http://127.0.0.1:1", cases, timing: { ...spamTiming, quietMs: 5 } }),
					// In the next life, the account writes again unless it was timed out.
					begin() {
						const { user, communication_disabled_until } = person("mona_lisa");
						if (!communication_disabled_until) messages.add(channel, user, { content: "" });
					},
				};
			},
			async isOver({ sql }) {
				const done = await sql<{ id: string }>`SELECT id FROM spam_incidents WHERE state = ${"done"}`;
				const open = await sql`SELECT id FROM spam_incidents WHERE state = ${"asked"}`;
				const cases = await sql`SELECT source FROM cases WHERE state = ${"done"}`;
				const left = done.filter((row) => messages.get(id, row.id));
				if (done.length === 0 || open.length + left.length > 0) return false;
				return cases.length === done.length && entriesOf(world).length === done.length;
			},
			outcome: () => Boolean(person("mona_lisa").communication_disabled_until),
		};
	},
	"AutoMod rules of presets"({ simulator, guild }) {
		const names = () => simulator.world.autoModeration.in(guild).map(({ name }) => name);
		return {
			settings: { automod: { presets: ["invites", "mass_mentions"] } },
			// It begins with the settings, when it can be killed.
			create: (options) => ({ ...createAutomodRules({ ...options, backOffMs }), attach() {} }),
			isOver: () => names().length >= 2,
			outcome: () => names().sort(),
		};
	},
	"a ban of which the person is told": order("ban", ["ban"]),
	"a warning that a timeout follows": order("warn_member", ["warn", "timeout"], "1 warning in 1d: timeout 1h"),
	"a warning that a temporary ban follows": order("warn_member", ["warn", "temp_ban"], "1 warning in 1d: ban 7d"),
	"a warning that a kick follows": order("warn_member", ["warn", "kick"], "1 warning in 1d: kick"),
	"a warning that a ban follows": order("warn_member", ["warn", "ban"], "1 warning in 1d: ban"),
	"a chargeback, with a ban": chargeback("Ban"),
	"a chargeback, dismissed": chargeback("Dismiss"),
};

/** A document is planned before, and the person asks again until its job runs. */
function jobOf(document: object, setup: Parameters<typeof createTestDocuments>[1] = {}): Omit<Work, "outcome"> {
	return {
		create({ store, mutex, log, ...options }) {
			const settings = new GuildSettings({ store, mutex, log });
			const documents = createTestDocuments({ ...options, store, mutex, log, settings }, setup);
			let hash = "";
			return {
				...documents,
				async prepare({ guild }) {
					hash = hashIn(await documents.plan(guild, { document }));
				},
				begin: () => documents.apply(hash, "because").catch(() => {}),
			};
		},
		isOver: async ({ sql }) => (await sql`SELECT id FROM guild_jobs WHERE ended_at > ${0}`).length > 0,
	};
}

const plannedMessages = {
	bot: { "welcome.channel": "season", "welcome.ai": false },
	channels: [
		{
			name: "season",
			messages: [
				{ key: "intro", content: "Ask in #help.", pin: true },
				{ key: "vote", poll: { question: "Which day?", answers: ["Monday", "Sunday"] } },
				{ key: "same", content: "Same." },
				{ key: "again", content: "Same." },
			],
		},
		{ name: "help", kind: "forum", posts: [{ name: "How to play", content: "Read." }] },
	],
};

const restoreOf = (role: string, channel: string): Restore => ({
	items: [
		{
			kind: "role",
			id: role,
			name: "Cooks",
			fields: {
				exists: { before: true, after: false, entries: ["999999999999999999"] },
				name: { before: "Cooks", after: null, entries: [] },
			},
		},
		{
			kind: "channel",
			id: channel,
			name: "owned",
			fields: { name: { before: "talk", after: "owned", entries: ["1"] } },
		},
	],
	impossible: [],
	kept: [],
	actors: [],
	deleteCreated: false,
	overwriteChanges: false,
	remarks: [],
});

const plannedGuild = {
	version: 1,
	roles: [{ name: "Mods", color: "#FF0000" }],
	channels: [
		{ name: "mod-chat", overwrites: [{ role: "Mods", allow: ["VIEW_CHANNEL"] }] },
		{ name: "general", topic: "Everything" },
	],
};

/** Messages in the channel of the staff. */
function entriesOf({ simulator }: World) {
	return simulator.world.messages.in(simulator.channel("The Cooks/staff").id);
}

/**
 * A moderator's command, given once: what happens are `acts`, of which the person is told. Nothing happens twice or without
 * a case, nobody is told twice, and each case is true.
 */
function order(tool: string, acts: readonly string[], ...rules: readonly string[]): Scenario {
	return ({ simulator, guild, executed }) => {
		allowStaff(simulator);
		const { id } = simulator.user("zoe");
		let rows: CaseRow[] = [];
		let hasEnded = false;
		return {
			settings: { features: { moderation: true }, moderation: { tell: acts, escalate: rules } },
			create({ settings, connection, store, mutex, log }) {
				const parts = { settings, connection, store, mutex, log, moderationLog: noLog, backOffMs };
				const bans = new TempBans(parts);
				const cases = new Cases({ ...parts, bans, decideAfterMs: 0 });
				const none = {} as never;
				const unused = {
					audit: none,
					self: none,
					locks: none,
					settings,
					guildDocuments: none,
					people: none,
					guildId: undefined,
				};
				const calls = new PersonCalls({ record() {}, log });
				calls.begin([...tools, ...createCaseTools({ cases, settings, cdn: simulator.cdn })], {
					...unused,
					connection,
					mutex,
					log,
					cases,
					tempBans: bans,
					principal: undefined,
				});
				return {
					...featureOf(bans, cases.worker, cases.byHand),
					async begin({ isSecond }) {
						if (isSecond) return;
						const { isError } = await calls.callAs({
							guildId: guild.id,
							person: { id: simulator.user("jose.garcia").id, name: "" },
							tool,
							args: { user_ids: [id], reason: "because" },
							command: "/try",
						});
						// A life that was killed gets an error.
						if (!isError) hasEnded = true;
					},
				};
			},
			async isOver({ sql, isSecond }) {
				rows = await sql<CaseRow>`SELECT * FROM cases ORDER BY number`;
				const bans = await sql`SELECT state FROM temp_bans WHERE state = ${"asked"}`;
				return (isSecond || hasEnded) && rows.every(({ state }) => state !== "asked") && bans.length === 0;
			},
			outcome() {
				const isBanned = guild.bans.has(id);
				const isTimedOut = Boolean(guild.members.get(id)?.communication_disabled_until);
				const isKicked = !guild.members.has(id) && !isBanned;
				const truth: Record<string, boolean> = {
					warn: true,
					ban: isBanned,
					temp_ban: isBanned,
					timeout: isTimedOut,
					kick: isKicked,
				};
				const [bot, person] = [simulator.bot("alpha").id, id].map((one) => simulator.world.users.get(one));
				const dm = bot && person && simulator.world.channels.findDm(bot, person);
				const told = dm ? simulator.world.messages.in(dm.id) : [];
				const known = rows.filter(({ told }) => told === "yes").length;
				const tried = rows.filter(({ told }) => told !== null).length;
				return [
					rows.length === 0 || rows.length === acts.length,
					rows.every(({ action }, index) => action === acts[index]),
					rows.every(({ state, action }) => (state === "done") === truth[action]),
					rows.length > 0 || !(isBanned || isTimedOut || isKicked),
					known <= told.length && told.length <= tried,
					told.length === new Set(told.map(({ content }) => content)).size,
					executed(`PUT ${ban}`) <= 1 && executed(patch) <= 1 && executed(`DELETE ${member}`) <= 1,
				];
			},
		};
	};
}

/** A guild with a backup, and the notices of mass deletions in it. */
function backupsOf({ simulator, guild, clock, person }: World) {
	clock.now = anyTime;
	const { channels, emojis } = simulator.world;
	for (let number = 0; number < 3; number += 1) channels.add(guild, { name: `recipes-${number}` });
	emojis.add(guild, person("zoe").user, { name: "soup" });
	const notices: string[] = [];
	const create = ({ connection, store, log }: FeatureOptions): Feature => {
		const given = { connection, store, log, guilds: undefined };
		const backups = new Backups({
			...given,
			settings: { every: dayMs, keep: 14 },
			pictures: createPictures({ store, download: connection.downloadPicture }),
			timing: { now: () => clock.now, startDelayMs: 0, spacingMs: 0, maxSleepMs: 50, backOffMs, shutdownGraceMs: 1 },
		});
		const notify: DeletionWatchOptions["notify"] = async (...given) =>
			void notices.push(noticeOf(...given)(sayIn("en")).embeds[0].data.description ?? "");
		const settings = { deletions: 3, windowMs: 60_000 };
		return featureOf(backups, new DeletionWatch({ ...given, settings, backups, notify, backOffMs, settleMs: 20 }));
	};
	return { create, notices };
}

/** A moderator locks a channel, which announces it, and unlocks it. Nothing is announced twice or stays. */
function announcedLock({ simulator, guild }: World): Work {
	grant(simulator, "Staff", PermissionFlagsBits.ManageRoles);
	const { id } = simulator.channel("The Cooks/general");
	const shown = () => simulator.world.messages.in(id).filter(({ author }) => author.id === simulator.bot("alpha").id);
	const posts = () => simulator.requests.list(`POST /channels/${id}/messages`).length;
	let hasEnded = false;
	return {
		create({ connection, store, mutex, log, settings }) {
			const announcements = new Announcements({ connection, store, log, backOffMs, maxSleepMs: 20, arrivedAfterMs: 5 });
			const calls = new PersonCalls({ record() {}, log });
			const none = {} as never;
			calls.begin(tools, {
				audit: none,
				self: none,
				settings,
				guildDocuments: none,
				people: none,
				guildId: undefined,
				principal: undefined,
				connection,
				mutex,
				log,
				locks: createLocks(store, log),
				announcer: announcements,
			});
			const call = (unlock: boolean) =>
				calls.callAs({
					guildId: guild.id,
					person: { id: simulator.user("jose.garcia").id, name: "" },
					tool: "lock_channel",
					args: { channel_ids: [id], unlock },
					command: "/try",
					announceFrom: id,
				});
			return {
				...featureOf(announcements),
				async begin({ isSecond }) {
					// A life that was killed gets an error. In the next one, the moderator unlocks what is locked.
					if (!isSecond && (await call(false)).isError) return;
					const { isError } = await call(true);
					if (isSecond || !isError) hasEnded = true;
				},
			};
		},
		async isOver({ sql }) {
			const locks = await sql`SELECT channel_id FROM channel_locks`;
			const rows = await sql`SELECT id FROM announcements`;
			return hasEnded && locks.length === 0 && rows.length === 0;
		},
		outcome: () => [shown().length, posts() <= 1],
	};
}

/** Somebody turns raid mode on, or off after that. */
function raids(last: "on" | "off", more: { ends_at?: number } = {}): Scenario {
	const states = last === "on" ? (["on"] as const) : (["on", "off"] as const);
	return ({ guild, clock, simulator }) => {
		clock.now = anyTime;
		const channelId = simulator.channel("The Cooks/staff").id;
		let current: RaidModes;
		/** Asks for the states that are not stored yet, one after the other. */
		const ask = async (wanted: readonly ("on" | "off")[]) => {
			const before = await current.view(guild.id);
			for (const one of wanted.slice(before?.mode.run ?? 0)) {
				const asked = { wanted: one, moderator_id: null, mark: "", slowmode: 30, ...more };
				const { ended } = await current.turn(guild.id, asked);
				await ended;
			}
		};
		return {
			create({ settings, connection, store, mutex, log }) {
				const parts = { settings, connection, store, mutex, log, moderationLog: noLog };
				const notify = ({ run, ends_at }: RaidMode) =>
					postOnce(parts, guild.id, { channelIds: [channelId], nonce: `raid-${run}` }, noticeOfRaid(ends_at ?? 0));
				const timing = { now: () => clock.now, backOffMs, maxSleepMs: 20 };
				current = new RaidModes({ ...parts, ...timing, notify });
				return { ...featureOf(current), begin: () => ask(states) };
			},
			async isReady() {
				if (last === "off") await ask(["on"]);
				return true;
			},
			async isOver({ sql }) {
				const [row] = await sql`SELECT run, ended_at FROM raid_modes`;
				return row?.run === states.length && row.ended_at !== null;
			},
			outcome: () => [
				guild.verification_level,
				guild.incidents_data?.invites_disabled_until ?? null,
				...[...guild.channels.values()].map((one) => Object(one).rate_limit_per_user),
			],
		};
	};
}

function chargeback(decision: "Ban" | "Dismiss"): Scenario {
	return ({ simulator, guild, game, executed }) => {
		const scene = createChargebackFixture(simulator);
		const { alerts, fields, target } = scene;
		const event = {
			id: "ab".repeat(32),
			guild_id: guild.id,
			uuid: "11111111-2222-4333-8444-555555555555",
			username: "Mona",
			chat_id: target.id,
			tier: "gold",
			happened_at: "2026-01-01T00:00:00.000Z",
		};
		const { verify: _, ...settings } = scene.settings;
		/** The lives in which the staff have decided, if they had to. */
		const pressed = new Set<Life>();
		/** Those that have begun: a button that is pressed before says so, and is pressed again. */
		const begun = new Set<Life>();
		return {
			settings: { game: settings },
			create({ connection, store, settings, mutex, log }, url) {
				const client = createGameClient({ url, secret: "secret", log });
				const given = { connection, store, settings, mutex, log, game: client, secret: "secret" };
				const chargebacks = createChargebacks({ ...given, backOffMs, hasGame: () => true });
				return {
					...featureOf(chargebacks),
					start() {},
					async begin(life) {
						// The game server tells until it is heard.
						await insertChargeback(life.sql, event, new Date(event.happened_at));
						chargebacks.start();
						begun.add(life);
					},
				};
			},
			async isOver(life) {
				const [alert] = alerts();
				if (alert && begun.has(life) && !pressed.has(life) && pressable(alert).includes(decision)) {
					pressed.add(life);
					await simulator.user(staff).press(alert, decision);
				}
				if (!alert || pressable(alert).length > 0) return false;
				const shown = fields(alert);
				if (decision === "Dismiss") return shown.Roles === "Restored.";
				return shown["Ban on Discord"] === "Done." && shown["Ban in the game"] === "Done.";
			},
			outcome: () => [
				alerts().length,
				executed(`PUT ${ban}`),
				[...game.bans.keys()],
				guild.bans.size,
				target.roles().length,
				executed(patch),
			],
		};
	};
}
