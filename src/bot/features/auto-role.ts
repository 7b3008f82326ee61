// The feature `auto_role`: gives members a role for their time in the guild, their messages, or both.

import {
	type Client,
	Events,
	type Guild,
	type GuildMember,
	type Message,
} from "discord.js";
import { within } from "../../lib/wait.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import type { TomlSettings } from "../config/settings.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import { type Activity, selectActivity } from "../store/member-activity.ts";
import { ActivityBuffer, joinedAtMs, toMembership } from "./activity.ts";
import { Promotions } from "./promotions.ts";
import { findRoleProblem, guildWithRole, RoleWriter } from "./role-writer.ts";

/** Members per query. */
const batchSize = 500;
/** Members without recent activity per sweep. The next sweep continues where this one ends. */
const checksPerSweep = 5_000;
const promotionsPerSweep = 50;
/** Recently active members, who are checked first. */
const maxActive = 10_000;
/** How long a sweep in progress, and then the last flush, may take on shutdown. */
const shutdownGraceMs = 1_500;

export interface AutoRoleTiming {
	sweepIntervalMs: number;
	flushIntervalMs: number;
	/** First and longest wait after failures. */
	backOffMs?: readonly [number, number];
	/** The wall clock. */
	now(): number;
}

const defaultTiming: AutoRoleTiming = {
	sweepIntervalMs: 60_000,
	flushIntervalMs: 5_000,
	now: Date.now,
};

/** Returns undefined when the feature is off. */
export function createAutoRole(
	options: FeatureOptions,
	timing: Partial<AutoRoleTiming> = {},
): (Feature & { sweep(): Promise<void> }) | undefined {
	const { features, auto_role } = options.config.toml;
	if (!features.auto_role || !auto_role) return undefined;
	return new AutoRole(options, auto_role, { ...defaultTiming, ...timing });
}

type Settings = NonNullable<TomlSettings["auto_role"]>;

interface Progress {
	/** Time since the member joined. */
	ageMs: number;
	messages: number;
}

/** Whether a member meets the requirements. A requirement of 0 is off. */
export function isEarned(
	{ min_age, min_messages, require_all }: Settings,
	{ ageMs, messages }: Progress,
): boolean {
	const requirements = [
		...(min_age ? [ageMs >= min_age] : []),
		...(min_messages ? [messages >= min_messages] : []),
	];
	return require_all ? requirements.every(Boolean) : requirements.some(Boolean);
}

class AutoRole implements Feature {
	readonly #options: FeatureOptions;
	readonly #settings: Settings;
	readonly #timing: AutoRoleTiming;
	readonly #closing = new AbortController();
	readonly #promotions: Promotions;
	readonly #activity: ActivityBuffer;
	/** Ids of members who were active since they were last checked. */
	#active = new Set<string>();
	/** Index of the first member that the next sweep checks. */
	#cursor = 0;
	#sweeping: Promise<void> | undefined;
	readonly #timers: Timer[] = [];

	constructor(
		options: FeatureOptions,
		settings: Settings,
		timing: AutoRoleTiming,
	) {
		const { store, log } = options;
		this.#options = options;
		this.#settings = settings;
		this.#timing = timing;
		this.#promotions = new Promotions(
			options,
			settings,
			new RoleWriter(this.#closing.signal, timing.backOffMs),
		);
		this.#activity = new ActivityBuffer(store, log, settings.to_role);
	}

	attach(client: Client): void {
		client.on(Events.MessageCreate, (message) => this.#addMessage(message));
		client.on(Events.GuildMemberUpdate, (_, member) => {
			if (!this.#isEligible(member)) return;
			// Recorded now: the role may be removed by hand before the next sweep.
			if (this.#hasRole(member)) this.#activity.addHolder(member);
			else this.#markActive(member);
		});
		client.on(Events.GuildMemberRemove, (member) => {
			if (!member.guild.roles.cache.has(this.#settings.to_role)) return;
			this.#active.delete(member.id);
			const { cache } = member.roles;
			const { restricted_role } = this.#options.config.toml.game ?? {};
			const keepsPromotion =
				cache.has(this.#settings.to_role) ||
				(restricted_role !== undefined && cache.has(restricted_role));
			this.#activity.addLeft(member, keepsPromotion);
		});
	}

	start(): void {
		const { sweepIntervalMs, flushIntervalMs } = this.#timing;
		this.#timers.push(
			setInterval(() => void this.sweep(), sweepIntervalMs),
			setInterval(() => void this.#flush(), flushIntervalMs),
		);
	}

	async close(): Promise<void> {
		for (const timer of this.#timers) clearInterval(timer);
		this.#closing.abort();
		await within(shutdownGraceMs, this.#sweeping);
		await within(shutdownGraceMs, this.#flush());
	}

	/** Checks members and promotes those who are due. Never rejects. */
	sweep(): Promise<void> {
		this.#sweeping ??= this.#sweep()
			.catch((error) => this.#logFailure(error))
			.finally(() => {
				this.#sweeping = undefined;
			});
		return this.#sweeping;
	}

	async #flush(): Promise<void> {
		await this.#activity.flush().catch((error) => this.#logFailure(error));
	}

	#logFailure(error: unknown): void {
		// The store logs its own outages.
		if (error instanceof StoreUnavailable) return;
		this.#options.log.error("auto_role failed", { error });
	}

	#isEligible({ guild, user }: GuildMember): boolean {
		return !user.bot && guild.roles.cache.has(this.#settings.to_role);
	}

	#hasRole({ roles }: GuildMember): boolean {
		return roles.cache.has(this.#settings.to_role);
	}

	#addMessage({ author, webhookId, system, member }: Message): void {
		if (author.bot || webhookId || system || !member) return;
		if (!this.#isEligible(member)) return;
		this.#activity.addMessage(member);
		this.#markActive(member);
	}

	/** Without room, the member is checked in the regular order. */
	#markActive({ id }: GuildMember): void {
		if (this.#active.size < maxActive) this.#active.add(id);
	}

	async #sweep(): Promise<void> {
		const guild = this.#guild();
		if (!guild) return;
		await this.#activity.flush();
		await this.#promotions.resumeClaimed(guild, promotionsPerSweep);
		const activeIds = this.#active;
		this.#active = new Set();
		const active = [...activeIds].flatMap(
			(id) => guild.members.cache.get(id) ?? [],
		);
		let left = promotionsPerSweep;
		for (const members of batches(active)) {
			left = await this.#check(guild, members, left);
			if (left > 0) continue;
			// Not all were checked: keep them for the next sweep.
			for (const member of active) this.#markActive(member);
			return;
		}
		const { cache } = guild.members;
		if (this.#cursor >= cache.size) this.#cursor = 0;
		const end = Math.min(this.#cursor + checksPerSweep, cache.size);
		while (this.#cursor < end) {
			const next = cache.values().drop(this.#cursor).take(batchSize);
			left = await this.#check(guild, [...next], left);
			// The next sweep checks this batch again.
			if (left <= 0) return;
			this.#cursor += batchSize;
		}
	}

	/** The guild of the role; undefined when the bot cannot give the role there. */
	#guild(): Guild | undefined {
		const { to_role, from_role } = this.#settings;
		const { connection } = this.#options;
		const guild = guildWithRole(connection, to_role);
		if (!guild) {
			const isKnown = connection.guilds.every(({ available }) => available);
			if (connection.state.connected && isKnown)
				this.#promotions.warn(`no guild of this bot has the role ${to_role}`);
			return undefined;
		}
		const problem = findRoleProblem(guild, [
			to_role,
			...(from_role ? [from_role] : []),
		]);
		if (problem !== undefined) this.#promotions.warn(problem);
		return problem === undefined ? guild : undefined;
	}

	/** Promotes up to `left` members who are due. Returns how many may still be promoted. */
	async #check(
		guild: Guild,
		members: readonly GuildMember[],
		left: number,
	): Promise<number> {
		const people = members.filter(({ user }) => !user.bot);
		if (people.length === 0) return left;
		const rows = await selectActivity(
			this.#options.store.sql,
			guild.id,
			people.map(({ id }) => id),
		);
		const known = new Map(rows.map((row) => [row.user_id, row]));
		const due: GuildMember[] = [];
		for (const member of people) {
			const row = known.get(member.id);
			const isPromoted = row !== undefined && this.#isPromoted(row, member);
			if (isPromoted) continue;
			if (this.#hasRole(member)) this.#activity.addHolder(member);
			else if (this.#isDue(member, row)) due.push(member);
		}
		due.sort((a, b) => joinedAtMs(a) - joinedAtMs(b));
		for (const member of due) {
			if (left <= 0) break;
			if (!(await this.#promotions.promote(guild, toMembership(member))))
				return 0;
			left -= 1;
		}
		return left;
	}

	/** Whether the member was promoted since joining, or had lost the role by hand before leaving. */
	#isPromoted(row: Activity, member: GuildMember): boolean {
		if (row.promoted === 0 || row.role_id !== this.#settings.to_role)
			return false;
		return row.withheld === 1 || row.joined_at === joinedAtMs(member);
	}

	#isDue(member: GuildMember, row: Activity | undefined): boolean {
		const { from_role } = this.#settings;
		if (member.pending) return false;
		if (this.#promotions.isPostponed(member.id)) return false;
		if (from_role !== undefined && !member.roles.cache.has(from_role))
			return false;
		const joinedAt = joinedAtMs(member);
		return isEarned(this.#settings, {
			ageMs: this.#timing.now() - joinedAt,
			// Rejoining resets the count.
			messages: row?.joined_at === joinedAt ? row.messages : 0,
		});
	}
}

function* batches<T>(items: readonly T[]): Iterable<T[]> {
	for (let start = 0; start < items.length; start += batchSize)
		yield items.slice(start, start + batchSize);
}
