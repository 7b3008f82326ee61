// A bot with a stored backup of its guild, which is wiped and restored by jobs that are interrupted.

import { type Guild, PermissionFlagsBits } from "discord.js";
import { Backups } from "../../../src/bot/guild-documents/backups/backups.ts";
import type { RequestOutput } from "../../../src/bot/guild-documents/command-line/requests.ts";
import { createGuildDocuments, type GuildDocuments } from "../../../src/bot/guild-documents/guild-documents.ts";
import { createRules } from "../../../src/bot/guild-documents/plans/rules.ts";
import { createPictures } from "../../../src/bot/guild-documents/read/pictures.ts";
import type { Step } from "../../../src/guild-document/steps.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import type { Guild as SimulatedGuild } from "../../../src/simulator/world/state/entities.ts";
import { until } from "../../support/until.ts";
import { startFeature } from "../features/running-feature.ts";
import { everything, stateIn, wipe } from "./wiped-guild.ts";

const rateLimitMs = 45_000;
export const members = ["owner", "ada", "ben", "zoe"];
export const seed = {
	bots: [{ username: "alpha" }],
	users: members.map((username) => ({ username })),
	guilds: [
		{
			name: "The Cooks",
			owner: "owner",
			bots: [{ username: "alpha", permissions: PermissionFlagsBits.Administrator }],
			members: members.slice(1).map((username) => ({ username })),
		},
	],
};

/** What happens to the request of a step. A kill happens between requests. */
export const interruptions = {
	"a kill": undefined,
	"a 502": ({ faults }: Simulator, route: string) => faults.fail(route, 502, { times: 1 }),
	"a lost answer": ({ faults }: Simulator, route: string) => faults.drop(route, { when: "after", times: 1 }),
	"a rate limit of 45 s": ({ faults }: Simulator, route: string) =>
		faults.rateLimit(route, { retryAfterMs: rateLimitMs, times: 1 }),
};
export type Interruption = keyof typeof interruptions;

const backUpMs = 86_400_000;

/** A bot with a backup of a guild with `everything`. */
export async function startRestorable(more: number) {
	/** The clock of the jobs stands still until they wait for it. */
	const clock = { ms: 0, backupsMs: 1_790_000_000_000 };
	let made: Backups | undefined;
	const bot = await startFeature({
		requestsPerSecond: 1_000_000,
		simulator: { seed },
		prepare(simulator) {
			const guild = simulator.guild("The Cooks");
			for (const { user } of guild.members.values())
				if (user.username === "owner") simulator.world.emojis.add(guild, user, { name: "soup" });
		},
		create({ connection, store, log }) {
			const pictures = createPictures({ store, download: connection.downloadPicture });
			const backups = new Backups({
				settings: { every: backUpMs, keep: 14 },
				guilds: undefined,
				connection,
				store,
				pictures,
				log,
				timing: { now: () => clock.backupsMs, startDelayMs: 0, spacingMs: 0, maxSleepMs: 5 },
			});
			made = backups;
			return backups;
		},
	});
	const { connection, store } = bot;
	const found = connection.guilds[0];
	if (!made || !found) throw new Error("the bot runs in a guild");
	const backups = made;
	const guild: Guild = found;
	const pictures = createPictures({ store, download: connection.downloadPicture });
	const rules = createRules({ connection, pictures, denies: () => false });

	/** Starts a service. `pass` is called before each step, and without one before each reading of the guild. */
	function startService(pass: (step?: Step, route?: string) => unknown) {
		const service = createGuildDocuments({
			connection,
			store,
			pictures,
			backups,
			log: bot.logged.log,
			mutex: new KeyedMutex(),
			monotonicNow: () => clock.ms,
			mayTouch: () => true,
			backOffMs: [1, 1],
			rules: {
				...rules,
				async read(...args) {
					await pass();
					return rules.read(...args);
				},
				async requireStep(step, ids, guild) {
					const { method, path } = step.request(ids);
					await pass(step, `${method} ${path}`);
					return rules.requireStep(step, ids, guild);
				},
			},
		});
		service.start();
		return service;
	}

	const hear = () => until("the bot has heard of all changes", () => isSame(guild, bot.guild));

	/** Moves the clock on whenever the job waits for it. */
	function end(service: () => GuildDocuments, job: string): Promise<RequestOutput<"job">> {
		return until("the job ends", async () => {
			const progress = await service().progress(job);
			if (progress.state !== "running") return progress;
			if (progress.waiting === undefined) return undefined;
			await hear();
			clock.ms += rateLimitMs;
			// The time for which discord.js holds requests back after a 429 is over, too.
			connection.discord.rest.handlers.clear();
			service().start();
			return undefined;
		});
	}

	/**
	 * Wipes the guild and restores the backup, with an interruption of each step whose number is due, or a kill after it.
	 * Returns the numbers of the steps with one.
	 */
	async function restore(interruption: Interruption, isDue: (step: number) => boolean) {
		wipe(bot.simulator, bot.guild);
		await hear();
		const begun = new Set<string>();
		const interrupted = new Set<number>();
		let generation = 0;

		const inject = interruptions[interruption];

		function begin(): GuildDocuments {
			generation += 1;
			const own = generation;
			return startService((step, route) => {
				const isNext = step === undefined || !begun.has(step.id);
				if (own === generation && isNext) interrupt(route);
				// The process is gone.
				if (own !== generation) return new Promise(() => {});
				if (step) begun.add(step.id);
				return undefined;
			});
		}

		/** Interrupts the job, if it is time, before the request to `route`, or before the guild is read. */
		function interrupt(route: string | undefined): void {
			const number = begun.size + (inject ? 1 : 0);
			if (number === 0 || !isDue(number) || interrupted.has(number)) return;
			if (inject && route === undefined) return;
			interrupted.add(number);
			if (inject && route !== undefined) {
				inject(bot.simulator, route);
				return;
			}
			const killed = service;
			service = begin();
			void killed.close();
		}

		let service = begin();
		const { plan_hash: hash } = await service.keepPlan(guild, { backup: "latest" });
		const job = (await service.startJob(hash)) ?? "";
		const progress = await end(() => service, job);
		await service.close();
		return { progress, interrupted };
	}

	/** Makes what the backup will hold, and the backup. */
	async function prepare(): Promise<void> {
		const ids = members.map((name) => bot.member(name).user.id);
		const service = startService(() => {});
		const document = everything(ids, more);
		const { plan_hash: hash } = await service.keepPlan(guild, { document });
		const job = (await service.startJob(hash)) ?? "";
		const { text, state } = await end(() => service, job);
		if (state !== "done") throw new Error(text);
		await service.close();
		await hear();
		const count = (await backups.list(guild.id)).length;
		clock.backupsMs += backUpMs;
		await until("there is a backup of it", async () => (await backups.list(guild.id)).length > count);
	}

	await prepare();
	return {
		restore,
		/** The state of the simulator. */
		state: () => stateIn(bot.simulator, bot.guild),
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
}

/** Whether the bot's cache has the channels, the roles and the members' roles of the simulator. */
function isSame(cached: Guild, simulated: SimulatedGuild): boolean {
	const sorted = (ids: Iterable<string>) => [...ids].sort().join();
	return (
		sorted(cached.channels.cache.keys()) === sorted(simulated.channels.keys()) &&
		sorted(cached.roles.cache.keys()) === sorted(simulated.roles.keys()) &&
		[...simulated.members].every(([id, { roles }]) => {
			const own = cached.members.cache.get(id)?.roles.cache.keys() ?? [];
			return sorted(own) === sorted([...roles, cached.id]);
		})
	);
}
