// What tools/list publishes of the arguments, against what a call accepts: every border is tried from both sides.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startBot } from "../../../src/bot/bot.ts";
import { durationPattern } from "../../../src/bot/tool/arguments/arguments.ts";
import type { BotContext } from "../../../src/bot/tool/context.ts";
import { tools } from "../../../src/bot/tools/index.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { RpcError } from "../../../src/mcp/json-rpc.ts";
import type { JsonSchema } from "../../../src/mcp/json-schema.ts";
import { type Tool, textResult } from "../../../src/mcp/tool.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { asBotTool } from "../../support/both-servers.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";

interface Schema extends JsonSchema {
	type?: string | readonly string[];
	description?: string;
	properties?: Record<string, Schema>;
	required?: string[];
	additionalProperties?: boolean;
	items?: Schema;
	enum?: (string | number)[];
	pattern?: string;
	minimum?: number;
	maximum?: number;
	minLength?: number;
	maxLength?: number;
	minItems?: number;
	maxItems?: number;
	format?: "uri" | "date-time";
}

/** A value, and whether the schema allows it. */
type Probe = [value: unknown, valid: boolean];

/** Fields that accept more than they publish: numbers are clamped, words are case-insensitive, colors have other forms. */
const lenient = [
	"limit",
	"channel_type",
	"action_type",
	"count_by",
	"color",
	"tags",
	"answers",
	"permission_overwrites",
	"permissions",
	"add_permissions",
	"remove_permissions",
	"allow",
	"deny",
	"neutral",
];

const texts = [
	"-link",
	"10m",
	"",
	"1".repeat(16),
	"1".repeat(17),
	"1".repeat(20),
	"1".repeat(21),
	"general",
	"-1",
	"0x10",
	"٣".repeat(18),
];

function probes(schema: Schema): Probe[] {
	const { type, pattern } = schema;
	const range = (least = 0, most?: number): [number, boolean][] => [
		[least, true],
		...(least > 0 ? [[least - 1, false] as [number, boolean]] : []),
		...(most === undefined
			? []
			: ([
					[most, true],
					[most + 1, false],
				] as [number, boolean][])),
	];
	// How long it may be is said in words.
	if (pattern === durationPattern)
		return [[schema.default ?? "1h", true], ...["soon", "", "-1d", 7].map((one): Probe => [one, false])];
	if (Array.isArray(type)) {
		const { type: _, ...many } = schema;
		const isList = ([value]: Probe) => Array.isArray(value);
		return [
			...probes({ ...many, type: "array" }).filter(isList),
			...probes({ ...schema.items, type: type.find((one) => one !== "array") }).filter((probe) => !isList(probe)),
		];
	}
	if (schema.enum)
		return [
			...schema.enum.map((one): Probe => [one, true]),
			...["", "none ", otherCase(String(schema.enum[0])), 0].map((one): Probe => [one, false]),
		];
	if (pattern !== undefined)
		return [...texts.map((text): Probe => [text, new RegExp(pattern).test(text)]), [17, false]];
	if (schema.format === "uri") {
		const link = "https://example.org/";
		return [
			[link, true],
			[link.padEnd(2048, "x"), true],
			[link.padEnd(2049, "x"), false],
			...["", "example.org", "ftp://example.org", "https://", 1].map((one): Probe => [one, false]),
		];
	}
	if (schema.format === "date-time")
		return [
			["2026-01-31T12:00:00Z", true],
			["2026-01-31T12:00:00+01:00", true],
			["2026-01-31", true],
			["6h", true],
			...["2026-02-30T12:00:00Z", "tomorrow", "", 1].map((one): Probe => [one, false]),
		];
	if (type === "string")
		return [
			...range(schema.minLength, schema.maxLength).map(([length, valid]): Probe => ["x".repeat(length), valid]),
			[1, false],
			[["x"], false],
		];
	if (type === "integer") {
		const { minimum = 0, maximum } = schema;
		return [
			[minimum, true],
			[maximum ?? 1e9, true],
			[minimum - 1, false],
			...(maximum === undefined ? [] : [[maximum + 1, false] as Probe]),
			[minimum + 0.5, false],
			[String(minimum), false],
		];
	}
	if (type === "boolean")
		return [
			[true, true],
			[false, true],
			["true", false],
			[1, false],
		];
	if (type === "array") {
		const items = probes(schema.items ?? {});
		const good = items.find(([, valid]) => valid)?.[0];
		return [
			...range(schema.minItems, schema.maxItems).map(([length, valid]): Probe => [Array(length).fill(good), valid]),
			...items.map(([item, valid]): Probe => [Array(Math.max(1, schema.minItems ?? 1)).fill(item), valid]),
			// A text alone is a list of it. Not every list says so: every byte counts.
			[good, Array.isArray(good) || (typeof good === "string" && (schema.minItems ?? 0) < 2)],
		];
	}
	if (type === "object") {
		const { properties = {}, required = [] } = schema;
		const whole = smallest(schema);
		return [
			[whole, true],
			[{ ...whole, unheard_of: 1 }, schema.additionalProperties === true],
			...required.map((key): Probe => [{ ...whole, [key]: undefined }, false]),
			...Object.entries(properties).flatMap(([key, property]) =>
				probes(property).map(([value, valid]): Probe => [{ ...whole, [key]: value }, valid]),
			),
		];
	}
	throw new Error(`no probes are known for ${JSON.stringify(schema)}`);
}

function otherCase(text: string): string {
	const upper = text.toUpperCase();
	return text === upper ? text.toLowerCase() : upper;
}

/** An object with the required fields alone. */
function smallest({ properties = {}, required = [] }: Schema) {
	return Object.fromEntries(
		required.map((key) => [key, probes(properties[key] ?? {}).find(([, valid]) => valid)?.[0]]),
	);
}

/** Every schema in a schema that describes a named thing. */
function named(schema: Schema, path: string): [string, Schema][] {
	return [
		...Object.entries(schema.properties ?? {}).flatMap(([key, property]): [string, Schema][] => [
			[`${path}.${key}`, property],
			...named(property, `${path}.${key}`),
		]),
		...(schema.items ? named(schema.items, `${path}[]`) : []),
	];
}

/** A schema and all objects in it. */
function objects(schema: Schema): Schema[] {
	const inner = [...Object.values(schema.properties ?? {}), schema.items];
	return [...(schema.type === "object" ? [schema] : []), ...inner.flatMap((one) => (one ? objects(one) : []))];
}

let world: AsyncDisposable & {
	simulator: Simulator;
	/** The text of a tool's result, called as the server calls it. */
	call(tool: Tool<BotContext>, args: object): Promise<string>;
};
beforeAll(async () => {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator());
	const { promise, resolve } = Promise.withResolvers<BotContext>();
	const probe = asBotTool({
		...({ name: "probe", effect: "read", listing: { inputSchema: {} } } as const),
		async call(_: object, context: BotContext) {
			resolve(context);
			return textResult("");
		},
	});
	const config = connectedConfig(simulator, { guildId: simulator.guild("The Cooks").id });
	const bot = startBot(config, recordLog().log, { tools: [probe] });
	stack.defer(() => bot.close());
	await until("the bot has loaded", () => bot.loaded);
	await (await connectTo(bot.url)).call("probe");
	const context = await promise;
	const running = stack.move();
	world = {
		simulator,
		async call(tool, args) {
			try {
				// As JSON has them.
				const given = JSON.parse(JSON.stringify(args)) as JsonObject;
				return await tool.call(given, context, caller);
			} catch (error) {
				if (error instanceof RpcError) return error.message;
				throw error;
			}
		},
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
});
afterAll(() => world[Symbol.asyncDispose]());

const caller = { signal: undefined, reportProgress: () => {} };

describe.each(tools.map((tool) => [tool.name, tool, tool.listing.inputSchema as Schema] as const))(
	"%s",
	(name, tool, schema) => {
		test("describes every argument, and takes no other", () => {
			for (const [path, { description }] of named(schema, name)) {
				// Of an object in a list the names say enough. The server's instructions describe the others, for all tools.
				if (description === undefined && (path.includes("[]") || /\.(?:guild_id|reason)$/.test(path))) continue;
				expect(`${path}: ${description ?? ""}`).toMatch(/: [A-Z].*[.]$/);
			}
			// What names its fields in words does not list them.
			for (const object of objects(schema))
				if (object.properties) expect(object.additionalProperties).toBe(false);
				else expect(object.description).toMatch(/^[A-Z].*[.]$/);
		});

		test("accepts what it publishes, and nothing beyond it", async () => {
			const wrong: unknown[] = [];
			const { properties = {}, required = [] } = schema;
			const whole = {
				// What is accepted ends here: the bot is in no such guild.
				...(properties.guild_id && { guild_id: "1".repeat(18) }),
				...smallest(schema),
			};
			const check = async (key: string, args: object, valid: boolean) => {
				const text = await world.call(tool, args);
				const refused = new RegExp(
					`^Invalid parameters: (.*; )?${key}(\\.\\w+)*: (expected|is required|this tool has no)`,
				).test(text);
				if (refused === valid) wrong.push({ key, args, valid, text });
			};
			// Of all ids this one publishes no pattern: it is in every tool, and every byte counts.
			if (properties.guild_id)
				for (const text of texts.filter((one) => one !== ""))
					await check("guild_id", { ...whole, guild_id: text }, /^[0-9]{17,20}$/.test(text));
			for (const [key, property] of Object.entries(properties))
				for (const [value, valid] of key === "guild_id" ? [] : probes(property))
					if (valid || !lenient.includes(key)) await check(key, { ...whole, [key]: value }, valid);
			for (const key of required) {
				const rest = { ...whole, [key]: undefined };
				await check(key, rest, false);
				await check(key, { ...whole, [key]: null }, false);
			}
			for (const key of Object.keys(properties))
				if (!required.includes(key) && key !== "guild_id") await check(key, { ...whole, [key]: null }, true);
			await check("unheard_of", { ...whole, unheard_of: 1 }, false);
			expect(wrong).toEqual([]);
			expect(world.simulator.requests.list().filter(({ method }) => method !== "GET")).toEqual([]);
		});
	},
);

const link: Schema = { format: "uri" };
const word = (maxLength: number): Schema => ({ type: "string", minLength: 1, maxLength });
const record = (properties: Record<string, Schema>, ...required: string[]) => ({
	type: "object",
	properties,
	required,
});

/** An embed as Discord documents it. tools/list publishes only the names of its fields. */
const embed: Schema = record({
	title: word(256),
	description: word(4096),
	url: link,
	timestamp: { format: "date-time" },
	color: { type: "integer", minimum: 0, maximum: 0xffffff },
	footer: record({ text: word(2048), icon_url: link }, "text"),
	image: record({ url: link }, "url"),
	thumbnail: record({ url: link }, "url"),
	author: record({ name: word(256), url: link, icon_url: link }, "name"),
	fields: {
		type: "array",
		maxItems: 25,
		items: record({ name: word(256), value: word(1024), inline: { type: "boolean" } }, ...["name", "value"]),
	},
});

const takesEmbeds = tools.filter(({ listing }) => (listing.inputSchema as Schema).properties?.embeds);

test.each(takesEmbeds.map((tool) => [tool.name, tool] as const))(
	"%s takes embeds up to Discord's limits, and nothing beyond them",
	async (_, tool) => {
		const schema = tool.listing.inputSchema as Schema;
		const published = schema.properties?.embeds?.items?.description;
		for (const key of Object.keys(embed.properties ?? {})) expect(published).toContain(key);
		const wrong: unknown[] = [];
		for (const [value, valid] of probes(embed)) {
			const text = await world.call(tool, { ...smallest(schema), guild_id: "1".repeat(18), embeds: [value] });
			const refused = /^Invalid parameters: embeds\.0(\.\w+)*: (expected|is required|this tool has no)/.test(text);
			if (refused === valid) wrong.push({ value, valid, text });
		}
		expect(wrong).toEqual([]);
	},
);
