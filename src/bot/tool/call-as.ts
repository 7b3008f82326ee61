// Tool calls by people on Discord: a slash command, a chat command or a button calls a tool in the person's name. The
// tool pipeline checks the permissions of the person and of the bot, so callers check nothing themselves.

import { withoutTokens } from "../../discord/text.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import { type Language, languageOf, render, said } from "../../texts/texts.ts";
import { errorForPeople, forPeople, type Pages } from "../results/result.ts";
import { commandIdStart, scopeTo } from "./admission.ts";
import { type AuditedCall, callFacts } from "./audit.ts";
import type { CaseDraft } from "./case-record.ts";
import type { BotContext, BotTool } from "./context.ts";
import { redact } from "./redact.ts";

export interface PersonCall {
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

	readonly callAs: CallAs = async ({ guildId, person, tool: name, args, command, draft, locale, announceFrom }) => {
		const { record, log } = this.options;
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
		const from = performance.now();
		const takesGuild = Object.hasOwn(tool.listing.inputSchema.properties ?? {}, "guild_id");
		const whole = takesGuild ? { ...args, guild_id: guildId } : args;
		const facts = callFacts();
		const { hooks } = facts;
		const { outcome, ...answer } = await run(tool, whole, scoped, { hooks, log, language });
		const ms = performance.now() - from;
		record({
			at: new Date(Date.now() - ms),
			requestId: crypto.randomUUID().slice(0, 8),
			client: command,
			principal,
			tool: name,
			guildId,
			arguments: redact(tool.listing.inputSchema, whole),
			outcome,
			milliseconds: ms,
			...facts.recorded(tool, whole),
		});
		return { ...answer, isError: outcome !== "done", wrote, ...(basis && { basis }) };
	};
}

async function run(
	tool: BotTool,
	args: JsonObject,
	context: BotContext,
	{ hooks, log, language }: { hooks: ReturnType<typeof callFacts>["hooks"]; log: Log; language: Language },
): Promise<Pick<PersonResult, "text" | "asks" | "pages"> & { outcome: AuditedCall["outcome"] }> {
	let end: Parameters<NonNullable<BotContext["onEnd"]>>[0] | undefined;
	const onEnd: BotContext["onEnd"] = (given) => {
		end = given;
	};
	try {
		const result = await tool.call(args, { ...context, onEnd }, { signal: undefined, reportProgress() {}, ...hooks });
		if (end && "output" in end) {
			const all = [end.output].flat().filter((part) => typeof part === "object");
			const asks = all.some((part) => part.asks);
			const pages = all.find((part) => part.pages)?.pages;
			return { text: withoutTokens(forPeople(end.output, language)), outcome: "done", ...(asks && { asks }), pages };
		}
		const error = end?.error ?? new ToolError(textOf(result));
		return { text: withoutTokens(errorForPeople(error, language)), outcome: "failed" };
	} catch (error) {
		if (error instanceof RpcError) return { text: errorForPeople(error, language), outcome: "refused" };
		return { text: failed(tool.name, error, language, log), outcome: "error" };
	}
}

function failed(tool: string, error: unknown, language: Language, log: Log): string {
	log.error("a person's command failed: internal error", { tool, error });
	return render(said("error.internal"), language);
}

function textOf(result: string): string {
	const { content } = JSON.parse(result) as { content: { text: string }[] };
	return content.map((item) => item.text).join("\n");
}
