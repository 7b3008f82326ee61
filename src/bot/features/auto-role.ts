// Members get a role once they have been in the guild for long enough, or have written enough, or both. Whom the store
// says is being promoted is promoted by nobody else; whether that was done say the roles that they have on Discord.

import {
	type Client,
	Events,
	type Guild,
	type GuildMember,
	type Message,
} from "discord.js";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import type { TomlSettings } from "../config/settings.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import { type Activity, selectActivity } from "../store/member-activity.ts";
import { ActivityLog, joinedTimeOf, membershipOf } from "./activity.ts";
import { Promotions } from "./promotions.ts";
import { guildWithRole, RoleWriter, rolesFault } from "./role-writer.ts";

/** So many members are looked at together. */
const lookAtOnce = 500;
/** So many in one sweep, of those about whom nothing is new; the next one goes on from there. */
const looksPerSweep = 5_000;
/** So many promotions in one sweep. */
const promotionsPerSweep = 50;
/** So many people are looked at before all others, for something is new about them. */
const maxFresh = 10_000;
/** How long what is under way is waited for at the end, and then the last batch. */
const farewellMs = 1_500;

export interface AutoRoleTiming {
	/** How often it is looked who is to be promoted. */
	sweepMs: number;
	/** How often it is written down what members have done. */
	flushMs: number;
	/** Waits after failures: doubled each time, up to the second number. */
	backOffMs?: readonly [number, number];
	/** The wall clock, to compare with when people have joined. */
	now(): number;
}

const usualTiming: AutoRoleTiming = {
	sweepMs: 60_000,
	flushMs: 5_000,
	now: Date.now,
};

/** The feature, as `[auto_role]` has it; undefined where it is off. */
export function createAutoRole(
	options: FeatureOptions,
	timing: Partial<AutoRoleTiming> = {},
): (Feature & { sweep(): Promise<void> }) | undefined {
	const { features, auto_role } = options.config.toml;
	if (!features.auto_role || !auto_role) return undefined;
	return new AutoRole(options, auto_role, { ...usualTiming, ...timing });
}

type Settings = NonNullable<TomlSettings["auto_role"]>;

/** What has to be known of somebody. */
interface Standing {
	/** For how long they have been a member. */
	ageMs: number;
	messages: number;
}

/** Whether somebody has done what is asked for; what is 0 is not asked for. */
export function isEarned(
	{ min_age, min_messages, require_all }: Settings,
	{ ageMs, messages }: Standing,
): boolean {
	const asked = [
		...(min_age ? [ageMs >= min_age] : []),
		...(min_messages ? [messages >= min_messages] : []),
	];
	return require_all ? asked.every(Boolean) : asked.some(Boolean);
}

class AutoRole implements Feature {
	readonly #options: FeatureOptions;
	readonly #settings: Settings;
	readonly #timing: AutoRoleTiming;
	readonly #closing = new AbortController();
	readonly #promotions: Promotions;
	readonly #activity: ActivityLog;
	/** About whom something is new since they were last looked at. */
	#fresh = new Set<string>();
	/** How many of the members the last sweeps have looked at. */
	#lookedAt = 0;
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
		this.#activity = new ActivityLog(store, log, settings.to_role);
	}

	attach(client: Client): void {
		client.on(Events.MessageCreate, (message) => this.#noteMessage(message));
		client.on(Events.GuildMemberUpdate, (_, member) => {
			if (!this.#isMeant(member)) return;
			// Somebody may take it from them before the next look.
			if (this.#hasRole(member)) this.#activity.noteHolder(member);
			else this.#noteFresh(member);
		});
		client.on(Events.GuildMemberRemove, (member) => {
			if (!member.guild.roles.cache.has(this.#settings.to_role)) return;
			this.#fresh.delete(member.id);
			const { cache } = member.roles;
			const { restricted_role } = this.#options.config.toml.game ?? {};
			const kept =
				cache.has(this.#settings.to_role) ||
				(restricted_role !== undefined && cache.has(restricted_role));
			this.#activity.noteLeft(member, kept);
		});
	}

	start(): void {
		const { sweepMs, flushMs } = this.#timing;
		this.#timers.push(
			setInterval(() => void this.sweep(), sweepMs),
			setInterval(() => void this.#flush(), flushMs),
		);
	}

	async close(): Promise<void> {
		for (const timer of this.#timers) clearInterval(timer);
		this.#closing.abort();
		await Promise.race([this.#sweeping, Bun.sleep(farewellMs)]);
		await Promise.race([this.#flush(), Bun.sleep(farewellMs)]);
	}

	/** Looks who is to be promoted, and promotes some of them. Never rejects. */
	sweep(): Promise<void> {
		this.#sweeping ??= this.#sweep()
			.catch((error) => this.#noteFailure(error))
			.finally(() => {
				this.#sweeping = undefined;
			});
		return this.#sweeping;
	}

	async #flush(): Promise<void> {
		await this.#activity.flush().catch((error) => this.#noteFailure(error));
	}

	#noteFailure(error: unknown): void {
		// Which says so itself.
		if (error instanceof StoreUnavailable) return;
		this.#options.log.error("auto_role failed", { error });
	}

	#isMeant({ guild, user }: GuildMember): boolean {
		return !user.bot && guild.roles.cache.has(this.#settings.to_role);
	}

	#hasRole({ roles }: GuildMember): boolean {
		return roles.cache.has(this.#settings.to_role);
	}

	#noteMessage({ author, webhookId, system, member }: Message): void {
		if (author.bot || webhookId || system || !member) return;
		if (!this.#isMeant(member)) return;
		this.#activity.noteMessage(member);
		this.#noteFresh(member);
	}

	/** Without room for them, they are looked at when it is their turn. */
	#noteFresh({ id }: GuildMember): void {
		if (this.#fresh.size < maxFresh) this.#fresh.add(id);
	}

	async #sweep(): Promise<void> {
		const guild = this.#guild();
		if (!guild) return;
		await this.#activity.flush();
		await this.#promotions.settleDoubts(guild, promotionsPerSweep);
		const fresh = this.#fresh;
		this.#fresh = new Set();
		const known = [...fresh].flatMap((id) => guild.members.cache.get(id) ?? []);
		let left = promotionsPerSweep;
		for (const members of inPortions(known)) {
			left = await this.#look(guild, members, left);
			if (left > 0) continue;
			// Whoever was not looked at is still to be.
			for (const member of known) this.#noteFresh(member);
			return;
		}
		const { cache } = guild.members;
		if (this.#lookedAt >= cache.size) this.#lookedAt = 0;
		const end = Math.min(this.#lookedAt + looksPerSweep, cache.size);
		while (this.#lookedAt < end) {
			const next = cache.values().drop(this.#lookedAt).take(lookAtOnce);
			left = await this.#look(guild, [...next], left);
			// The next sweep looks at the same ones again.
			if (left <= 0) return;
			this.#lookedAt += lookAtOnce;
		}
	}

	/** The guild in which all can be done that is to be done. */
	#guild(): Guild | undefined {
		const { to_role, from_role } = this.#settings;
		const { connection } = this.#options;
		const guild = guildWithRole(connection, to_role);
		if (!guild) {
			const isKnown = connection.guilds.every(({ available }) => available);
			if (connection.state.connected && isKnown)
				this.#promotions.say(`no guild of the bot's has a role ${to_role}`);
			return undefined;
		}
		const fault = rolesFault(guild, [
			to_role,
			...(from_role ? [from_role] : []),
		]);
		if (fault !== undefined) this.#promotions.say(fault);
		return fault === undefined ? guild : undefined;
	}

	/** Promotes those of the members who have earned it, at most `left`. Gives how many may be promoted after that. */
	async #look(
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
			if (this.#hasRole(member)) this.#activity.noteHolder(member);
			else if (this.#isDue(member, row)) due.push(member);
		}
		due.sort((one, other) => joinedTimeOf(one) - joinedTimeOf(other));
		for (const member of due) {
			if (left <= 0) break;
			if (!(await this.#promotions.promote(guild, membershipOf(member))))
				return 0;
			left -= 1;
		}
		return left;
	}

	/** Whether they have been given the role since they joined, or had lost it when they left. */
	#isPromoted(row: Activity, member: GuildMember): boolean {
		if (row.promoted === 0 || row.role_id !== this.#settings.to_role)
			return false;
		return row.withheld === 1 || row.joined_at === joinedTimeOf(member);
	}

	#isDue(member: GuildMember, row: Activity | undefined): boolean {
		const { from_role } = this.#settings;
		if (member.pending) return false;
		if (this.#promotions.isPutOff(member.id)) return false;
		if (from_role !== undefined && !member.roles.cache.has(from_role))
			return false;
		const joinedAt = joinedTimeOf(member);
		return isEarned(this.#settings, {
			ageMs: this.#timing.now() - joinedAt,
			// Who has come back begins anew.
			messages: row?.joined_at === joinedAt ? row.messages : 0,
		});
	}
}

function* inPortions<T>(items: readonly T[]): Iterable<T[]> {
	for (let at = 0; at < items.length; at += lookAtOnce)
		yield items.slice(at, at + lookAtOnce);
}
