// Tool calls by people on Discord: a slash command, a chat command or a button calls a tool in the person's name. The
// tool pipeline checks the permissions of the person and of the bot, so callers check nothing themselves.

import { withoutTokens } from "../../discord/text.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import { type Advice, outcomeIn, type Tool, type ToolCall, textIn } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { type Language, languageOf, render, type Said, said } from "../../texts/texts.ts";
import { adviceIn, errorForPeople, forPeople, type Output, type Pages, saidIn } from "../results/result.ts";
import { commandIdStart, scopeTo } from "./admission.ts";
import { type AuditedCall, callFacts } from "./audit.ts";
import type { CaseDraft } from "./case-record.ts";
import type { BotContext, BotTool } from "./context.ts";

export interface PersonCall extends Partial<Pick<ToolCall, "reportProgress">> {
	guildId: string;
	person: { id: string; name: string };
	tool: string;
	/** Without `guild_id`, not validated yet. */
	args: JsonObject;
	/** Such as "/ban" or "!m ban", for logs and Discord's audit log. */
	command: string;
	/** The channel in which the person used a command that announces what it does; undefined to announce nothing. */
	announceFrom?: string | undefined;
	/** One of Discord's locales: the person's if nobody else reads the result. Default: the guild's. */
	locale?: string | undefined;
	/** Default for the case: its messages and channels if the tool's draft names none, or all of it without a draft. */
	draft?: CaseDraft;
}

export interface PersonResult {
	/** For people, in the language of the call. */
	text: string;
	isError: boolean;
	/** Whether a request that changes something was sent. If false, an error changed nothing. */
	wrote: boolean;
	/** For a dry run: `Plan.basis`. */
	basis?: readonly string[];
	/** A dry run that asks whether to do it. */
	asks?: boolean;
	pages?: Pages | undefined;
	advice?: Advice | undefined;
}

/** Never rejects: an error is returned in the result. */
export type CallAs = (call: PersonCall) => Promise<PersonResult>;

interface PersonCallsOptions {
	record(call: AuditedCall): void;
	log: Log;
}

/** Features call tools, and some tools are theirs: calls work once `begin` has been told all tools. */
export class PersonCalls {
	#tools: readonly BotTool[] = [];
	#context: BotContext | undefined;

	constructor(private readonly options: PersonCallsOptions) {}

	/** `tools`: all, as the settings that limit MCP clients do not apply to people on Discord. */
	begin(tools: readonly BotTool[], context: BotContext): void {
		this.#tools = tools;
		this.#context = context;
	}

	readonly callAs: CallAs = async (call) => {
		const { guildId, person, tool: name, args, command, draft, locale, announceFrom } = call;
		const { log } = this.options;
		const tool = this.#tools.find((one) => one.name === name);
		if (!tool || !this.#context) {
			const error = new Error(`the bot has no tool ${name}`);
			return { text: failed(name, error, languageOf(locale), log), isError: true, wrote: false };
		}
		const guild = this.#context.connection.guilds.find(({ id }) => id === guildId);
		const language = languageOf(locale ?? guild?.preferredLocale);
		const principal: Principal = {
			id: `${commandIdStart}${guildId}`,
			name: command,
			person: { ...person, signedIn: false },
			access: "all",
			guilds: [guildId],
		};
		let wrote = false;
		const beforeWrite = () => {
			wrote = true;
		};
		let basis: readonly string[] | undefined;
		const onDryRun = (of: readonly string[]) => {
			basis = of;
		};
		const scoped = scopeTo(
			principal,
			// The setting mcp.guilds limits only MCP clients.
			{ ...this.#context, guilds: undefined, beforeWrite, onDryRun, draft, announceFrom },
			{ tools: this.#tools, listed: [], beyond: [] },
		);
		const whole = withGuild(tool, args, guildId);
		const ended = await recordedCall(tool, whole, scoped, { ...this.options, ...call, client: command });
		const { outcome, output } = ended;
		const all = [output ?? []].flat().filter((part) => typeof part === "object");
		const asks = all.some((part) => part.asks);
		return {
			text: forPerson(name, ended, language, log),
			...(asks && { asks }),
			pages: all.find((part) => part.pages)?.pages,
			advice: adviceIn(all),
			isError: outcome !== "done",
			wrote,
			...(basis && { basis }),
		};
	};
}

export function withGuild(
	{ listing }: Pick<Tool<BotContext>, "listing">,
	args: JsonObject,
	guildId: string,
): JsonObject {
	const takesGuild = Object.hasOwn(listing.inputSchema.properties ?? {}, "guild_id");
	return takesGuild ? { ...args, guild_id: guildId } : args;
}

/** How a call ended. `result`: for models. */
export type Ended = { outcome: AuditedCall["outcome"]; result?: string } & (
	| { output: Output; error?: undefined }
	| { output?: undefined; error: unknown }
);

/** Runs a call of a person and records it; internal errors are in the result, too. */
export async function recordedCall(
	tool: Tool<BotContext>,
	args: JsonObject,
	context: BotContext,
	{
		record,
		...given
	}: Pick<PersonCallsOptions, "record"> &
		Partial<Pick<ToolCall, "signal" | "reportProgress" | "onDestructive">> & { client: string; guildId: string },
): Promise<Ended> {
	const { client, guildId, signal, reportProgress = () => {} } = given;
	const from = performance.now();
	const facts = callFacts(given);
	const ended = await endOf(tool, args, context, { signal, reportProgress }, facts);
	const ms = performance.now() - from;
	record({
		at: new Date(Date.now() - ms),
		requestId: crypto.randomUUID().slice(0, 8),
		client,
		principal: context.principal,
		tool: tool.name,
		guildId,
		outcome: ended.outcome,
		answer: () => (ended.result === undefined ? messageOf(ended.error) : textIn(ended.result)),
		milliseconds: ms,
		...facts.recorded(tool, args),
	});
	return ended;
}

const messageOf = (error: unknown) => (error instanceof RpcError ? error.message : "Internal error");

/** Never rejects. */
export async function endOf(
	tool: Tool<BotContext>,
	args: JsonObject,
	context: BotContext,
	call: ToolCall,
	facts = callFacts(),
): Promise<Ended> {
	let end: Parameters<NonNullable<BotContext["onEnd"]>>[0] | undefined;
	const onEnd: BotContext["onEnd"] = (given) => {
		end = given;
	};
	try {
		const result = await facts.observe(() => tool.call(args, { ...context, onEnd }, { ...call, ...facts.hooks }));
		if (end && "output" in end) return { outcome: "done", result, output: end.output };
		return { outcome: facts.endOf(outcomeIn(result)), result, error: end?.error ?? new ToolError(textIn(result)) };
	} catch (error) {
		return { outcome: error instanceof RpcError ? "refused" : "error", error };
	}
}

/** What people read of it, in no language yet; undefined if it is only for models. */
export function saidOf({ output, error }: Ended): Said | undefined {
	if (output) return saidIn(output);
	return error instanceof SaidError ? error.said : undefined;
}

/** What people read of it. */
export function forPerson(tool: string, { output, error }: Ended, language: Language, log: Log): string {
	if (output) return withoutTokens(forPeople(output, language));
	const isKnown = error instanceof ToolError || error instanceof RpcError;
	return isKnown ? withoutTokens(errorForPeople(error, language)) : failed(tool, error, language, log);
}

function failed(tool: string, error: unknown, language: Language, log: Log): string {
	log.error("a person's command failed: internal error", { tool, error });
	return render(said("error.internal"), language);
}
