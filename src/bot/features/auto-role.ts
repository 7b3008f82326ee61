// The feature `auto_role`: gives members a role for their time in the guild, their messages, or both. A promotion is stored as in
// progress, written to Discord, and stored as done. A later sweep completes one that remains in progress.

import {
	type APIGuildMember,
	type Client,
	Events,
	type Guild,
	type GuildMember,
	type Message,
	type PartialGuildMember,
	Routes,
} from "discord.js";
import { inBatches } from "../../lib/store/statement.ts";
import { within } from "../../lib/wait.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import {
	createIsRestricted,
	failureReason,
	guildForRoles,
	type IsRestricted,
	RoleWriter,
	type WriteFailure,
} from "../commands/role-writer.ts";
import type { Values } from "../settings/keys.ts";
import { PerGuild } from "../settings/per-guild.ts";
import {
	type Activity,
	activityRows,
	claimPromotion,
	type Membership,
	releasePromotion,
} from "../store/tables/member-activity.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { ActivityBuffer, joinedAtMs } from "./activity.ts";

const batchSize = 500;
const checksPerSweep = 5_000;
const promotionsPerSweep = 50;
const maxActive = 10_000;
const shutdownGraceMs = 1_500;
const postponeMs = 600_000;
const maxPostponed = 100;

interface AutoRoleTiming {
	sweepIntervalMs: number;
	flushIntervalMs: number;
	/** The first wait after a failed role change and the longest, in milliseconds; doubles with each failure in a row. */
	backOffMs?: readonly [number, number];
	now(): number;
}

const defaultTiming: AutoRoleTiming = { sweepIntervalMs: 60_000, flushIntervalMs: 5_000, now: Date.now };

/** Undefined if it is off: without a role, or without what members have to do for it. */
function settingsIn(values: Values) {
	const { "auto_role.from_role": from_role, "auto_role.to_role": to_role } = values;
	const { "auto_role.min_age": min_age, "auto_role.min_messages": min_messages } = values;
	const require_all = values["auto_role.require_all"];
	/** Of those who are restricted by a chargeback. */
	const restricted_role = values["game.restricted_role"];
	if (to_role === undefined || to_role === from_role || !(min_age || min_messages)) return undefined;
	return { from_role, to_role, min_age, min_messages, require_all, restricted_role };
}

type Settings = NonNullable<ReturnType<typeof settingsIn>>;

/** By time in the guild and number of messages. A requirement of 0 is ignored. */
export function isEarned(
	{ min_age, min_messages, require_all }: Pick<Settings, "min_age" | "min_messages" | "require_all">,
	{ ageMs, messages }: { ageMs: number; messages: number },
): boolean {
	const requirements = [...(min_age ? [ageMs >= min_age] : []), ...(min_messages ? [messages >= min_messages] : [])];
	return require_all ? requirements.every(Boolean) : requirements.some(Boolean);
}

export function createAutoRole(options: FeatureOptions, changes: Partial<AutoRoleTiming> = {}) {
	const timing = { ...defaultTiming, ...changes };
	const { registry, settings } = options;
	const isRestricted = createIsRestricted(options);
	const counter = registry?.counter("guildhall_bot_promotions_total", "Promotions by auto_role, by outcome.", [
		"outcome",
	]);
	const count = (outcome: string) => counter?.add([outcome]);
	const guilds = new PerGuild({
		settings,
		given: settingsIn,
		create: (guildId, given) => new AutoRole({ ...options, isRestricted, guildId, settings: given, timing, count }),
	});
	return {
		/** Checks all members of all guilds. Never rejects. */
		async sweep() {
			await Promise.all(guilds.all().map((one) => one.sweep()));
		},
		attach(client: Client) {
			client.on(Events.MessageCreate, (message) => guilds.of(message.guildId ?? "")?.addMessage(message));
			client.on(Events.GuildMemberUpdate, (_, member) => guilds.of(member.guild.id)?.updated(member));
			client.on(Events.GuildMemberRemove, (member) => guilds.of(member.guild.id)?.removed(member));
		},
		start: () => guilds.start(),
		close: () => guilds.close(),
	} satisfies Feature & { sweep(): Promise<void> };
}

interface AutoRoleOptions extends Omit<FeatureOptions, "settings"> {
	guildId: string;
	settings: Settings;
	isRestricted: IsRestricted;
	timing: AutoRoleTiming;
	count(outcome: string): void;
}

/** In one guild. */
class AutoRole {
	readonly #closing = new AbortController();
	readonly #writer: RoleWriter;
	readonly #activity: ActivityBuffer;
	/** Whether the database may contain promotions that were started but not confirmed by Discord. */
	#hasClaims = true;
	readonly #postponed = new Map<string, number>();
	#lastWarning: string | undefined;
	#activeIds = new Set<string>();
	#cursor = 0;
	#sweeping: Promise<void> | undefined;
	readonly #timers: Timer[] = [];

	constructor(private readonly options: AutoRoleOptions) {
		this.#writer = new RoleWriter(this.#closing.signal, options.timing.backOffMs);
		this.#activity = new ActivityBuffer(options);
	}

	/** Promotes (gives a role to) members who meet the requirements. Concurrent calls share one check. Never rejects. */
	sweep(): Promise<void> {
		this.#sweeping ??= this.#logged(
			"auto_role feature: could not check which members are to get its role: internal error",
			() => this.#checkAll(),
		).finally(() => {
			this.#sweeping = undefined;
		});
		return this.#sweeping;
	}

	#flush(): Promise<void> {
		return this.#logged("auto_role feature: could not save message counts: internal error", () =>
			this.#activity.flush(),
		);
	}

	async #logged(failure: string, work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			// The store logs its own outages.
			if (!(error instanceof StoreUnavailable)) this.options.log.error(failure, { error });
		}
	}

	#hasRole({ roles }: Pick<GuildMember, "roles">): boolean {
		return roles.cache.has(this.options.settings.to_role);
	}

	addMessage({ author, webhookId, system, member }: Message): void {
		if (author.bot || webhookId || system || !member) return;
		this.#activity.addMessage(member);
		this.#markActive(member);
	}

	#markActive({ id }: GuildMember): void {
		if (this.#activeIds.size < maxActive) this.#activeIds.add(id);
	}

	async #checkAll(): Promise<void> {
		const { connection, guildId, settings } = this.options;
		const roles = [settings.to_role, ...(settings.from_role ? [settings.from_role] : [])];
		const guild = guildForRoles(connection, guildId, roles, this.#warn);
		if (!guild) return;
		await this.#activity.flush();
		await this.#resumeClaimed(guild);
		const active = [...this.#activeIds].flatMap((id) => guild.members.cache.get(id) ?? []);
		this.#activeIds = new Set();
		let left = promotionsPerSweep;
		for (const members of inBatches(active, batchSize)) {
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
			left = await this.#check(guild, [...cache.values().drop(this.#cursor).take(batchSize)], left);
			// The next sweep checks this batch again.
			if (left <= 0) return;
			this.#cursor += batchSize;
		}
	}

	async #check(guild: Guild, members: readonly GuildMember[], left: number): Promise<number> {
		const people = members.filter(({ user }) => !user.bot);
		if (people.length === 0) return left;
		const activity = { guild_id: guild.id, user_id: people.map(({ id }) => id) };
		const rows = await activityRows.all(this.options.store.sql, activity);
		const known = new Map(rows.map((row) => [row.user_id, row]));
		const due: GuildMember[] = [];
		for (const member of people) {
			const row = known.get(member.id);
			if (row && this.#isPromoted(row, member)) continue;
			if (this.#hasRole(member)) this.#activity.addHolder(member);
			else if (this.#isDue(member, row)) due.push(member);
		}
		due.sort((a, b) => joinedAtMs(a) - joinedAtMs(b));
		for (const member of due) {
			if (left <= 0) break;
			const membership = { user_id: member.id, joined_at: joinedAtMs(member) };
			if (!(await this.#promote(guild, membership))) return 0;
			left -= 1;
		}
		return left;
	}

	/** Given once already since the member joined, or someone removed it before the member last left the guild. */
	#isPromoted(row: Activity, member: GuildMember): boolean {
		if (row.promoted === 0 || row.role_id !== this.options.settings.to_role) return false;
		return row.withheld === 1 || row.joined_at === joinedAtMs(member);
	}

	#isDue(member: GuildMember, row: Activity | undefined): boolean {
		if (member.pending || (this.#postponed.get(member.id) ?? 0) > performance.now()) return false;
		if (this.options.settings.from_role !== undefined && !member.roles.cache.has(this.options.settings.from_role))
			return false;
		const joinedAt = joinedAtMs(member);
		return isEarned(this.options.settings, {
			ageMs: this.options.timing.now() - joinedAt,
			// Rejoining resets the count.
			messages: row?.joined_at === joinedAt ? row.messages : 0,
		});
	}

	async #resumeClaimed(guild: Guild): Promise<void> {
		if (!this.#hasClaims) return;
		const claimed = { guild_id: guild.id, claimed: 1 } as const;
		const rows = await activityRows.all(this.options.store.sql, claimed, "user_id", promotionsPerSweep);
		// When these were the last ones, the next sweep finds none.
		this.#hasClaims = rows.length > 0;
		for (const row of rows) if (!(await this.#promote(guild, row, true))) return;
	}

	/** False if no other member can be promoted now. */
	async #promote(guild: Guild, person: Membership, isClaimed = false): Promise<boolean> {
		if (!(await this.#writer.ready())) return false;
		try {
			return await this.options.mutex.withLock(person.user_id, () => this.#promoteLocked(guild, person, isClaimed));
		} catch (error) {
			// The promotion may be stored as in progress.
			if (error instanceof StoreUnavailable) this.#hasClaims = true;
			throw error;
		}
	}

	async #promoteLocked(guild: Guild, person: Membership, isClaimed: boolean): Promise<boolean> {
		const { connection, store, log, isRestricted, count } = this.options;
		const { to_role, from_role } = this.options.settings;
		const { sql } = store;
		const { user_id: id } = person;
		const { rest } = connection.discord;
		let fetched: APIGuildMember | undefined;
		// The cache may be older.
		const read = await this.#writer.write(async () => {
			fetched = (await rest.get(Routes.guildMember(guild.id, id))) as APIGuildMember;
		});
		if (read !== "done" && read !== "gone") return this.#fail(read, id);
		const isSame = Date.parse(fetched?.joined_at ?? "") === person.joined_at;
		const member = isSame ? fetched : undefined;
		if (member?.roles.includes(to_role)) {
			if (isClaimed) await activityRows.change(sql, { guild_id: guild.id, user_id: id }, { claimed: 0 });
			return true;
		}
		const isEligible =
			member &&
			!member.pending &&
			(from_role === undefined || member.roles.includes(from_role)) &&
			!(await isRestricted(guild.id, id, member.roles));
		if (!member || !isEligible) {
			if (isClaimed) await releasePromotion(sql, guild.id, id);
			return true;
		}
		if (!isClaimed && !(await claimPromotion(sql, guild.id, person, to_role))) return true;
		const roles = [...member.roles.filter((role) => role !== from_role), to_role];
		const written = await this.#writer.write(() =>
			rest.patch(Routes.guildMember(guild.id, id), {
				body: { roles },
				reason: `promoted: a member since ${new Date(person.joined_at).toISOString()}`,
			}),
		);
		if (written === "done") {
			this.#lastWarning = undefined;
			count("promoted");
			await activityRows.change(sql, { guild_id: guild.id, user_id: id }, { claimed: 0 });
			log.info("auto_role feature: gave a member the role for active members", { guild: guild.id, user: id });
			return true;
		}
		// The next sweep resumes this promotion.
		if (typeof written === "object" && "outcomeUnknown" in written) this.#hasClaims = true;
		else await releasePromotion(sql, guild.id, id);
		return written === "gone" || this.#fail(written, id);
	}

	#fail(result: WriteFailure, id: string): boolean {
		this.options.count("failed");
		this.#warn(failureReason(result));
		if ("outcomeUnknown" in result || !result.isRefused) return false;
		const now = performance.now();
		for (const [userId, until] of this.#postponed) if (until <= now) this.#postponed.delete(userId);
		// So many refusals are not about single members.
		if (this.#postponed.size >= maxPostponed) return false;
		this.#postponed.set(id, now + postponeMs);
		return true;
	}

	readonly #warn = (reason: string): void => {
		if (reason !== this.#lastWarning)
			this.options.log.warn("auto_role feature: could not give one or more active members its role", { reason });
		this.#lastWarning = reason;
	};

	updated(member: GuildMember): void {
		if (member.user.bot) return;
		// Recorded now: the role may be removed by hand before the next sweep.
		if (this.#hasRole(member)) this.#activity.addHolder(member);
		else this.#markActive(member);
	}

	removed(member: GuildMember | PartialGuildMember): void {
		this.#activeIds.delete(member.id);
		const { restricted_role } = this.options.settings;
		const isRestricted = restricted_role !== undefined && member.roles.cache.has(restricted_role);
		this.#activity.addLeft(member, this.#hasRole(member) || isRestricted);
	}

	start(): void {
		this.#timers.push(
			setInterval(() => this.sweep(), this.options.timing.sweepIntervalMs),
			setInterval(() => this.#flush(), this.options.timing.flushIntervalMs),
		);
	}

	async close(): Promise<void> {
		for (const timer of this.#timers) clearInterval(timer);
		this.#closing.abort();
		await within(shutdownGraceMs, this.#sweeping);
		await within(shutdownGraceMs, this.#flush());
	}
}
