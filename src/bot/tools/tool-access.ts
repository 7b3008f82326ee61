// The tools that reach tools which are not in tools/list. `OfferedTools` replaces a call of use_tool or use_reading_tool with
// the call inside it, so that these two never run.

import * as v from "valibot";
import { fieldLine, resultLines } from "../../discord/text.ts";
import { howToRaise, type Principal, rootPrincipal } from "../../lib/principal.ts";
import { everywhere, inGuilds } from "../../mcp/fan-out.ts";
import { briefSchema, type JsonSchema } from "../../mcp/json-schema.ts";
import { invalidParameters, privilegedHint } from "../../mcp/tool.ts";
import { whereGrammar } from "../people/where.ts";
import { guild_id, limit, text } from "../tool/arguments/arguments.ts";
import type { BotTool, Self } from "../tool/context.ts";
import { readTool } from "../tool/define.ts";
import { tool } from "../tool/pipeline.ts";
import { accessors } from "../tool/search/offered-tools.ts";
import {
	describeWay,
	documentTool,
	findOtherWay,
	hasDocument,
	noMatch,
	type OtherWay,
	settingExample,
	settingTool,
	toolFor,
} from "../tool/search/other-ways.ts";
import { searchTools } from "../tool/search/tool-search.ts";

const maxPurposes = 10;

const maxOthers = 3;

/** Questions whose answer uses the argument `where`. */
const aboutPeople =
	/^\W*where\W*$|\bwhere (?:argument|expression|grammar|syntax)|\b(?:who|joins|members?|people|users?|accounts?|everyone|everybody|anyone|newcomers?)\b.*\b(?:joined|younger|older|new|never|without|inactive|silent|wrote|written|reacted|invite[ds]?|at least|fewer|more than)\b/i;

export const findTools = everywhere(
	readTool({
		name: accessors.find,
		toolset: "core",
		offered: "listed",
		title: "Find tools",
		description: "Search all tools, also those not listed, by what they do. Gives the best one's arguments.",
		person: { managesBot: false },
		input: {
			query: text(1, 500, 'What to do, in a few words; several separated by ";".'),
			limit: limit(10, 1, "How many with arguments, per purpose."),
		},
		run({ query, limit }, { self, principal }) {
			const purposes = query.split(/[;\n]/).filter((text) => text.trim() !== "");
			if (purposes.length > maxPurposes)
				throw invalidParameters([
					`query: expected at most ${maxPurposes} descriptions of what a tool should do, separated by ";" or line breaks, received ${purposes.length}`,
				]);
			const described = new Set<BotTool>();
			const linesOfBest = (best: readonly BotTool[]) =>
				best.flatMap((tool) => {
					if (described.has(tool)) return [`${tool.name}: see above`];
					described.add(tool);
					return linesOf(tool, self.listed);
				});
			const whole = [...self.tools, ...self.beyond];
			const names = namesOf(self.tools);
			const beyondNames = namesOf(self.beyond);
			const results = purposes.map((text) => {
				const { best: found, others, named } = searchTools(text, self.tools, limit);
				const purpose = text.trim();
				const way = findOtherWay(text, names, beyondNames);
				if (way)
					return {
						purpose,
						lines: linesOfWay(way, self, principal),
						others: named.slice(0, maxOthers),
						isSetting: way.setting !== undefined,
					};
				const known = toolFor(text, names);
				const best = known === undefined ? found : self.tools.filter(({ name }) => name === known);
				const beyond = searchTools(text, whole, 1)
					.best.filter((tool) => self.beyond.includes(tool))
					.map((tool) => neededFor(tool, principal, `: ${descriptionOf(tool)}`));
				const lines = [...beyond, ...linesOfBest(best)];
				return {
					purpose,
					lines: lines.length > 0 ? lines : [noMatch],
					others: others.slice(0, maxOthers),
					isSetting: best.some(({ name }) => name === settingTool),
				};
			});
			const [result] = results;
			if (!result) return noMatch;
			const grammar = [
				...(results.some(({ isSetting }) => isSetting) ? [settingExample] : []),
				...(purposes.some((text) => aboutPeople.test(text)) ? whereGrammar : []),
			];
			if (results.length === 1)
				return resultLines(
					result.lines,
					result.others.map((tool) => headLine(tool, self.listed)),
					grammar,
				);
			const all = results.flatMap(({ purpose, lines, others }) => {
				const names = others.map(({ name }) => name).join(", ");
				return [`${JSON.stringify(purpose)}${names && `, or else ${names}`}:`, ...lines];
			});
			return [...all, ...grammar];
		},
	}),
);

const namesOf = (tools: readonly BotTool[]) => new Set(tools.map(({ name }) => name));

/** What people ask for and no tool does: who or what does it, or that nothing does. */
function linesOfWay(way: OtherWay, { tools, beyond, listed, toml }: Self, caller?: Principal): string[] {
	const calls = (wanted: string) => tools.filter(({ name }) => name === wanted).map((tool) => callOf(tool, listed));
	if (way.setting) return [`${calls(settingTool).join()} with settings such as ${way.setting}`];
	if (!hasDocument(way, toml)) return [describeWay(way, toml)];
	const apply = beyond.filter(({ name }) => name === "apply_guild").map((tool) => neededFor(tool, caller));
	return [`${calls(documentTool).join()} with a document such as ${way.document}`, ...apply];
}

function linesOf(tool: BotTool, listed: readonly BotTool[]): string[] {
	const line = headLine(tool, listed);
	if (listed.includes(tool)) return [line];
	const { properties, required } = tool.listing.inputSchema;
	const { guild_id: _, ...own } = properties as Record<string, JsonSchema>;
	return [line, notation(briefSchema({ type: "object", properties: own, required }))];
}

function headLine(tool: BotTool, listed: readonly BotTool[]): string {
	return listed.includes(tool) ? callOf(tool, listed) : `${callOf(tool, listed)}: ${descriptionOf(tool)}`;
}

function callOf(tool: BotTool, listed: readonly BotTool[]): string {
	const accessor = tool.effect === "read" ? accessors.read : accessors.use;
	return `${tool.name} (${listed.includes(tool) ? "listed: call it directly" : `call it with ${accessor}`})`;
}

function neededFor(tool: BotTool, caller: Principal = rootPrincipal, description = ""): string {
	const needed = tool.effect === "destructive" ? "all" : "write";
	return fieldLine(
		`${tool.name} (needs the access "${needed}", and this connection has only "${caller.access}")${description}`,
		howToRaise(caller, needed),
	);
}

function descriptionOf({ listing }: BotTool): string {
	return String(listing.description).replace(`${privilegedHint} `, "");
}

/** Much shorter than JSON, such as `{ids: string[] (The ids.), mode?: "on" | "off"}`. */
function notation({ type, properties, required = [], items, enum: choices }: JsonSchema): string {
	if (Array.isArray(choices)) return choices.map((one) => JSON.stringify(one)).join(" | ");
	if (type === "array") {
		const item = notation(items as JsonSchema);
		return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
	}
	if (!properties) return String(type);
	const fields = Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => {
		const { description, default: usual, maximum } = schema;
		const notes = [
			description,
			usual !== undefined && `Default: ${JSON.stringify(usual)}.`,
			maximum && `At most ${maximum}.`,
		];
		const about = notes.filter(Boolean).join(" ");
		const sign = (required as string[]).includes(name) ? "" : "?";
		return `${name}${sign}: ${notation(schema)}${about && ` (${about})`}`;
	});
	return `{${fields.join(", ")}}`;
}

const input = {
	name: v.pipe(v.string(), v.description("The tool.")),
	arguments: v.optional(
		v.pipe(v.record(v.string(), v.unknown()), v.description("Its arguments, without instance and guild_id.")),
	),
	guild_id,
};

const neverRuns = () => {
	throw new Error(
		"bug in the bot: the function of use_tool or use_reading_tool was called instead of that of the tool which the call names",
	);
};

export const useReadingTool = inGuilds(
	readTool({
		name: accessors.read,
		toolset: "core",
		offered: "listed",
		title: "Use a tool that reads",
		description: "Call a tool that is not listed and only reads. find_tools shows its arguments.",
		input,
		run: neverRuns,
	}),
);

export const useTool = inGuilds(
	tool(
		{ effect: "destructive" },
		{
			name: accessors.use,
			toolset: "core",
			offered: "listed",
			title: "Use a tool",
			description: "Call any tool that is not listed. find_tools shows its arguments.",
			input,
			run: neverRuns,
		},
	),
);
