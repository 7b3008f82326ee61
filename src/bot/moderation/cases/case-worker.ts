// Background worker for moderation cases: finds the outcome of cases that a killed process left open, takes the actions
// of escalation rules, and stores what could not be stored while the database was unavailable.

import type { Client } from "discord.js";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { Durable, requireGuild, type Step } from "../../store/durable.ts";
import { type CaseRow, selectAskedCases } from "../../store/tables/cases.ts";
import { type Case, type CaseResult, type CasesOptions, type NewCase, toCase } from "./case.ts";
import { logCase } from "./case-text.ts";
import { decideCase } from "./decide.ts";
import { Escalation } from "./escalation.ts";

const maxRead = 100;
/** Maximum number of outcomes, and of a guild's new cases, that wait in memory until the database is available. */
const maxWaiting = 1_000;
const callMs = 40_000;

interface WorkerOptions extends CasesOptions {
	insert(guildId: string, added: readonly NewCase[]): Promise<CaseRow[]>;
	settle(guildId: string, number: number, result: CaseResult): Promise<unknown>;
}

export class CaseWorker {
	#opening = 0;
	readonly #unstored = new Map<string, NewCase[]>();
	readonly #work: Durable;

	constructor(private readonly options: WorkerOptions) {
		this.#work = new Durable({ ...options, name: "cases", scan: () => this.#scan() });
	}

	async #scan(): Promise<Step[]> {
		const { connection, store, now = Date.now, decideAfterMs = callMs } = this.options;
		if (!connection.ready) return [];
		const asked = await selectAskedCases(store.sql, maxRead);
		// The worker is woken when the cases of these calls are stored.
		if (this.#opening > 0) return [];
		return asked.map(toCase).map((one) => ({
			...this.#step(one, () => this.#finish(one)),
			// At most `decideAfterMs`, because the system clock may have jumped.
			inMs: one.source ? 0 : Math.min(one.createdAt + decideAfterMs - now(), decideAfterMs),
		}));
	}

	#step(one: CaseKey, run: Step["run"]): Step {
		return { key: keyOf(one), failure: "could not finish a case", fields: { guild: one.guildId }, run };
	}

	async #finish(one: Case): Promise<void> {
		const { connection, store, settle } = this.options;
		const guild = requireGuild(connection, one.guildId);
		const result = one.source
			? await new Escalation(this.options).carryOut(guild, one)
			: await decideCase(guild, one, store.sql);
		await settle(one.guildId, one.number, result);
	}

	/** The worker leaves these cases alone until `end`. Call `opened` with the stored cases. */
	hold() {
		const call = Promise.withResolvers<void>();
		this.#opening += 1;
		return {
			opened: (rows: readonly CaseRow[]) => {
				this.#opening -= 1;
				for (const { guild_id: guildId, number } of rows)
					void this.#work.hold(keyOf({ guildId, number }), () => call.promise);
				this.#work.wake();
			},
			end: call.resolve,
		};
	}

	settleLater(guildId: string, number: number, result: CaseResult): void {
		if (this.#work.added >= maxWaiting) return;
		const one = { guildId, number };
		void this.#work.add(this.#step(one, () => this.options.settle(guildId, number, result)));
	}

	/** In order, as soon as the database is available. False, and nothing is stored, if too many are waiting. */
	insertLater(guildId: string, added: readonly NewCase[]): boolean {
		const waiting = this.#unstored.get(guildId) ?? [];
		if (waiting.length + added.length > maxWaiting) return false;
		waiting.push(...added);
		this.#unstored.set(guildId, waiting);
		const { insert, moderationLog } = this.options;
		const store = async () => {
			for (let [one] = waiting; one; [one] = waiting) {
				for (const row of await insert(guildId, [one])) logCase(moderationLog, toCase(row));
				waiting.shift();
			}
		};
		void this.#work.add({ ...this.#step({ guildId, number: 0 }, store), key: `unstored ${guildId}` });
		return true;
	}

	start(): void {
		this.#work.wake();
	}

	/** Tries all cases without an outcome now, also those whose last attempt failed a moment ago. */
	retry(): void {
		this.#work.retryAll();
	}

	attach(client: Client): void {
		onSessionOrGuild(client, this.#work.retryAll);
	}

	close(): Promise<void> {
		return this.#work.close();
	}
}

type CaseKey = Pick<Case, "guildId" | "number">;

function keyOf({ guildId, number }: CaseKey): string {
	return `${guildId} ${number}`;
}
