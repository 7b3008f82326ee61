// The feature `join_role`: gives a role to everyone who joins, at once or after membership screening. The store holds
// when the last handled member joined and who still waits for the role, so that nobody is missed after a restart.

import { type Client, Events, type GuildMember, Routes } from "discord.js";
import { within } from "../../lib/wait.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import {
	type OwedRow,
	saveJoinRoleNotes,
	selectJoinRoleNotes,
} from "../store/join-roles.ts";
import {
	createIsRestricted,
	failureReason,
	findRoleProblem,
	guildWithRole,
	RoleWriter,
} from "./role-writer.ts";

/** Join events may arrive out of order by this much. A guess. */
const toleranceMs = 5_000;
/** How long a write in progress, and then the last save, may take on shutdown. */
const shutdownGraceMs = 1_500;
/** Roles given between two progress lines in the log. */
const logInterval = 100;

export interface JoinRoleTiming {
	/** How often missed members are looked for. */
	scanIntervalMs: number;
	/** How often progress is stored, and waiting members are checked. */
	saveIntervalMs: number;
	/** First and longest wait after failures. */
	backOffMs?: readonly [number, number];
}

/** Returns undefined when the feature is off. */
export function createJoinRole(
	options: FeatureOptions,
	timing: JoinRoleTiming = { scanIntervalMs: 1_000, saveIntervalMs: 10_000 },
): Feature | undefined {
	const { features, join_role } = options.config.toml;
	if (!features.join_role || !join_role) return undefined;
	return new JoinRole(options, join_role.role, timing);
}

/** Members who still get the role: user id to join time. */
type Owed = Map<string, number>;

class JoinRole implements Feature {
	readonly #options: FeatureOptions;
	readonly #roleId: string;
	readonly #timing: JoinRoleTiming;
	readonly #isRestricted;
	readonly #closing = new AbortController();
	readonly #writer: RoleWriter;
	/** Members who can get the role now, oldest first. Leaving removes them. */
	readonly #queue: Owed = new Map();
	/** Members in membership screening, or restricted by a chargeback. */
	readonly #waiting: Owed = new Map();
	/** Both as stored; undefined until the store was read. */
	#saved: Map<string, number> | undefined;
	/** Everyone who joined up to this time was handled or is owed the role; undefined until the store was read. */
	#joinedUntil: number | undefined;
	#savedUntil: number | undefined;
	/** Whether join events may have been missed. */
	#mayHaveMissed = true;
	#given = 0;
	#lastWarning: string | undefined;
	#working: Promise<void> | undefined;
	#scanning: Promise<void> | undefined;
	#timer: Timer | undefined;
	#nextSave = 0;
	readonly #count;

	constructor(options: FeatureOptions, roleId: string, timing: JoinRoleTiming) {
		this.#options = options;
		this.#roleId = roleId;
		this.#timing = timing;
		this.#isRestricted = createIsRestricted(options);
		this.#writer = new RoleWriter(this.#closing.signal, timing.backOffMs);
		this.#count = options.registry?.counter(
			"guildhall_bot_join_roles_total",
			"Roles given to those who joined, by outcome.",
			["outcome"],
		);
		options.registry?.gauge(
			"guildhall_bot_join_roles_owed",
			"Members who joined and have yet to be given the role.",
			[],
			() => [[[], this.#queue.size + this.#waiting.size]],
		);
	}

	attach(client: Client): void {
		const markGap = () => {
			this.#mayHaveMissed = true;
		};
		client.on(Events.ClientReady, markGap);
		client.on(Events.ShardReconnecting, markGap);
		client.on(Events.ShardReady, markGap);
		client.on(Events.GuildMemberAdd, (member) => {
			if (!this.#isEligible(member)) return;
			this.#owe(member);
			// After a gap, earlier members may still be unhandled.
			if (!this.#mayHaveMissed && this.#joinedUntil !== undefined)
				this.#joinedUntil = Math.max(this.#joinedUntil, joinedAt(member));
			this.#work();
		});
		client.on(Events.GuildMemberUpdate, (_, member) => {
			const since = this.#waiting.get(member.id);
			if (since === undefined || member.pending) return;
			this.#owe(member, since);
			this.#work();
		});
		client.on(Events.GuildMemberRemove, ({ id, guild }) => {
			if (guild.roles.cache.has(this.#roleId)) this.#remove(id);
		});
	}

	start(): void {
		this.#timer = setInterval(() => this.#scan(), this.#timing.scanIntervalMs);
	}

	async close(): Promise<void> {
		clearInterval(this.#timer);
		this.#closing.abort();
		const idle = Promise.all([this.#working, this.#scanning]);
		await within(shutdownGraceMs, idle);
		// When this fails, the next start checks more members with the same result.
		const saved = this.#save().catch(() => {});
		await within(shutdownGraceMs, saved);
	}

	#isEligible({ guild, user }: GuildMember): boolean {
		return !user.bot && guild.roles.cache.has(this.#roleId);
	}

	#owe(member: GuildMember, since = joinedAt(member)): void {
		this.#remove(member.id);
		(member.pending ? this.#waiting : this.#queue).set(member.id, since);
	}

	#remove(id: string): void {
		this.#queue.delete(id);
		this.#waiting.delete(id);
	}

	/** Catches up on missed members, rechecks waiting ones and saves. Never rejects. */
	#scan(): void {
		this.#scanning ??= this.#scanOnce()
			.catch((error) => {
				if (!(error instanceof StoreUnavailable))
					this.#options.log.error("join_role scan failed", { error });
			})
			.finally(() => {
				this.#scanning = undefined;
			});
	}

	async #scanOnce(): Promise<void> {
		this.#work();
		if (this.#mayHaveMissed || this.#joinedUntil === undefined)
			await this.#catchUp();
		if (performance.now() < this.#nextSave) return;
		this.#nextSave = performance.now() + this.#timing.saveIntervalMs;
		this.#retryWaiting();
		await this.#save();
	}

	#retryWaiting(): void {
		const guild = this.#guild();
		for (const [id, since] of this.#waiting) {
			const member = guild?.members.cache.get(id);
			if (member && !member.pending) this.#owe(member, since);
		}
		this.#work();
	}

	#guild() {
		return guildWithRole(this.#options.connection, this.#roleId);
	}

	/** Queues members whose join event was missed, once all members are loaded. Rejects with StoreUnavailable. */
	async #catchUp(): Promise<void> {
		const { connection, store, log } = this.#options;
		const guild = this.#guild();
		if (!guild) {
			const isKnown = connection.guilds.every(({ available }) => available);
			if (connection.state.connected && isKnown)
				this.#warn(`no guild of this bot has the role ${this.#roleId}`);
			return;
		}
		if (!connection.knowsMembers(guild)) return;
		if (this.#saved === undefined) {
			const { joinedUntil, owed } = await selectJoinRoleNotes(
				store.sql,
				guild.id,
			);
			this.#saved = new Map(owed.map((row) => [row.user_id, row.joined_at]));
			this.#savedUntil = joinedUntil;
			this.#joinedUntil = joinedUntil;
		}
		// The connection may have been lost during the query.
		if (!connection.knowsMembers(guild)) return;
		this.#mayHaveMissed = false;
		const people = [...guild.members.cache.values()].filter(
			({ user }) => !user.bot,
		);
		const missed = people
			.filter((member) => this.#wasMissed(member))
			.sort((a, b) => joinedAt(a) - joinedAt(b));
		// Missed members go first: they joined earlier.
		const queued = [...this.#queue];
		this.#queue.clear();
		for (const member of missed) this.#owe(member);
		for (const [id, since] of queued) this.#queue.set(id, since);
		// The bot's own join time is the start value for a guild without people.
		const latest = people.reduce(
			(time, member) => Math.max(time, joinedAt(member)),
			this.#joinedUntil ?? guild.joinedTimestamp,
		);
		// On the first start, existing members must not count as new: the tolerance is added, and the time saved at once.
		if (this.#joinedUntil === undefined) this.#nextSave = 0;
		this.#joinedUntil ??= latest + toleranceMs;
		this.#joinedUntil = Math.max(this.#joinedUntil, latest);
		if (missed.length > 0)
			log.info("join_role found missed members", {
				guild: guild.id,
				people: missed.length,
			});
		this.#work();
	}

	/** On the first start, existing members were not missed. */
	#wasMissed(member: GuildMember): boolean {
		const { id, roles } = member;
		if (this.#queue.has(id) || this.#waiting.has(id)) return false;
		if (this.#saved?.get(id) === joinedAt(member))
			return !roles.cache.has(this.#roleId);
		if (this.#joinedUntil === undefined) return false;
		if (joinedAt(member) <= this.#joinedUntil - toleranceMs) return false;
		// A member with another role was handled by someone else. The cache includes @everyone.
		return roles.cache.every(
			(role) => role.managed || role.id === member.guild.id,
		);
	}

	/** Stores what changed. Does nothing while join events may have been missed. */
	async #save(): Promise<void> {
		const saved = this.#saved;
		const joinedUntil = this.#joinedUntil;
		const guildId = this.#guildId;
		if (!saved || joinedUntil === undefined || !guildId) return;
		const current = new Map([...this.#queue, ...this.#waiting]);
		const owed: OwedRow[] = [];
		for (const [id, since] of current)
			if (saved.get(id) !== since) owed.push({ user_id: id, joined_at: since });
		const settled = [...saved.keys()].filter((id) => !current.has(id));
		const isChanged = joinedUntil !== this.#savedUntil;
		if (!isChanged && owed.length + settled.length === 0) return;
		if (this.#mayHaveMissed) return;
		await saveJoinRoleNotes(this.#options.store, guildId, {
			joinedUntil,
			owed,
			settled,
		});
		this.#saved = current;
		this.#savedUntil = joinedUntil;
	}

	#work(): void {
		this.#working ??= this.#processQueue()
			.catch((error) => {
				this.#writer.backOff();
				this.#options.log.error("join_role failed", { error });
			})
			.finally(() => {
				this.#working = undefined;
			});
	}

	async #processQueue(): Promise<void> {
		const { log } = this.#options;
		while (this.#queue.size > 0 && (await this.#writer.ready())) {
			const [first] = this.#queue;
			// The member may have left.
			if (!first) return;
			const [id, since] = first;
			const outcome = await this.#give(id);
			if (outcome === "later") return;
			// The member may have left and rejoined.
			if (this.#queue.get(id) !== since) continue;
			this.#queue.delete(id);
			if (outcome === "wait") this.#waiting.set(id, since);
			if (outcome === "retry") this.#queue.set(id, since);
			if (outcome !== "given") continue;
			this.#given += 1;
			if (this.#given % logInterval === 0)
				log.info("join_role progress", {
					given: this.#given,
					left: this.#queue.size,
				});
		}
	}

	/** "wait": the member cannot have the role yet. "retry": it failed. "later": the bot cannot give the role to anyone. */
	async #give(
		id: string,
	): Promise<"given" | "settled" | "wait" | "retry" | "later"> {
		const { connection, mutex } = this.#options;
		const guild = this.#guild();
		if (!guild) return "later";
		const problem = findRoleProblem(guild, [this.#roleId]);
		if (problem !== undefined) {
			this.#warn(problem);
			return "later";
		}
		return mutex.withLock(id, async () => {
			const member = guild.members.cache.get(id);
			if (!member) return "settled";
			if (member.roles.cache.has(this.#roleId)) return "settled";
			if (member.pending) return "wait";
			try {
				if (await this.#isRestricted(id, [...member.roles.cache.keys()]))
					return "wait";
			} catch (error) {
				// The member may be restricted.
				if (error instanceof StoreUnavailable) return "wait";
				throw error;
			}
			const written = await this.#writer.write(() =>
				connection.discord.rest.put(
					Routes.guildMemberRole(guild.id, id, this.#roleId),
					{ reason: "for everyone who joins" },
				),
			);
			if (written === "gone") return "settled";
			if (written === "done") {
				this.#lastWarning = undefined;
				this.#count?.add(["given"]);
				return "given";
			}
			this.#count?.add(["failed"]);
			this.#warn(failureReason(written));
			// Also when the outcome is unknown: the request is idempotent.
			return "retry";
		});
	}

	/** Repeats no reason until a role was given. */
	#warn(reason: string): void {
		if (reason !== this.#lastWarning)
			this.#options.log.warn("join_role cannot give the role", {
				reason,
				left: this.#queue.size,
			});
		this.#lastWarning = reason;
	}

	/** Also while the guild is unavailable. */
	get #guildId(): string | undefined {
		return this.#options.connection.guilds.find(({ roles }) =>
			roles.cache.has(this.#roleId),
		)?.id;
	}
}

function joinedAt({ joinedTimestamp }: GuildMember): number {
	return joinedTimestamp ?? 0;
}
