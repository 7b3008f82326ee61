// The moderation record on the real connection, store and tools, against the simulator. Its moderation log is a list.

import { PermissionFlagsBits } from "discord.js";
import type { CasesOptions } from "../../../../src/bot/moderation/cases/case.ts";
import { createCaseTools } from "../../../../src/bot/moderation/cases/case-tools.ts";
import { Cases } from "../../../../src/bot/moderation/cases/cases.ts";
import type { LogEntry } from "../../../../src/bot/moderation/moderation-log.ts";
import { TempBans } from "../../../../src/bot/moderation/temp-bans.ts";
import type { Store } from "../../../../src/bot/store/store.ts";
import { PersonCalls } from "../../../../src/bot/tool/call-as.ts";
import type { BotContext, BotTool } from "../../../../src/bot/tool/context.ts";
import { tools as allTools } from "../../../../src/bot/tools/index.ts";
import type { JsonObject } from "../../../../src/lib/json.ts";
import { KeyedMutex } from "../../../../src/lib/keyed-mutex.ts";
import { isErrorResult } from "../../../../src/mcp/tool.ts";
import type { Simulator } from "../../../../src/simulator/simulator.ts";
import { render } from "../../../../src/texts/texts.ts";
import type { Databases, Place } from "../../../support/stores.ts";
import { present, until } from "../../../support/until.ts";
import { grant, startFeature } from "../../features/running-feature.ts";

export interface CasesSetup extends Partial<Pick<CasesOptions, "now">> {
	place?: Pick<Place, "settings">;
	rules?: readonly string[];
	tell?: readonly string[];
	appeal?: string;
	decideAfterMs?: number;
	prepare?(simulator: Simulator): void;
	store?(store: Store): Store;
}

/** Gives the role Staff what moderators need. */
export function allowStaff(simulator: Simulator): void {
	const { BanMembers, KickMembers, ModerateMembers } = PermissionFlagsBits;
	grant(simulator, "Staff", BanMembers, KickMembers, ModerateMembers);
}

/** Whom `allowStaff` allows it. */
export const moderator = "jose.garcia";

export type CasesWorld = Awaited<ReturnType<typeof startCases>>;

/** The bot "alpha" with its moderation record. Nobody is told by default. */
export async function startCases(setup: CasesSetup = {}) {
	/** The entries of the moderation log, with English titles. */
	const entries: LogEntry[] = [];
	const moderationLog = {
		add: (_: string, entry: LogEntry) => void entries.push({ ...entry, title: render(entry.title, "en") }),
	};
	let cases: Cases | undefined;
	let bans: TempBans | undefined;
	const mutex = new KeyedMutex();
	const feature = await startFeature({
		...(setup.place && { place: setup.place }),
		...(setup.prepare && { prepare: setup.prepare }),
		...(setup.store && { store: setup.store }),
		settings: () => ({
			moderation: {
				tell: setup.tell ?? [],
				escalate: setup.rules ?? [],
				...(setup.appeal !== undefined && { appeal: setup.appeal }),
			},
		}),
		create({ settings, connection, store, log }) {
			const madeBans = new TempBans({ connection, store, log, mutex, moderationLog: { add() {} }, backOffMs: [5, 50] });
			const made = new Cases({
				connection,
				store,
				log,
				moderationLog,
				bans: madeBans,
				settings,
				...(setup.now && { now: setup.now }),
				decideAfterMs: setup.decideAfterMs ?? 0,
				backOffMs: [5, 50],
			});
			[cases, bans] = [made, madeBans];
			return {
				attach(client) {
					madeBans.attach(client);
					for (const part of [made.worker, made.byHand]) part.attach(client);
				},
				start() {
					madeBans.start();
					for (const part of [made.worker, made.byHand]) part.start();
				},
				async close() {
					await Promise.all([madeBans, made.worker, made.byHand].map((part) => part.close()));
				},
			};
		},
	});
	const { simulator, guild, logged } = feature;
	const current = () => {
		if (cases && bans) return { cases, bans };
		throw new Error("the bot does not run");
	};
	const tools = (): readonly BotTool[] => [
		...allTools,
		...createCaseTools({ cases: current().cases, settings: feature.settings, cdn: simulator.cdn }),
	];
	const context = (): BotContext => ({
		connection: feature.connection,
		guildId: guild.id,
		mutex,
		audit: { recent: async () => [] },
		self: { toml: { mcp: { sign_in_permission: "MODERATE_MEMBERS" } } } as never,
		settings: feature.settings,
		// These tools use none of these.
		locks: {} as never,
		guildDocuments: {} as never,
		people: {} as never,
		principal: undefined,
		cases: current().cases,
		log: logged.log,
	});
	const calls = new PersonCalls({ record() {}, log: logged.log });
	const id = (name: string) => simulator.user(name).id;
	return {
		feature,
		simulator,
		guild,
		logged,
		entries,
		id,
		get cases() {
			return current().cases;
		},
		get store() {
			return feature.store;
		},
		/** Calls a tool in the name of a member of the Cooks, as a slash command does. */
		as(name: string, tool: string, args: JsonObject = {}) {
			calls.begin(tools(), context());
			return calls.callAs({ guildId: guild.id, person: { id: id(name), name }, tool, args, command: "/try" });
		},
		/** Calls a tool as the holder of the root key, or as `caller` says. */
		async call(name: string, args: JsonObject, caller: Partial<Pick<BotContext, "principal" | "approvedBy">> = {}) {
			const tool = tools().find((one) => one.name === name);
			if (!tool) throw new Error(`there is no tool ${name}`);
			const result = await tool.call(
				{ guild_id: guild.id, ...args },
				{ ...context(), ...caller },
				{ signal: undefined, reportProgress() {} },
			);
			const { content } = JSON.parse(result) as { content: { text: string }[] };
			const text = content.map((item) => item.text).join("\n");
			return { text, isError: isErrorResult(result) };
		},
		/** The guild as the bot knows it. */
		guildOfBot() {
			return present(feature.connection.guilds[0]);
		},
		/** All cases of the guild, oldest first. */
		async all() {
			const page = { limit: 1_000 };
			const all = await current().cases.list(guild.id, {}, page);
			return all.toSorted((a, b) => a.number - b.number);
		},
		/** The case with this number, once it is settled. */
		settled: (number: number) =>
			until(`case ${number} is settled`, async () => {
				const one = await current().cases.find(guild.id, number);
				return one && one.state !== "asked" && one;
			}),
		/** The direct messages of the bot to a person. */
		directMessages(name: string) {
			const { world } = simulator;
			const [bot, person] = ["alpha", name].map((one) =>
				world.users.get(one === "alpha" ? simulator.bot(one).id : id(one)),
			);
			const dm = bot && person && world.channels.findDm(bot, person);
			return dm ? world.messages.in(dm.id).map(({ content }) => content) : [];
		},
		/** Resolves when a fault has held a request. */
		reached: (fault: { readonly hits: number }) => until("the request is held", () => fault.hits > 0),
		kill: feature.kill,
		start: feature.start,
		[Symbol.asyncDispose]: () => feature[Symbol.asyncDispose](),
	};
}

/** `startCases` in a new place, with a staff that may moderate. */
export const staffedCases =
	(databases: Databases) =>
	async (setup: CasesSetup = {}): Promise<CasesWorld> =>
		startCases({ place: await databases.place(), prepare: allowStaff, ...setup });
