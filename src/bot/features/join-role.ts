// The feature `join_role`: gives a role to everyone who joins, at once or after membership screening. The store holds
// when the last handled member joined and who still waits for the role, so that nobody is missed after a restart.

import { type Client, Events, type GuildMember, Routes } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { within } from "../../lib/wait.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import {
	connectedGuild,
	createIsRestricted,
	failureReason,
	guildForRoles,
	type IsRestricted,
	RoleWriter,
} from "../commands/role-writer.ts";
import { PerGuild } from "../settings/per-guild.ts";
import { Durable, NotNow } from "../store/durable.ts";
import { deleteJoinRoleNotes, saveJoinRoleNotes, selectJoinRoleNotes } from "../store/tables/joins.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { joinedAtMs } from "./activity.ts";

const toleranceMs = 5_000;
const shutdownGraceMs = 1_500;

interface JoinRoleTiming {
	/** Interval at which the bot looks for members who joined and still have to get the newcomer role. */
	scanIntervalMs: number;
	/** Stores who still has to get the role, and tries again to give it. */
	saveIntervalMs: number;
	/** The first wait after a failed role change and the longest, in milliseconds; doubles with each failure in a row. */
	backOffMs?: readonly [number, number];
}

type Owed = Map<string, number>;

export function createJoinRole(
	options: FeatureOptions,
	timing: JoinRoleTiming = { scanIntervalMs: 1_000, saveIntervalMs: 10_000 },
): Feature {
	const { registry, settings } = options;
	const count = registry?.counter("guildhall_bot_join_roles_total", "Roles given to those who joined, by outcome.", [
		"outcome",
	]);
	const guilds = new PerGuild({
		settings,
		given: (values) => values["join_role.role"],
		create: (guildId, roleId, isNew) =>
			new JoinRole({ ...options, guildId, roleId, isNew, timing, count: (outcome) => count?.add([outcome]) }),
	});
	registry?.gauge("guildhall_bot_join_roles_owed", "Members who joined and have yet to be given the role.", [], () => [
		[[], guilds.all().reduce((sum, { owed }) => sum + owed, 0)],
	]);
	const markGap = () => {
		for (const one of guilds.all()) one.markGap();
	};
	return {
		attach(client: Client) {
			client.on(Events.ClientReady, markGap);
			client.on(Events.ShardReconnecting, markGap);
			client.on(Events.ShardReady, markGap);
			client.on(Events.GuildMemberAdd, (member) => guilds.of(member.guild.id)?.added(member));
			client.on(Events.GuildMemberUpdate, (_, member) => guilds.of(member.guild.id)?.updated(member));
			client.on(Events.GuildMemberRemove, ({ id, guild }) => guilds.of(guild.id)?.removed(id));
		},
		start: () => guilds.start(),
		close: () => guilds.close(),
	};
}

interface JoinRoleOptions extends FeatureOptions {
	guildId: string;
	roleId: string;
	/** It was just switched on: who is a member already does not get the role. */
	isNew: boolean;
	timing: JoinRoleTiming;
	count(outcome: "given" | "failed"): void;
}

/** In one guild. */
class JoinRole {
	readonly #connection: Connection;
	readonly #isRestricted: IsRestricted;
	readonly #closing = new AbortController();
	readonly #writer: RoleWriter;
	readonly #queue: Owed = new Map();
	readonly #waiting: Owed = new Map();
	/** What the database had at the last write; undefined until it was read. */
	#saved: { owed: Owed; until: number | undefined } | undefined;
	#joinedUntil: number | undefined;
	#mayHaveMissed = true;
	#lastWarning: string | undefined;
	#nextSave = 0;
	#isNew: boolean;
	readonly #work: Durable;

	constructor(private readonly options: JoinRoleOptions) {
		const { connection, log, isNew, timing } = options;
		const { scanIntervalMs, saveIntervalMs, backOffMs } = timing;
		this.#isNew = isNew;
		this.#connection = connection;
		this.#isRestricted = createIsRestricted(options);
		this.#writer = new RoleWriter(this.#closing.signal, backOffMs);
		const failure = "join_role feature: could not give new members the role";
		this.#work = new Durable({
			name: "the role of join_role",
			log,
			backOffMs: [scanIntervalMs, scanIntervalMs],
			// Giving roles needs no database, and storing new members does not need Discord.
			scan: async () => [
				...(this.#queue.size > 0 ? [{ key: "give", failure, run: () => this.#processQueue() }] : []),
				{
					key: "save",
					failure,
					inMs: this.#mayHaveMissed ? 0 : this.#nextSave - performance.now(),
					run: () => this.#catchUpAndSave(saveIntervalMs),
				},
			],
		});
	}

	get owed(): number {
		return this.#queue.size + this.#waiting.size;
	}

	#owe(member: GuildMember, since = joinedAtMs(member)): void {
		this.removed(member.id);
		(member.pending ? this.#waiting : this.#queue).set(member.id, since);
	}

	async #catchUpAndSave(intervalMs: number): Promise<void> {
		if (this.#mayHaveMissed) await this.#catchUp();
		if (performance.now() >= this.#nextSave) {
			this.#nextSave = performance.now() + intervalMs;
			this.#retryWaiting();
			await this.#save();
		}
		if (this.#mayHaveMissed) throw new NotNow("the bot has not loaded all members of the guild yet");
	}

	#retryWaiting(): void {
		const guild = connectedGuild(this.#connection, this.options.guildId);
		for (const [id, since] of this.#waiting) {
			const member = guild?.members.cache.get(id);
			if (member && !member.pending) this.#owe(member, since);
		}
	}

	/** Does nothing until all members are loaded. Rejects with StoreUnavailable. */
	async #catchUp(): Promise<void> {
		const guild = connectedGuild(this.#connection, this.options.guildId);
		if (!guild || !this.#connection.hasAllMembers(guild)) return;
		if (this.#isNew) await deleteJoinRoleNotes(this.options.store, guild.id);
		this.#isNew = false;
		if (this.#saved === undefined) {
			const notes = await selectJoinRoleNotes(this.options.store.sql, guild.id);
			const owed = new Map(notes.owed.map((row) => [row.user_id, row.joined_at]));
			this.#saved = { owed, until: notes.joinedUntil };
			this.#joinedUntil = notes.joinedUntil;
		}
		// The connection may have been lost during the query.
		if (!this.#connection.hasAllMembers(guild)) return;
		this.#mayHaveMissed = false;
		const people = [...guild.members.cache.values()].filter(({ user }) => !user.bot);
		const missed = people.filter((member) => this.#wasMissed(member)).sort((a, b) => joinedAtMs(a) - joinedAtMs(b));
		// Missed members go first: they joined earlier.
		const queued = [...this.#queue];
		this.#queue.clear();
		for (const member of missed) this.#owe(member);
		for (const [id, since] of queued) this.#queue.set(id, since);
		// The bot's own join time is the start value for a guild without people.
		const latest = people.reduce(
			(time, member) => Math.max(time, joinedAtMs(member)),
			this.#joinedUntil ?? guild.joinedTimestamp,
		);
		// On the first start, existing members must not count as new: the tolerance is added, and the time saved at once.
		if (this.#joinedUntil === undefined) this.#nextSave = 0;
		this.#joinedUntil ??= latest + toleranceMs;
		this.#joinedUntil = Math.max(this.#joinedUntil, latest);
		if (missed.length > 0)
			this.options.log.info("join_role feature: members joined while the bot was offline", {
				guild: guild.id,
				members: missed.length,
			});
	}

	#wasMissed(member: GuildMember): boolean {
		const { id, roles } = member;
		if (this.#queue.has(id) || this.#waiting.has(id)) return false;
		if (this.#saved?.owed.get(id) === joinedAtMs(member)) return !roles.cache.has(this.options.roleId);
		if (this.#joinedUntil === undefined) return false;
		if (joinedAtMs(member) <= this.#joinedUntil - toleranceMs) return false;
		// A member with another role was handled by someone else. The cache includes @everyone.
		return roles.cache.every((role) => role.managed || role.id === member.guild.id);
	}

	async #save(): Promise<void> {
		const until = this.#joinedUntil;
		if (!this.#saved || until === undefined || this.#mayHaveMissed) return;
		const before = this.#saved.owed;
		const current = new Map([...this.#queue, ...this.#waiting]);
		const owed = [...current]
			.filter(([id, since]) => before.get(id) !== since)
			.map(([user_id, joined_at]) => ({ user_id, joined_at }));
		const settled = [...before.keys()].filter((id) => !current.has(id));
		if (until === this.#saved.until && owed.length + settled.length === 0) return;
		await saveJoinRoleNotes(this.options.store, this.options.guildId, { joinedUntil: until, owed, settled });
		this.#saved = { owed: current, until };
	}

	async #processQueue(): Promise<void> {
		while (this.#queue.size > 0 && (await this.#writer.ready())) {
			const [first] = this.#queue;
			// The member may have left.
			if (!first) return;
			const [id, since] = first;
			const outcome = await this.#give(id);
			if (outcome === "later")
				throw new NotNow(`the bot cannot give new members the role of join_role: ${this.#lastWarning}`);
			// The member may have left and rejoined.
			if (this.#queue.get(id) !== since) continue;
			this.#queue.delete(id);
			if (outcome === "wait") this.#waiting.set(id, since);
			if (outcome === "retry") this.#queue.set(id, since);
		}
	}

	async #give(id: string): Promise<"settled" | "wait" | "retry" | "later"> {
		const { guildId, roleId } = this.options;
		const guild = guildForRoles(this.#connection, guildId, [roleId], this.#warn);
		if (!guild) return "later";
		return this.options.mutex.withLock(id, async () => {
			const member = guild.members.cache.get(id);
			if (!member) return "settled";
			if (member.roles.cache.has(roleId)) return "settled";
			if (member.pending) return "wait";
			try {
				if (await this.#isRestricted(guild.id, id, [...member.roles.cache.keys()])) return "wait";
			} catch (error) {
				// The member may be restricted: only the store knows.
				if (error instanceof StoreUnavailable) return "wait";
				throw error;
			}
			const written = await this.#writer.write(() =>
				this.#connection.discord.rest.put(Routes.guildMemberRole(guild.id, id, roleId), {
					reason: "for everyone who joins",
				}),
			);
			if (written === "gone") return "settled";
			if (written === "done") {
				this.#lastWarning = undefined;
				this.options.count("given");
				return "settled";
			}
			this.options.count("failed");
			this.#warn(failureReason(written));
			// Also when the outcome is unknown: the request is idempotent.
			return "retry";
		});
	}

	readonly #warn = (reason: string): void => {
		if (reason !== this.#lastWarning)
			this.options.log.warn("join_role feature: could not give new members the role", {
				guild: this.options.guildId,
				reason,
				still_queued: this.#queue.size,
			});
		this.#lastWarning = reason;
	};

	readonly markGap = (): void => {
		this.#mayHaveMissed = true;
		this.#work.wake();
	};

	added(member: GuildMember): void {
		if (member.user.bot) return;
		this.#owe(member);
		// After a gap, earlier members may still be unhandled.
		if (!this.#mayHaveMissed && this.#joinedUntil !== undefined)
			this.#joinedUntil = Math.max(this.#joinedUntil, joinedAtMs(member));
		this.#work.wake();
	}

	updated(member: GuildMember): void {
		const since = this.#waiting.get(member.id);
		if (since === undefined || member.pending) return;
		this.#owe(member, since);
		this.#work.wake();
	}

	removed(id: string): void {
		this.#queue.delete(id);
		this.#waiting.delete(id);
	}

	start(): void {
		this.#work.wake();
	}

	async close(): Promise<void> {
		this.#closing.abort();
		await this.#work.close(shutdownGraceMs);
		// When this fails, the next start checks more members with the same result.
		await within(
			shutdownGraceMs,
			this.#save().catch(() => {}),
		);
	}
}
