// The reference of all tools, from their definitions and from calls of them in the simulated guild.

import { join } from "node:path";
import { toolsetNames } from "../../src/bot/config/tool-choice.ts";
import { donatorTools } from "../../src/bot/game/donator-tools.ts";
import type { BotTool } from "../../src/bot/tool/context.ts";
import { tools } from "../../src/bot/tools/index.ts";
import type { Needed } from "../../src/discord/permissions.ts";
import { officialName } from "../../src/discord/permissions.ts";
import { briefSchema, type JsonSchema } from "../../src/mcp/json-schema.ts";
import { privilegedHint } from "../../src/mcp/tool.ts";
import { until } from "../support/until.ts";
import type { TestWorld } from "../support/world.ts";
import { startGameWorld } from "./game/game-world.ts";
import { type Args, startScene } from "./tool-rows/scene.ts";
import { table } from "./tool-table.ts";

/** A call of a tool, and its answer. */
interface Example {
	args: Args;
	text: string;
}

const gameTools = donatorTools(() => undefined);
const allTools: readonly BotTool[] = [...tools, ...gameTools];

export const referenceFile = join(import.meta.dir, "../../src/bot/tools/README.md");
const maxLines = 8;
const maxLineLength = 300;

/** Tools and bytes that each toolset adds to tools/list, by default and when it is named; those of none are left out. */
export function toolsetSizes() {
	return toolsetNames.flatMap((toolset) => {
		const its = allTools.filter((tool) => tool.toolset === toolset);
		const offered = its.filter(({ offered }) => offered === "listed");
		return its.length > 0
			? [
					{
						toolset,
						providerDefaults: offered.length,
						bytesByDefault: bytesOf(offered),
						tools: its.length,
						bytes: bytesOf(its),
					},
				]
			: [];
	});
}

function bytesOf(tools: readonly BotTool[]): number {
	const texts = tools.map(({ listing }) =>
		JSON.stringify({ ...listing, inputSchema: briefSchema(listing.inputSchema) }),
	);
	return Buffer.byteLength(texts.join(","));
}

/** Every call in a world of its own, so that none depends on another. */
export async function collectExamples(): Promise<Map<string, Example>> {
	const examples = new Map<string, Example>();
	const rows = Object.entries(table);
	const work = async () => {
		for (let row = rows.pop(); row; row = rows.pop()) {
			const [name, how] = row;
			await using scene = await startScene();
			const { args } = "act" in how ? how.act(scene) : "ask" in how ? how.ask(scene) : { args: how.args(scene) };
			await scene.world.heard();
			await quiet(scene.world);
			const { text } = await scene.world.call(name, args);
			examples.set(name, settled({ args, text: withoutGuildNote(text) }));
		}
	};
	await Promise.all([work(), work(), work(), gameExamples(examples)]);
	return examples;
}

/** Leaves out the last line of results of bots in several guilds, like those of the scene. Most bots are in one. */
function withoutGuildNote(text: string): string {
	return text.replace(/\nIn the guild [^\n]+: guild_id was omitted\.$/, "");
}

/** Resolves when the bot knows that the mark which it heard by has gone. */
async function quiet({ call }: TestWorld): Promise<void> {
	await until("no mark is left", async () =>
		(await call("lookup_user_by_name", { query: "mark-" })).text.startsWith("No member"),
	);
}

async function gameExamples(examples: Map<string, Example>): Promise<void> {
	await using world = await startGameWorld({
		settings: ({ world, guild }) => {
			const gold = world.roles.add(guild("The Cooks"), { name: "gold" }).id;
			return { donator_sync: true, tiers: { gold } };
		},
	});
	await world.compared();
	world.game.addDonator({
		chat_id: world.simulator.user("zoe").id,
		tier: "gold",
		username: "Steve",
		uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5",
	});
	for (const { name } of gameTools) {
		const { text } = await world.call(name);
		examples.set(name, settled({ args: {}, text }));
	}
}

/** The same with everything replaced that is another one each time: ids, times and names, by their order. */
function settled({ args, text }: Example): Example {
	const seen = new Map<string, string>();
	const numbered = (kind: string, of: (number: number) => string) => {
		let count = 0;
		return (found: string) => {
			const key = kind + found;
			const known = seen.get(key) ?? of(++count);
			seen.set(key, known);
			return known;
		};
	};
	const id = numbered("id", (n) => String(10n ** 17n + BigInt(n)));
	const name = numbered("name", (n) => `thing-${n}`);
	const emojiName = numbered("name", (n) => `thing_${n}`);
	const inviteCode = numbered("code", (n) => `invite${n}`);
	const planHash = numbered("hash", (n) => String(n).padStart(32, "0"));
	const settle = (part: string) =>
		part
			.replace(/\b\d{17,20}\b/g, id)
			// The hash of a plan covers ids.
			.replace(/\b[0-9a-f]{32}\b/g, planHash)
			.replace(/\bthing-\d+\b/g, name)
			.replace(/\bthing_\d+\b/g, emojiName)
			.replace(/\b(?=[0-9a-f]*\d)[0-9a-f]{8}\b/g, inviteCode)
			.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g, "2026-01-31T12:00:00Z")
			.replace(/\b\d{4}-\d\d-\d\d( \d\d:\d\d)?\b/g, (_, time) => (time ? "2026-01-31 12:00" : "2026-01-31"))
			// The first heartbeat comes after a random time.
			.replace("latency: not measured yet", "latency: 5 ms")
			.replace(/\b\d+(?:\.\d+)? ms\b/g, "5 ms");
	return { args: JSON.parse(settle(JSON.stringify(args))) as Args, text: settle(text) };
}

/** The reference, in Markdown. */
export function writeReference(examples: ReadonlyMap<string, Example>): string {
	const sizes = toolsetSizes();
	const sum = (key: "providerDefaults" | "bytesByDefault" | "tools" | "bytes") =>
		sizes.reduce((total, size) => total + size[key], 0);
	return [
		introduction,
		"| toolset | listed by default | bytes | all | bytes |",
		"| --- | --- | --- | --- | --- |",
		...sizes.map(
			({ toolset, providerDefaults, bytesByDefault, tools, bytes }) =>
				`| [${toolset}](#${toolset}) | ${providerDefaults} | ${bytesByDefault} | ${tools} | ${bytes} |`,
		),
		`| all | ${sum("providerDefaults")} | ${sum("bytesByDefault")} | ${sum("tools")} | ${sum("bytes")} |`,
		"",
		...sizes.flatMap(({ toolset }) => [
			`## ${toolset}`,
			"",
			...allTools.filter((tool) => tool.toolset === toolset).flatMap((tool) => describe(tool, examples.get(tool.name))),
		]),
		howToAdd,
	].join("\n");
}

function describe(tool: BotTool, example: Example | undefined): string[] {
	const { name, listing, needs } = tool;
	const text = String(listing.description).replace(`${privilegedHint} `, "");
	return [
		`### ${name}`,
		"",
		text,
		"",
		`- ${effectOf(tool)}${tool.offered === "listed" ? "" : " Not listed by default."}`,
		`- The bot needs: ${needed(needs)}.`,
		...neededByPerson(tool),
		"",
		...parameters(listing.inputSchema),
		...(example ? exampleOf(name, example) : []),
	];
}

function effectOf({ effect, effectVaries, listing }: BotTool): string {
	const { idempotentHint } = listing.annotations as Record<string, boolean | undefined>;
	if (effect === "read") return "Only reads.";
	if (effect === "write")
		return [
			"Changes something",
			idempotentHint && "; the same call again changes nothing more",
			effectVaries && "; **some calls count as destructive**",
			".",
		]
			.filter(Boolean)
			.join("");
	return "**Destroys something**; with `dry_run` it only says what it would do.";
}

function needed({ permissions, intents }: BotTool["needs"]): string {
	const all = [...permissions.map(permissionName), ...intents.map((intent) => `the intent ${intent}`)];
	return all.join(", ") || "nothing in particular";
}

/** What a person needs in whose name the tool acts, beyond what the bot needs. */
function neededByPerson({ needs: { person }, listing }: BotTool): string[] {
	const { properties = {} } = listing.inputSchema as { properties?: object };
	const { permissions = [] } = person ?? {};
	const managesBot = person?.managesBot ?? !("guild_id" in properties);
	const all = [...permissions.map(permissionName), ...(managesBot ? ["MANAGE_GUILD in the bot's own guild"] : [])];
	const unique = [...new Set(all)];
	return unique.length > 0 ? [`- A person in whose name it acts also needs: ${unique.join(", ")}.`] : [];
}

function permissionName(one: Needed<never>): string {
	if (typeof one === "string") return officialName(one);
	const name = officialName(one.permission);
	return "inGuild" in one ? `${name} in the guild as a whole` : `${name} (with ${code(one.with)})`;
}

function parameters({ properties, required }: JsonSchema): string[] {
	const entries = Object.entries(properties as Record<string, JsonSchema>);
	if (entries.length === 0) return ["No parameters.", ""];
	const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
	return [
		"| parameter | takes | |",
		"| --- | --- | --- |",
		...entries.map(
			([name, schema]) =>
				`| ${code(name)}${isRequired(name) ? " (required)" : ""} | ${cell(takes(name, schema))} | ${cell(String(schema.description ?? ""))} |`,
		),
		"",
	];
}

/** What a parameter takes, in words. */
function takes(name: string, schema: JsonSchema): string {
	const type = name === "guild_id" ? "id" : typeOf(schema);
	return schema.default === undefined ? type : `${type}; ${JSON.stringify(schema.default)} when omitted`;
}

function typeOf(schema: JsonSchema): string {
	const { type, pattern, items } = schema;
	const choices = schema.enum;
	if (Array.isArray(choices)) return choices.join(", ");
	if (String(pattern).includes("\\d{4}-\\d\\d")) return "time";
	if (String(pattern).includes("{17,20}")) return "id";
	if (type === "array") {
		const { minItems = 0, maxItems } = schema;
		return `${minItems} to ${maxItems} of: ${typeOf(items as JsonSchema)}`;
	}
	if (type === "integer")
		return `${schema.minimum} ${schema.maximum === undefined ? "or more" : `to ${schema.maximum}`}`;
	if (type === "boolean") return "true, false";
	if (type === "object") {
		const { properties } = schema as Partial<Record<string, JsonSchema>>;
		return properties ? `object with ${Object.keys(properties).join(", ")}` : "object";
	}
	if (schema.maxLength === undefined) return "text";
	return `text, ${schema.minLength ?? 0} to ${schema.maxLength} characters`;
}

function exampleOf(name: string, { args, text }: Example): string[] {
	const lines = text.split("\n");
	const shown = lines
		.slice(0, maxLines)
		.map((line) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line));
	if (lines.length > maxLines) shown.push("…");
	return ["```", `${name} ${JSON.stringify(args)}`, ...shown, "```", ""];
}

function code(text: string): string {
	return `\`${text}\``;
}

/** Text in a cell of a table. */
function cell(text: string): string {
	return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

const introduction = `# The tools

Generated from the tool definitions and from calls in the simulated guild. \`bun run reference\` regenerates this file; a
test fails when it is outdated.

A tool accepts only the arguments in its table. \`guild_id\` defaults to the bot's own guild, and all other ids must belong
to that guild. Where an id of a user, role or channel is expected, \`@username\`, \`@Role\`, \`#channel\` and mentions are
accepted, too: exact names, of which an ambiguous one is an error that lists the candidates. In a call of a tool that changes something, only usernames stand for users. Without \`guild_id\`, the last line of a result names the guild if the bot's tools may act in several. The
gateway adds \`instance\` to each tool, and needs it or \`guild_id\` in each call. The description of a tool that writes begins
with "${privilegedHint}", and its annotations say so too. Messages ping nobody unless
\`mentions\` allows it. Only emoji can be given an image: guilds, webhooks and scheduled events cannot. Scheduled events
cannot recur. In results, names and texts that people wrote are escaped to one line, and times are in UTC.

A result that begins with "Discord API error:" is an error from Discord, with its code and the next step. A call that a
rate limit would delay by more than 10 s fails at once and states the wait.

## Choosing tools

In \`[mcp]\` of \`config.toml\`, \`toolsets\`, \`read_only\`, \`deny\` and \`guilds\` choose the tools that are allowed: without
them, all. Calls of others are refused. \`list\` chooses which of the allowed tools clients list: without it, those that
\`toolsets\` names, or else the default tools. \`find_tools\`, \`use_reading_tool\` and \`use_tool\` reach the rest. The columns
of bytes show how much a toolset adds to the response to \`tools/list\`.
`;

const howToAdd = `## Adding a tool

See [CONTRIBUTING](../../../.github/CONTRIBUTING.md#adding-a-tool).
`;
