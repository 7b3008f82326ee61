// Which tools a bot allows and lists, and which tool a call runs. Every call is resolved here before anything else reads it,
// so that logs, the audit log, `deny` and `read_only` go by the tool that runs, whatever name it was called by.

import { didYouMean } from "../../lib/config.ts";
import { LruMap } from "../../lib/lru-map.ts";
import { howToRaise, type Principal } from "../../lib/principal.ts";
import { shownName } from "../../lib/text.ts";
import { isObject, type JsonObject } from "../../mcp/json-rpc.ts";
import { methodNotFound, type ResolvedCall, type ToolSet } from "../../mcp/server.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { defaultChoice, type ToolChoice } from "../config/tool-choice.ts";
import { whyNoAccess } from "./admission.ts";
import type { BotContext } from "./context.ts";
import { type Alias, type BotTool, isInDefaultToolsets, isReadOnly, type Overlap } from "./toolsets.ts";

/** The names of the three MCP tools that find and call tools which are not in `tools/list`. */
export const accessors = {
	find: "find_tools",
	read: "use_reading_tool",
	use: "use_tool",
} as const;

const accessorNames: ReadonlySet<string> = new Set(Object.values(accessors));

/**
 * Arguments by which the gateway selects the bot for a call. They must be beside, not inside, the `arguments` of
 * `use_tool`.
 */
const routingArguments = ["instance", "guild_id"];

const commonArguments = ["guild_id", "reason", "dry_run"];

interface Entry {
	tool: BotTool;
	alias?: Alias;
}

/**
 * The limits of a principal (caller) on tools: the access level and the toolsets. The rest says how the access is raised.
 */
export type ToolScope = Pick<Principal, "access" | "toolsets"> & Partial<Pick<Principal, "id" | "narrowed">>;

const maxScopes = 50;

/**
 * Returns a function that returns the tools which a bot offers to a principal (caller). Tools outside of its toolsets do
 * not exist for it. Calls of tools beyond its access are refused with a text that says how to raise it.
 */
export function offerTools(
	tools: readonly BotTool[],
	choice: ToolChoice,
	listedByDefault: readonly string[],
): (scope: ToolScope | undefined) => OfferedTools {
	const all = new OfferedTools(tools, choice, listedByDefault);
	const scoped = new LruMap<string, OfferedTools>(maxScopes);
	const known = new Set([defaultChoice, ...tools.map((one) => one.toolset)]);
	return (scope) => {
		if (!scope) return all;
		const { access, toolsets } = scope;
		if (access === "all" && !toolsets) return all;
		const names = toolsets && [...known].filter((one) => toolsets.includes(one));
		const key = `${access} ${names?.join() ?? "*"} ${howToRaise(scope, "all")}`;
		return scoped.getOrMake(
			key,
			() =>
				new OfferedTools(
					tools.filter((tool) => isInToolsets(tool, names)),
					names ? { ...choice, list: "all" } : choice,
					listedByDefault,
					scope,
				),
		);
	};
}

function isInToolsets(tool: BotTool, toolsets: readonly string[] | undefined): boolean {
	const { name, toolset } = tool;
	return (
		tool.essential ||
		toolsets === undefined ||
		toolsets.includes(toolset) ||
		(toolsets.includes(defaultChoice) && isInDefaultToolsets(tool)) ||
		accessorNames.has(name)
	);
}

/** The MCP tools that a bot's config.toml allows to be called, and the tools among them that `tools/list` contains. */
export class OfferedTools implements ToolSet<BotContext> {
	/**
	 * The tools that clients may call. `find_tools`, `use_reading_tool` and `use_tool` are among them if other allowed
	 * tools are missing from `tools/list`.
	 */
	readonly allowed: readonly BotTool[];
	/** The tools in the response to `tools/list`. */
	readonly listed: readonly BotTool[];
	readonly #byName = new Map<string, Entry>();
	readonly #refusals = new Map<string, string>();
	readonly #deniedParts = new Map<BotTool, Alias[]>();
	readonly #deniedOverlaps = new Map<BotTool, (Overlap & { refusal: string })[]>();
	readonly #allowedParts = new Map<BotTool, { parts: readonly Alias[]; refusal: string }>();

	/**
	 * `listedByDefault` are the names of the tools that `tools/list` contains if the configuration does not say which
	 * tools to list. `scope` is the access of the caller; undefined: everything.
	 */
	constructor(tools: readonly BotTool[], choice: ToolChoice, listedByDefault: readonly string[], scope?: ToolScope) {
		for (const tool of tools) {
			const names = [{ name: tool.name }, ...tool.aliases];
			for (const alias of names) {
				if (this.#byName.has(alias.name)) throw new TypeError(`duplicate tool name ${alias.name}`);
				this.#byName.set(alias.name, { tool, alias });
			}
			this.#readDenied(tool, choice, scope);
		}
		const all = tools.filter(({ name }) => !this.#refusals.has(name));
		const own = all.filter(({ name }) => !accessorNames.has(name));
		const listed = own.filter((tool) => isListed(tool, choice, listedByDefault));
		const isOffered = (list: readonly BotTool[]) => (tool: BotTool) =>
			accessorNames.has(tool.name) ? listed.length < own.length : list.includes(tool);
		this.allowed = all.filter(isOffered(own));
		this.listed = all.filter(isOffered(listed));
	}

	/**
	 * Finds the tool and the arguments of a call. For a call of `use_tool` or `use_reading_tool`, these are the tool and
	 * arguments inside the call's arguments. If the call is not allowed, the result contains the error text as `refusal`.
	 */
	readonly resolve = (name: string, args: JsonObject): ResolvedCall<BotTool> => {
		const entry = this.#byName.get(name);
		if (!entry) throw methodNotFound(name);
		const { tool } = entry;
		const refusal = this.#refusalOf(entry, name);
		if (refusal !== undefined) return { tool, args, refusal };
		if (name === accessors.use || name === accessors.read) return this.#resolveInner(tool, args);
		return this.#resolveEntry(entry, args);
	};

	/** Whether the configuration forbids a tool, by its name or a former name. */
	readonly denies = (name: string): boolean => {
		const entry = this.#byName.get(name);
		if (!entry) return false;
		if (this.#refusalOf(entry, name) !== undefined) return true;
		const allowed = this.#allowedParts.get(entry.tool);
		return allowed !== undefined && !allowed.parts.some((part) => part === entry.alias);
	};

	/** Returns the error text if the configuration forbids all calls with this tool name; otherwise undefined. */
	#refusalOf({ tool }: Entry, name: string): string | undefined {
		return this.#refusals.get(name) ?? this.#refusals.get(tool.name);
	}

	#resolveEntry({ tool, alias }: Entry, given: JsonObject) {
		const adapted = alias?.adapt?.(given) ?? given;
		const args = tool.adapt?.(adapted) ?? adapted;
		const present = withoutNulls(args);
		const denied = this.#deniedParts.get(tool)?.find(({ covers }) => covers?.(present));
		if (denied) return { tool, args, refusal: deniedText(denied.name, tool.name) };
		const overlap = this.#deniedOverlaps.get(tool)?.find(({ covers }) => covers(present));
		if (overlap) return { tool, args, refusal: overlap.refusal };
		const allowed = this.#allowedParts.get(tool);
		const isAllowed =
			!allowed ||
			allowed.parts.some(
				(part) => (part === alias || (part.covers?.(present) ?? true)) && hasOnly(present, part.arguments),
			);
		return isAllowed ? { tool, args } : { tool, args, refusal: allowed.refusal };
	}

	#resolveInner(accessor: BotTool, outer: JsonObject): ResolvedCall<BotTool> {
		const { name, args } = innerCall(outer);
		const entry = this.#byName.get(name);
		if (!entry) {
			const offered = [...this.#byName].filter(([one, entry]) => this.#refusalOf(entry, one) === undefined);
			const meant = didYouMean(
				name,
				offered.map(([one]) => one),
			);
			const refusal = `There is no tool ${shownName(name)}${meant || "."} Use ${accessors.find} to search for tools. Nothing was done.`;
			return { tool: accessor, args: outer, refusal };
		}
		const { tool } = entry;
		if (accessorNames.has(tool.name)) {
			const refusal = `${accessor.name} cannot call ${tool.name}: both only call other tools. Call ${tool.name} by its own name. Nothing was done.`;
			return { tool: accessor, args: outer, refusal };
		}
		const refusal = this.#refusalOf(entry, name);
		if (refusal !== undefined) return { tool, args, refusal };
		if (accessor.name === accessors.read && !isReadOnly(tool)) {
			const refusal = `${tool.name} can change something on Discord: call it with ${accessors.use}. Nothing was done.`;
			return { tool, args, refusal };
		}
		return this.#resolveEntry(entry, args);
	}

	#readDenied(tool: BotTool, choice: ToolChoice, scope?: ToolScope): void {
		const { deny } = choice.tools;
		const beyond = scope && whyBeyondAccess(tool, scope);
		const refusal = refusalOf(tool, choice) ?? beyond;
		const parts = beyond === undefined ? allowedParts(tool, choice) : [];
		if (refusal !== undefined && parts.length > 0) this.#allowedParts.set(tool, { parts, refusal });
		else if (refusal !== undefined) for (const { name } of [tool, ...tool.aliases]) this.#refusals.set(name, refusal);
		const overlaps = tool.overlaps.flatMap((overlap) => {
			const denied = overlap.names.find((name) => deny.includes(name));
			if (denied === undefined) return [];
			const refusal = `With these arguments, ${tool.name} does what ${denied} does, and the operator of this bot denies ${denied} (deny in config.toml). Nothing was done.`;
			return [{ ...overlap, refusal }];
		});
		if (overlaps.length > 0) this.#deniedOverlaps.set(tool, overlaps);
		for (const alias of tool.aliases) {
			if (!deny.includes(alias.name)) continue;
			this.#refusals.set(alias.name, deniedText(alias.name));
			if (!alias.covers) this.#refusals.set(tool.name, deniedText(alias.name, tool.name));
			else {
				const parts = this.#deniedParts.get(tool) ?? [];
				this.#deniedParts.set(tool, [...parts, alias]);
			}
		}
	}
}

function withoutNulls(args: JsonObject): JsonObject {
	return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

function hasOnly(args: JsonObject, names: readonly string[] | undefined) {
	return names === undefined || Object.keys(args).every((key) => commonArguments.includes(key) || names.includes(key));
}

function isListed(
	tool: BotTool,
	{ toolsets, list = toolsets === undefined ? [defaultChoice] : "all" }: ToolChoice,
	listedByDefault: readonly string[],
): boolean {
	return (
		tool.essential ||
		list === "all" ||
		list.includes(tool.toolset) ||
		list.includes(tool.name) ||
		(list.includes(defaultChoice) && listedByDefault.includes(tool.name))
	);
}

function allowedParts(tool: BotTool, { toolsets = "all", read_only, tools: { deny } }: ToolChoice): Alias[] {
	if (deny.includes(tool.name) || (read_only && !isReadOnly(tool))) return [];
	return tool.aliases.filter(
		({ name, toolset }) =>
			toolset !== undefined && toolsets !== "all" && toolsets.includes(toolset) && !deny.includes(name),
	);
}

function whyBeyondAccess(tool: BotTool, scope: ToolScope): string | undefined {
	// What use_tool calls has to be in the scope itself.
	const effect = tool.name === accessors.use ? "write" : tool.effect;
	return whyNoAccess(scope, { name: tool.name, effect });
}

function refusalOf(tool: BotTool, { toolsets = "all", read_only, tools: { deny } }: ToolChoice): string | undefined {
	const { name, toolset } = tool;
	if (deny.includes(name)) return deniedText(name);
	if (read_only && !isReadOnly(tool))
		return `${name} is not allowed: the operator of this bot allows only tools that read (read_only in config.toml). Nothing was done.`;
	if (
		tool.essential ||
		toolsets === "all" ||
		toolsets.includes(toolset) ||
		(toolsets.includes(defaultChoice) && isInDefaultToolsets(tool)) ||
		accessorNames.has(name)
	)
		return undefined;
	return `${name} is not allowed: the operator of this bot does not allow the toolset "${toolset}" (toolsets in config.toml). Nothing was done.`;
}

function deniedText(name: string, by = name): string {
	return by === name
		? `${name} is not allowed: the operator of this bot denies ${name} (deny in config.toml). Nothing was done.`
		: `the tool ${by} is not allowed to do what the tool ${name}, which it has replaced, did: the operator of this bot denies ${name} (deny in config.toml). Nothing was done.`;
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
	return {
		name: String(name),
		args: guild_id === undefined ? own : { ...own, guild_id },
	};
}
