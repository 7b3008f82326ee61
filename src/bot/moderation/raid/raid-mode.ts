// Turns raid mode on and off in the background. A request is stored first, and each change of a setting is stored
// before it is sent to Discord. The next change follows from the stored state and Discord's current values. So the work
// continues after a crash or an outage, and stops when somebody requests the opposite.

import { type Client, DiscordAPIError, Events, type Guild } from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { describePlatformError, saidPlatformError } from "../../../discord/rest/errors.ts";
import { PlatformFailure, PlatformTimeout } from "../../../discord/rest/rest.ts";
import { auditReason } from "../../../discord/text.ts";
import type { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { said } from "../../../texts/texts.ts";
import type { Grants } from "../../settings/grants.ts";
import { Durable, type DurableOptions, DurablePart, NotNow, requireGuild, type Step } from "../../store/durable.ts";
import type { Store } from "../../store/store.ts";
import {
	type RaidMode,
	type RaidStep,
	raidModeRows,
	raidStepRows,
	selectOpenRaidModes,
} from "../../store/tables/raid-modes.ts";
import type { ModerationLog } from "../moderation-log.ts";
import {
	confirmed,
	isChannel,
	isUnrenewed,
	keyOf,
	type Move,
	newsOf,
	noteOf,
	refused,
	renewalInMs,
	unanswered,
} from "./raid-rules.ts";
import { planRaidMode, type ReadSettings, readSettings, sendSetting } from "./raid-settings.ts";
import { endEntry, laterEntry, progressEntry } from "./raid-text.ts";

const batchSize = 10;
const maxAgeMs = 15_000;
const progressMs = 60_000;
const maxUnanswered = 5;

export interface RaidModesOptions extends Pick<DurableOptions, "log" | "backOffMs" | "maxSleepMs"> {
	connection: Connection;
	store: Pick<Store, "sql">;
	settings: Grants;
	/** Keys: guild and channel ids. Tools must not edit the same guild or channel at the same time. */
	mutex: KeyedMutex;
	moderationLog: Pick<ModerationLog, "add">;
	/** Tells staff that the bot turned it on by itself. */
	notify?(mode: RaidMode): Promise<void>;
	now?: () => number;
}

/** `ends_at`: the bot turns it on by itself, until then. */
type RaidRequest = Pick<RaidMode, "wanted" | "moderator_id" | "mark" | "slowmode"> & Partial<Pick<RaidMode, "ends_at">>;

/** Undefined if raid mode was never turned on. */
export type RaidView = { mode: RaidMode; steps: RaidStep[] } | undefined;

export class RaidModes extends DurablePart {
	readonly #connection: Connection;
	readonly #sql: Sql;
	readonly #now: () => number;
	#isClosing = false;
	/** Ids of the guilds whose settings need no look although raid mode is on. Cleared when events may have been missed. */
	readonly #checked = new Set<string>();
	readonly #failures = new Map<string, number>();
	readonly #endings = new Map<string, PromiseWithResolvers<void>>();
	readonly #loggedAt = new Map<string, number>();
	protected readonly work: Durable;

	constructor(private readonly options: RaidModesOptions) {
		super();
		this.#connection = options.connection;
		this.#sql = options.store.sql;
		this.#now = options.now ?? Date.now;
		this.work = new Durable({ ...options, name: "raid modes", scan: () => this.#scan() });
	}

	async #scan(): Promise<Step[]> {
		if (!this.#connection.ready) return [];
		const at = this.#now();
		return (await selectOpenRaidModes(this.#sql)).flatMap((mode) => {
			const { guild_id, ended_at, paused_until, ends_at } = mode;
			const isDue = ended_at === null || !this.#checked.has(guild_id);
			const step = (name: string, inMs: number, run: Step["run"]): Step => ({
				key: `${guild_id}${name}`,
				inMs,
				failure: "could not change the raid mode",
				fields: { guild: guild_id },
				run,
			});
			const inMs = isDue ? 0 : paused_until === null ? Infinity : renewalInMs(paused_until, at);
			const own = [step(" notice", mode.told ? Infinity : 0, () => this.#tell(mode))];
			own.push(step(" end", ends_at === null ? Infinity : ends_at - at, () => this.#turnOff(mode)));
			return [step("", inMs, () => this.#run(guild_id)), ...own];
		});
	}

	async #tell(mode: RaidMode): Promise<void> {
		await this.options.notify?.(mode);
		await raidModeRows.change(this.#sql, mode, { told: 1 }, { run: mode.run });
	}

	async #turnOff({ guild_id, run, slowmode }: RaidMode): Promise<void> {
		const mark = "Raid mode off: its time is over";
		const isCurrent = (await raidModeRows.first(this.#sql, { guild_id }))?.run === run;
		if (isCurrent) await this.turn(guild_id, { wanted: "off", moderator_id: null, mark, slowmode });
	}

	async #run(guildId: string): Promise<void> {
		this.#checked.add(guildId);
		try {
			await this.#process(guildId);
		} catch (error) {
			this.#checked.delete(guildId);
			throw error;
		}
	}

	async #process(guildId: string): Promise<void> {
		const mode = await raidModeRows.first(this.#sql, { guild_id: guildId });
		if (!mode) return;
		const guild = requireGuild(this.#connection, guildId);
		const changed: RaidStep[] = [];
		let mustRenew = false;
		for (;;) {
			const steps = await raidStepRows.all(this.#sql, { guild_id: guildId });
			const read = await readSettings(guild);
			const readAt = performance.now();
			const planned = await planRaidMode(guild, mode, steps, read, this.#now(), this.options.settings);
			const tries = ({ step }: Move) => this.#failures.get(keyOf(step)) ?? 0;
			const moves = planned.moves
				.filter(({ step }) => !mustRenew || step.thing !== "invites")
				.sort((a, b) => tries(a) - tries(b));
			if (moves.length === 0) {
				await this.#end(mode, changed);
				if (mustRenew) throw new NotNow("the pause was not renewed");
				return;
			}
			for (let at = 0; at < moves.length; at += batchSize) {
				if (performance.now() - readAt > maxAgeMs) break;
				// A newer request may have been stored. The next run of the worker finds it.
				if (!(await this.#isCurrent(mode))) return;
				const batch = moves.slice(at, at + batchSize);
				const steps = await this.#carryOut(guild, mode, batch, read);
				if (mode.ended_at !== null) mustRenew ||= steps.some(isUnrenewed);
				changed.push(...newsOf(batch, steps));
				this.#logProgress(mode, moves.length, at + batch.length);
			}
		}
	}

	async #isCurrent({ guild_id, run }: RaidMode): Promise<boolean> {
		if (this.#isClosing) throw new NotNow("the bot is stopping");
		return (await raidModeRows.first(this.#sql, { guild_id }))?.run === run;
	}

	async #carryOut(guild: Guild, mode: RaidMode, moves: readonly Move[], read: ReadSettings): Promise<RaidStep[]> {
		const requested = moves.map(({ step }) => step);
		await raidStepRows.save(this.#sql, requested);
		const errors: unknown[] = [];
		const steps = await Promise.all(
			moves.map(async ({ step, send }) => {
				if (send === undefined) return step;
				try {
					return await this.#change(guild, mode, step, send, read);
				} catch (error) {
					errors.push(error);
					return step;
				}
			}),
		);
		await raidStepRows.save(this.#sql, steps);
		if (errors.length > 0) throw errors[0];
		return steps;
	}

	async #change(guild: Guild, mode: RaidMode, step: RaidStep, value: number, read: ReadSettings): Promise<RaidStep> {
		const { thing } = step;
		const key = keyOf(step);
		if ((this.#failures.get(key) ?? 0) >= maxUnanswered) {
			this.#failures.delete(key);
			return unanswered(step);
		}
		try {
			await this.options.mutex.withLock(isChannel(thing) ? thing : guild.id, () =>
				sendSetting(guild, { thing, value }, read, auditReason(mode.mark)),
			);
		} catch (error) {
			if (error instanceof DiscordAPIError && error.status !== 401) {
				this.#failures.delete(key);
				if (error.status === 404 && isChannel(thing)) return { ...step, state: "gone" };
				const reason = describePlatformError(error) ?? error.message;
				return refused(step, noteOf(said("refusal.reason", { text: reason }), saidPlatformError(error)));
			}
			if (error instanceof PlatformTimeout || error instanceof PlatformFailure)
				this.#failures.set(key, (this.#failures.get(key) ?? 0) + 1);
			throw error;
		}
		this.#failures.delete(key);
		return confirmed(step);
	}

	#logProgress(mode: RaidMode, all: number, done: number): void {
		const { guild_id } = mode;
		if (mode.ended_at !== null || done >= all) return;
		const at = performance.now();
		const last = this.#loggedAt.get(guild_id) ?? at;
		this.#loggedAt.set(guild_id, last);
		if (at - last < progressMs) return;
		this.#loggedAt.set(guild_id, at);
		this.options.moderationLog.add(guild_id, progressEntry(mode, all, done));
	}

	async #end(mode: RaidMode, changed: readonly RaidStep[]): Promise<void> {
		const { guild_id, wanted } = mode;
		const later = laterEntry(mode, changed);
		if (mode.ended_at !== null) {
			if (later) this.options.moderationLog.add(guild_id, later);
			return;
		}
		const steps = await raidStepRows.all(this.#sql, { guild_id });
		this.#loggedAt.delete(guild_id);
		const isOver = { run: mode.run, ended_at: null };
		if (!(await raidModeRows.change(this.#sql, mode, { ended_at: this.#now() }, isOver))) return;
		this.#endings.get(guild_id)?.resolve();
		this.#endings.delete(guild_id);
		this.options.log.info("raid mode changed", { guild: guild_id, state: wanted });
		this.options.moderationLog.add(guild_id, endEntry(mode, steps));
	}

	/** `ended` resolves when all settings were processed. Rejects with StoreUnavailable. */
	async turn(guildId: string, request: RaidRequest): Promise<{ ended: Promise<void> }> {
		const before = await raidModeRows.first(this.#sql, { guild_id: guildId });
		const hasEnded = before?.wanted === "off" && before.ended_at !== null;
		if (hasEnded && request.wanted === "on")
			await raidStepRows.deleteAll(this.#sql, { guild_id: guildId, state: ["kept", "restored", "changed", "gone"] });
		const ending = Promise.withResolvers<void>();
		this.#endings.set(guildId, ending);
		try {
			await raidModeRows.save(this.#sql, [
				{
					...request,
					ends_at: request.ends_at ?? null,
					told: request.ends_at ? 0 : 1,
					guild_id: guildId,
					run: (before?.run ?? 0) + 1,
					asked_at: this.#now(),
					ended_at: null,
				},
			]);
		} finally {
			// Also after a failure, because the row may have been stored anyway.
			this.work.retryAll();
		}
		return { ended: ending.promise };
	}

	async view(guildId: string): Promise<RaidView> {
		const mode = await raidModeRows.first(this.#sql, { guild_id: guildId });
		return mode && { mode, steps: await raidStepRows.all(this.#sql, { guild_id: guildId }) };
	}

	attach(client: Client): void {
		const recheck = () => {
			this.#checked.clear();
			this.work.retryAll();
		};
		onSessionOrGuild(client, recheck);
		client.on(Events.ShardResume, recheck);
		client.on(Events.ChannelCreate, ({ guild }) => {
			this.#checked.delete(guild.id);
			this.work.wake();
		});
	}

	override close(): Promise<void> {
		this.#isClosing = true;
		return this.work.close();
	}
}
