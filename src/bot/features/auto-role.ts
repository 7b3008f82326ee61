// The feature `auto_role`: gives members a role for their time in the guild, their messages, or both.

import { type Client, Events, type Guild, type GuildMember, type Message, type PartialGuildMember } from "discord.js";
import { inBatches } from "../../lib/store/statement.ts";
import { within } from "../../lib/wait.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import { createIsRestricted, guildForRoles, type IsRestricted, RoleWriter } from "../commands/role-writer.ts";
import type { Values } from "../settings/keys.ts";
import { PerGuild } from "../settings/per-guild.ts";
import { type Activity, selectActivity } from "../store/tables/member-activity.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { ActivityBuffer, joinedAtMs } from "./activity.ts";
import { createPromotions } from "./promotions.ts";

const batchSize = 500;
const checksPerSweep = 5_000;
const promotionsPerSweep = 50;
const maxActive = 10_000;
const shutdownGraceMs = 1_500;

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

interface Progress {
	ageMs: number;
	messages: number;
}

/** By time in the guild and number of messages. A requirement of 0 is ignored. */
export function isEarned(
	{ min_age, min_messages, require_all }: Pick<Settings, "min_age" | "min_messages" | "require_all">,
	{ ageMs, messages }: Progress,
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
	readonly #promotions: ReturnType<typeof createPromotions>;
	readonly #activity: ActivityBuffer;
	#activeIds = new Set<string>();
	#cursor = 0;
	#sweeping: Promise<void> | undefined;
	readonly #timers: Timer[] = [];

	constructor(private readonly options: AutoRoleOptions) {
		const writer = new RoleWriter(this.#closing.signal, options.timing.backOffMs);
		this.#promotions = createPromotions(options, writer);
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
		const guild = guildForRoles(connection, guildId, roles, this.#promotions.warn);
		if (!guild) return;
		await this.#activity.flush();
		await this.#promotions.resumeClaimed(guild, promotionsPerSweep);
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
		const rows = await selectActivity(
			this.options.store.sql,
			guild.id,
			people.map(({ id }) => id),
		);
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
			if (!(await this.#promotions.promote(guild, membership))) return 0;
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
		if (member.pending || this.#promotions.isPostponed(member.id)) return false;
		if (this.options.settings.from_role !== undefined && !member.roles.cache.has(this.options.settings.from_role))
			return false;
		const joinedAt = joinedAtMs(member);
		return isEarned(this.options.settings, {
			ageMs: this.options.timing.now() - joinedAt,
			// Rejoining resets the count.
			messages: row?.joined_at === joinedAt ? row.messages : 0,
		});
	}

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
