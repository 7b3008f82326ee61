// The pipeline with tools of a test, on a real connection, with a recorder of cases that notes what it is told.

import { type Guild, Routes } from "discord.js";
import * as v from "valibot";
import { guild_id } from "../../../src/bot/tool/arguments/arguments.ts";
import type { AuditedCall } from "../../../src/bot/tool/audit.ts";
import { PersonCalls } from "../../../src/bot/tool/call-as.ts";
import type { CaseCall, CaseDraft, CaseEnd, OpenCases } from "../../../src/bot/tool/case-record.ts";
import type { BotContext, BotTool } from "../../../src/bot/tool/context.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import type { Principal } from "../../../src/lib/principal.ts";
import { isErrorResult } from "../../../src/mcp/tool.ts";
import { startConnection } from "../../support/connection.ts";
import { recordLog } from "../../support/log.ts";
import { until } from "../../support/until.ts";

/** What a test lets the recorder do instead of noting the call. */
type Open = (call: CaseCall) => Promise<OpenCases | undefined>;

export interface RecordingOptions {
	tools: readonly BotTool[];
	/** Replaces the recorder; undefined: there is none. Default: one that notes what it is told. */
	open?: Open | undefined;
	/** The lines that `settle` adds to a result. */
	lines?: readonly string[];
	changes?: Partial<BotContext>;
}

/** The bot "alpha" with these tools. Its audit log and its moderation record are lists. */
export async function startRecording(options: RecordingOptions) {
	const { lines = ["Case #1."], changes } = options;
	const expiry = new AbortController();
	const alpha = await startConnection(() => {}, { timeoutSignal: () => expiry.signal });
	const { connection, simulator } = alpha;
	await until("the bot is ready", () => connection.ready);
	await until("its members are known", () => connection.guilds.every((one) => connection.hasAllMembers(one)));
	const guild = simulator.guild("The Cooks");
	/** What happened, in order: cases opened and settled, and requests that took effect. */
	const events: string[] = [];
	const calls: CaseCall[] = [];
	const ends: CaseEnd[] = [];
	const audited: AuditedCall[] = [];
	const logged = recordLog("debug");
	simulator.journal.added.add(({ method, path }) => {
		events.push(`${method} ${path.replace(`/guilds/${guild.id}`, "")}`);
	});
	const open: Open = async (call) => {
		events.push("open");
		calls.push(call);
		return {
			async settle(end) {
				events.push("settle");
				ends.push(end);
				return lines;
			},
		};
	};
	const context: BotContext = {
		connection,
		guildId: guild.id,
		mutex: new KeyedMutex(),
		audit: { recent: async () => [] },
		// The tools of these tests use none of these.
		self: {} as never,
		locks: {} as never,
		settings: {} as never,
		guildDocuments: {} as never,
		people: {} as never,
		principal: undefined,
		cases: "open" in options ? options.open && { open: options.open } : { open },
		log: logged.log,
		...changes,
	};
	const personCalls = new PersonCalls({ record: (call) => audited.push(call), log: logged.log });
	personCalls.begin(options.tools, context);
	const { callAs } = personCalls;
	const id = (name: string) => simulator.user(name).id;
	return {
		simulator,
		guild,
		connection,
		events,
		calls,
		ends,
		audited,
		logged,
		callAs,
		id,
		/** Calls a tool as the holder of the root key, or as `principal`. */
		async call(name: string, args: JsonObject, principal?: Principal) {
			const tool = options.tools.find((one) => one.name === name);
			if (!tool) throw new Error(`there is no tool ${name}`);
			const result = await tool.call(args, { ...context, principal }, { signal: undefined, reportProgress() {} });
			const { content } = JSON.parse(result) as { content: { text: string }[] };
			const text = content.map((item) => item.text).join("\n");
			return { text, isError: isErrorResult(result) };
		},
		/** Calls a tool in the name of a member of the Cooks. */
		as: (name: string, tool: string, args: JsonObject = {}) =>
			callAs({ guildId: guild.id, person: { id: id(name), name }, tool, args, command: "/try" }),
		/** Times out all pending requests to Discord. */
		expire: () => expiry.abort(new DOMException("The time is up", "TimeoutError")),
		[Symbol.asyncDispose]: () => alpha[Symbol.asyncDispose](),
	};
}

/** Fields of every tool of these tests. */
export const about = { toolset: "moderation", title: "Try", description: "Try it." } as const;

/** Arguments of a tool about people. */
export const peopleInput = {
	guild_id,
	user_ids: v.array(v.string()),
	reason: v.optional(v.string()),
	tell: v.optional(v.boolean()),
};

export const draftFor = (userIds: readonly string[]): CaseDraft => ({ action: "ban", userIds });

export const banRequest = (guild: Guild, id: string) =>
	guild.client.rest.put(Routes.guildBan(guild.id, id), { body: {} });
