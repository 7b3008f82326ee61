// Which tools a bot allows and lists, and which tool a call runs. Every call is resolved here before anything else reads it,
// so that logs, the audit log, `deny` and `read_only` go by the tool that runs, whatever name it was called by.

import { didYouMean } from "../../../lib/config.ts";
import { isObject, type JsonObject } from "../../../lib/json.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { howToRaise, type Principal } from "../../../lib/principal.ts";
import { shownName } from "../../../lib/text.ts";
import { methodNotFound, type ResolvedCall, type Selection, type ToolSet } from "../../../mcp/server.ts";
import { errorResult, invalidParameters, isErrorResult, outcomeIn } from "../../../mcp/tool.ts";
import { defaultChoice, type ToolChoice, type Toolset } from "../../config/tool-choice.ts";
import { scopeTo, whyNoAccess } from "../admission.ts";
import type { BotContext, BotTool } from "../context.ts";
import { searchTools } from "./tool-search.ts";

/** In the value "default" of the setting `mcp.toolsets`, without the tools that are "extra". */
const defaultToolsets: readonly Toolset[] = [
	"core",
	"messages",
	"direct_messages",
	"moderation",
	"roles",
	"channels",
	"voice",
	"webhooks",
	"game",
];

/** Tools that find and call tools which are not in `tools/list`. */
export const accessors = { find: "find_tools", read: "use_reading_tool", use: "use_tool" } as const;

const accessorNames: ReadonlySet<string> = new Set(Object.values(accessors));

// The gateway selects the bot by these. They must be beside, not inside, the `arguments` of `use_tool`.
const routingArguments = ["instance", "guild_id"];

/** Access level and toolsets of a caller. The rest says how the access is raised. */
export type ToolScope = Pick<Principal, "access" | "toolsets"> & Partial<Pick<Principal, "id" | "narrowed">>;

const maxScopes = 50;

/** What principals see of a bot: the tools, and the context of calls, limited to what each may use. */
export function selectFor(offer: ReturnType<typeof offerTools>, context: BotContext) {
	return (principal: Principal | undefined): Selection<BotContext> => {
		const set = offer(principal);
		const { allowed: tools, listed, beyond } = set;
		return { set, context: principal ? scopeTo(principal, context, { tools, listed, beyond }) : context };
	};
}

/** Tools outside of its toolsets do not exist for a caller. Those beyond its access are refused with how to raise it. */
export function offerTools(
	tools: readonly BotTool[],
	choice: ToolChoice,
): (scope: ToolScope | undefined) => OfferedTools {
	const known = tools.map(({ name }) => name);
	const all = new OfferedTools(tools, choice);
	const scoped = new LruMap<string, OfferedTools>(maxScopes);
	const toolsetsOf = new Set([defaultChoice, ...tools.map((one) => one.toolset)]);
	return (scope) => {
		if (!scope) return all;
		const { access, toolsets } = scope;
		if (access === "all" && !toolsets) return all;
		const names = toolsets && [...toolsetsOf].filter((one) => toolsets.includes(one));
		const key = `${access} ${names?.join() ?? "*"} ${howToRaise(scope, "all")}`;
		return scoped.getOrMake(
			key,
			() =>
				new OfferedTools(
					tools.filter((tool) => isInToolsets(tool, names)),
					names ? { ...choice, list: "all" } : choice,
					scope,
					known,
				),
		);
	};
}

function isInToolsets(tool: BotTool, toolsets: readonly string[] | undefined): boolean {
	const { name, toolset, offered } = tool;
	return (
		offered === "always" ||
		toolsets === undefined ||
		toolsets.includes(toolset) ||
		(toolsets.includes(defaultChoice) && defaultToolsets.includes(toolset) && offered !== "extra") ||
		accessorNames.has(name)
	);
}

/** The tools that config.toml allows, and those that are listed. */
export class OfferedTools implements ToolSet<BotContext> {
	/** With the `accessors` if allowed tools are missing from `tools/list`. */
	readonly allowed: readonly BotTool[];
	readonly listed: readonly BotTool[];
	/** Those that only the caller's access level excludes. */
	readonly beyond: readonly BotTool[];
	readonly #byName = new Map<string, BotTool>();
	readonly #refusals = new Map<string, string>();
	/** `scope`: the caller's; undefined: everything. `known`: names of tools, also of those that do not exist for the caller. */
	constructor(tools: readonly BotTool[], choice: ToolChoice, scope?: ToolScope, known = tools.map(({ name }) => name)) {
		const beyond: BotTool[] = [];
		for (const tool of tools) {
			if (this.#byName.has(tool.name)) throw new TypeError(`duplicate tool name ${tool.name}`);
			this.#byName.set(tool.name, tool);
			const denied = refusalOf(tool, choice);
			const refusal = denied ?? (scope && whyBeyondAccess(tool, scope));
			if (refusal !== undefined) this.#refusals.set(tool.name, refusal);
			if (refusal !== undefined && denied === undefined && !accessorNames.has(tool.name)) beyond.push(tool);
		}
		this.beyond = beyond;
		const isAccessor = ({ name }: BotTool) => accessorNames.has(name);
		const permitted = tools.filter(({ name }) => !this.#refusals.has(name));
		const reaches = permitted.some((tool) => !isAccessor(tool) && !isListed(tool, choice));
		this.allowed = namingOnly(
			permitted.filter((tool) => reaches || !isAccessor(tool)),
			known,
		);
		for (const tool of this.allowed) this.#byName.set(tool.name, tool);
		this.listed = this.allowed.filter((tool) => isAccessor(tool) || isListed(tool, choice));
	}

	/** For `use_tool` and `use_reading_tool`, those inside the arguments. `refusal`: why the call is not allowed. */
	readonly resolve = (name: string, args: JsonObject): ResolvedCall<BotTool> => {
		const tool = this.#byName.get(name);
		if (!tool) throw methodNotFound(name, this.#meantBy(name));
		const refusal = this.#refusals.get(name);
		if (refusal !== undefined) return { tool, args, refusal };
		if (name === accessors.use || name === accessors.read) return this.#resolveInner(tool, args);
		return { tool, args };
	};

	/** By its words, such as get_bans for list_bans, or else by its letters. */
	#meantBy(name: string): string {
		const [best] = searchTools(name.slice(0, 100), this.allowed, 1).best;
		const names = this.allowed.map((one) => one.name);
		return best ? `; did you mean ${best.name}?` : didYouMean(name, names);
	}

	readonly denies = (name: string): boolean => this.#refusals.has(name);

	#resolveInner(accessor: BotTool, outer: JsonObject): ResolvedCall<BotTool> {
		const { name, args } = innerCall(outer);
		const tool = this.#byName.get(name);
		if (!tool) {
			const refusal = `There is no tool ${shownName(name)}${this.#meantBy(name) || "."} Use ${accessors.find} to search for tools. Nothing was done.`;
			return { tool: accessor, args: outer, refusal };
		}
		if (accessorNames.has(tool.name)) {
			const refusal = `${accessor.name} cannot call ${tool.name}: both only call other tools. Call ${tool.name} by its own name. Nothing was done.`;
			return { tool: accessor, args: outer, refusal };
		}
		const refusal = this.#refusals.get(name);
		if (refusal !== undefined) return { tool, args, refusal };
		if (accessor.name === accessors.read && tool.effect !== "read") {
			const refusal = `${tool.name} can change something on Discord: call it with ${accessors.use}. Nothing was done.`;
			return { tool, args, refusal };
		}
		return { tool, args };
	}
}

/** Without the sentences of descriptions and errors that name other tools than these. `known`: names of all tools. */
function namingOnly(tools: readonly BotTool[], known: readonly string[]): readonly BotTool[] {
	const own = new Set(tools.map(({ name }) => name));
	// A name of one word, such as ban, is also an English word.
	const absent = known.filter((name) => name.includes("_") && !own.has(name));
	if (absent.length === 0) return tools;
	const names = new RegExp(`\\b(?:${absent.join("|")})\\b`);
	return tools.map((tool) => {
		const json = JSON.stringify(tool.listing);
		const shorten = (key: string, value: unknown) =>
			key === "description" && typeof value === "string" ? withoutNames(value, names) || undefined : value;
		return {
			...tool,
			listing: names.test(json) ? JSON.parse(json, shorten) : tool.listing,
			call: async (...args) => {
				const result = await tool.call(...args);
				if (!isErrorResult(result) || !names.test(result)) return result;
				const { content } = JSON.parse(result);
				const isFailure = outcomeIn(result) === "failed";
				return errorResult(withoutNames(content[0].text, names) || content[0].text, isFailure);
			},
		};
	});
}

/** Sentences end with a period, clauses with a semicolon. */
function withoutNames(text: string, names: RegExp): string {
	return text.split(/(?<=[.;]) /).reduce((kept, part) => {
		if (names.test(part)) return kept.replace(/;$/, part.slice(-1));
		return kept === "" ? part : `${kept} ${part}`;
	}, "");
}

function isListed(tool: BotTool, { toolsets, list = toolsets === undefined ? [defaultChoice] : "all" }: ToolChoice) {
	return (
		tool.offered === "always" ||
		list === "all" ||
		list.includes(tool.toolset) ||
		list.includes(tool.name) ||
		(list.includes(defaultChoice) && tool.offered === "listed")
	);
}

function whyBeyondAccess(tool: BotTool, scope: ToolScope): string | undefined {
	// What use_tool calls has to be in the scope itself.
	const effect = tool.name === accessors.use ? "write" : tool.effect;
	return whyNoAccess(scope, { name: tool.name, effect });
}

function refusalOf(tool: BotTool, { toolsets = "all", read_only, tools: { deny } }: ToolChoice): string | undefined {
	const { name, toolset } = tool;
	if (deny.includes(name))
		return `${name} is not allowed: the operator of this bot denies ${name} (deny in config.toml). Nothing was done.`;
	if (read_only && tool.effect !== "read")
		return `${name} is not allowed: the operator of this bot allows only tools that read (read_only in config.toml). Nothing was done.`;
	if (isInToolsets(tool, toolsets === "all" ? undefined : toolsets)) return undefined;
	return `${name} is not allowed: the operator of this bot does not allow the toolset "${toolset}" (toolsets in config.toml). Nothing was done.`;
}

/** What the operator switched off, and by which setting, for `serverInfo`. Undefined if nothing. */
export function describeOff(
	tools: readonly BotTool[],
	{ toolsets = "all", read_only, tools: { deny } }: ToolChoice,
	features: Readonly<Record<string, boolean>>,
): string | undefined {
	const on = toolsets === "all" ? undefined : toolsets;
	const off = new Set(tools.filter((tool) => !isInToolsets(tool, on)).map(({ toolset }) => toolset));
	const unused = Object.keys(features).filter((name) => !features[name]);
	const parts = [
		unused.length > 0 && `the features ${unused.join(", ")} (features in config.toml)`,
		read_only && "all tools that change something (read_only in config.toml)",
		off.size > 0 && `tools of ${[...off].join(", ")} (toolsets in config.toml)`,
		deny.length > 0 && `${deny.join(", ")} (deny in config.toml)`,
	].filter(Boolean);
	return parts.length > 0 ? `Switched off by the operator: ${parts.join("; ")}.` : undefined;
}

function innerCall(outer: JsonObject): { name: string; args: JsonObject } {
	const { name, arguments: inner = {}, guild_id, instance, ...rest } = outer;
	const args = inner ?? {};
	const issues = Object.keys(rest).map((key) => `${key}: put the tool's own arguments into \`arguments\``);
	if (typeof name !== "string") issues.push("name: expected the name of a tool");
	if (!isObject(args)) issues.push("arguments: expected an object");
	else
		for (const key of routingArguments)
			if (key in args) issues.push(`arguments.${key}: put ${key} beside \`arguments\`, not inside`);
	if (issues.length > 0) throw invalidParameters(issues);
	const own = args as JsonObject;
	return { name: String(name), args: guild_id === undefined ? own : { ...own, guild_id } };
}
