// Tool calls by people on Discord: a slash command, a chat command or a button calls a tool in the person's name. The
// tool pipeline checks the permissions of the person and of the bot, so callers check nothing themselves.

import type { JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import { isErrorResult } from "../../mcp/tool.ts";
import { commandIdStart } from "./admission.ts";
import type { AuditedCall } from "./audit.ts";
import { callFacts } from "./call-facts.ts";
import type { CaseDraft } from "./case-record.ts";
import type { BotContext, BotTool } from "./context.ts";
import { redact } from "./redact.ts";
import { scopeTo } from "./scope.ts";

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
	/** Default for the case: its messages and channels if the tool's draft names none, or all of it without a draft. */
	draft?: CaseDraft;
}

export interface PersonResult {
	/** For features, `peopleText` has converted it for people. */
	text: string;
	isError: boolean;
	/** Whether a request that changes something was sent. If false, an error changed nothing. */
	wrote: boolean;
	/** For a dry run: `Plan.basis`. */
	basis?: readonly string[];
}

/** Never rejects: an error is returned in the result. */
export type CallAs = (call: PersonCall) => Promise<PersonResult>;

export interface PersonCallsOptions {
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

	readonly callAs: CallAs = async ({ guildId, person, tool: name, args, command, draft, announceFrom }) => {
		const { record, log } = this.options;
		const tool = this.#tools.find((one) => one.name === name);
		if (!tool || !this.#context) {
			const error = new Error(`the bot has no tool ${name}`);
			return { text: failed(name, error, log), isError: true, wrote: false };
		}
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
			{ allowed: this.#tools, listed: [], beyond: [] },
		);
		const from = performance.now();
		const takesGuild = Object.hasOwn(tool.listing.inputSchema.properties ?? {}, "guild_id");
		const whole = takesGuild ? { ...args, guild_id: guildId } : args;
		const facts = callFacts();
		const { hooks } = facts;
		const { text, outcome } = await run(tool, whole, scoped, hooks, log);
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
		return { text, isError: outcome !== "done", wrote, ...(basis && { basis }) };
	};
}

async function run(
	tool: BotTool,
	args: JsonObject,
	context: BotContext,
	hooks: ReturnType<typeof callFacts>["hooks"],
	log: Log,
): Promise<{ text: string; outcome: AuditedCall["outcome"] }> {
	try {
		const result = await tool.call(args, context, { signal: undefined, reportProgress() {}, ...hooks });
		const { content } = JSON.parse(result) as { content: { text: string }[] };
		const text = content.map((item) => item.text).join("\n");
		return { text, outcome: isErrorResult(result) ? "failed" : "done" };
	} catch (error) {
		if (error instanceof RpcError) return { text: error.message, outcome: "refused" };
		return { text: failed(tool.name, error, log), outcome: "error" };
	}
}

function failed(tool: string, error: unknown, log: Log): string {
	log.error("a person's command failed: internal error", { tool, error });
	return "Internal error. The bot's log has the details.";
}
