// The example and the reference of instances say what the schemas say: every key, in its place, with its default.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { providerDefaults } from "../../src/ai/providers.ts";
import { apiKeyPattern } from "../../src/ai/settings.ts";
import { renewSchema } from "../../src/bot/config/example.ts";
import { toml, variables } from "../../src/bot/config/settings.ts";
import { toolsetNames } from "../../src/bot/config/tool-choice.ts";
import { isPlaceholder } from "../../src/lib/config.ts";
import { type JsonSchema, toJsonSchema } from "../../src/mcp/json-schema.ts";
import { openPlace } from "../support/place.ts";
import { issuesOf, read } from "./config/instance.ts";

const instances = join(import.meta.dir, "../../instances");
const example = {
	".env": readFileSync(join(instances, "example/.env"), "utf8"),
	"config.toml": readFileSync(join(instances, "example/config.toml"), "utf8"),
};
const reference = readFileSync(join(instances, "README.md"), "utf8");

interface Key {
	/** Where it stands: ".env", "" for the top of config.toml, or a section of it. */
	section: string;
	name: string;
	required: boolean;
	default: unknown;
}

interface Schema {
	type: string;
	default?: unknown;
	wrapped?: Schema;
	entries?: Record<string, Schema>;
	/** Of a record. */
	value?: Schema;
}

/** What stands for the keys of sections whose keys are the operator's. */
const standIns: Record<string, string> = { "ai.providers.mine.extra": "reasoning_effort" };

/** Every key of a schema; those of an object within it are a section. */
function keysOf(schema: Schema, section: string): Key[] {
	return Object.entries(schema.entries ?? {}).flatMap(([name, entry]) => {
		const within = entry.wrapped ?? entry;
		const inner = section && section !== ".env" ? `${section}.${name}` : name;
		// Whose keys are the operator's: one stands for all.
		if (within.value?.entries) return keysOf(within.value, `${inner}.mine`);
		if (within.type === "record") {
			const key = { section: inner, name: standIns[inner] ?? "" };
			return [{ ...key, required: false, default: undefined }];
		}
		const required = entry.type !== "optional";
		return within.entries ? keysOf(within, inner) : [{ section, name, required, default: entry.default }];
	});
}

const keys = [
	...keysOf({ type: "object", entries: variables as never }, ".env"),
	...keysOf(toml as unknown as Schema, ""),
];

const title = ({ section, name }: Pick<Key, "section" | "name">) => `${section || "top"}: ${name}`;

/** As it is written in its file. */
const written = ({ section, default: value }: Key) =>
	section === ".env" ? String(value) : JSON.stringify(value).replaceAll('","', '", "');

/** What a key is without a default in the schema; elsewhere it is nothing. */
const derived: Record<string, string> = {
	GUILD_ID: "the only guild",
	DATA_DIR: "`data` in `CONFIG_DIR`",
	LOG_FORMAT: "`text` on a terminal, else `json`",
	command_root: '`"m"`; `""` where the prefix ends in a letter',
	personality_file: '`"personality.txt"` where there is one',
	order: "all that have their key",
	max_tokens: `\`${providerDefaults.max_tokens}\``,
	max_tokens_field: `\`"${providerDefaults.max_tokens_field}"\``,
	timeout_seconds: `\`${providerDefaults.timeout_seconds}\``,
	message: "`Welcome, {user}!` in the server's language",
	summary: "`… and {count} others. Welcome!` in the server's language",
	silence_seconds: `\`${providerDefaults.silence_seconds}\``,
};

/** The rows of the reference's tables of keys. */
function rows() {
	let section: string | undefined;
	return reference.split("\n").flatMap((line) => {
		const [, heading] = /^#+ (.*)$/.exec(line) ?? [];
		if (heading !== undefined) {
			section = heading === "At the top" ? "" : /^`(?:\[([\w.]+)\]|(\.env))`$/.exec(heading)?.slice(1).find(Boolean);
			return [];
		}
		const cells = line.split("|").map((cell) => cell.trim());
		const [, name] = /^`(\w+)`$/.exec(cells[1] ?? "") ?? [];
		return section !== undefined && name !== undefined
			? [{ section, name, default: cells[2], meaning: cells[3], rules: cells[4], line }]
			: [];
	});
}

test("the reference has a row for every key, in its section, with its default, and no other", () => {
	expect(rows().map(title).sort()).toEqual(keys.map(title).sort());
	for (const key of keys) {
		const row = rows().find((one) => title(one) === title(key));
		const expected = key.required
			? "required"
			: key.default !== undefined
				? `\`${written(key)}\``
				: (derived[key.name] ?? "none");
		expect(`${title(key)}: ${row?.default}`).toBe(`${title(key)}: ${expected}`);
		expect(row?.meaning).not.toBe("");
	}
});

test("a row of the reference has as many cells as its heading, and none is padded", () => {
	for (const { line } of rows()) {
		expect(line.match(/(?<!\\)\|/g)).toHaveLength(5);
		expect(line).not.toMatch(/ {2}/);
	}
});

/** Of config.toml, with the texts of the reference. */
function configSchema(): JsonSchema {
	const schema = toJsonSchema(toml as unknown as Parameters<typeof toJsonSchema>[0]);
	const propertiesOf = (one: JsonSchema) => one.properties as Record<string, JsonSchema>;
	const { providers } = (
		toml.entries.ai.wrapped as unknown as { entries: { providers: { wrapped: { value: never } } } }
	).entries;
	const { ai } = propertiesOf(schema);
	const mine = toJsonSchema(providers.wrapped.value);
	Object.assign(propertiesOf(ai ?? {}).providers ?? {}, { additionalProperties: mine });
	for (const { section, name, meaning, rules } of rows()) {
		if (section === ".env" || section === "ai.providers.mine.extra") continue;
		const path = section.split(".").filter((part) => part && part !== "mine");
		const place = path.reduce((at, part) => propertiesOf(at)[part] ?? {}, schema);
		const properties = propertiesOf((place.additionalProperties as JsonSchema) || place);
		const text = `${meaning}. Expected: ${rules}`.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
		Object.assign(properties[name] ?? {}, { description: text });
	}
	const $schema = "https://json-schema.org/draft/2020-12/schema";
	return { $schema, title: "config.toml of a bot of Guildhall", ...schema };
}

test("config.schema.json is the schema of config.toml, with a text for each key", async () => {
	const file = join(instances, "example/config.schema.json");
	const schema = configSchema();
	if (process.env.WRITE_REFERENCE) {
		await Bun.write(file, JSON.stringify(schema));
		await Bun.spawn([join(instances, "../node_modules/.bin/biome"), "format", "--write", file]).exited;
	}
	// When this fails: bun run reference.
	expect(await Bun.file(file).json()).toEqual(schema);
	const described = JSON.stringify(schema).match(/"description"/g) ?? [];
	expect(described.length).toBe(
		keys.filter(({ section }) => !/^(\.env|ai\.providers\.mine\.extra)$/.test(section)).length,
	);
});

test("an instance's copy of the schema becomes that of the bot; where there is none, none is made", () => {
	using place = openPlace();
	const file = "config.schema.json";
	renewSchema(place.path);
	expect(existsSync(place.at(file))).toBe(false);
	place.write(file, "{}");
	renewSchema(place.path);
	expect(place.read(file)).toBe(readFileSync(join(instances, "example", file), "utf8"));
});

const envLine = /^(# )?([A-Z][A-Z0-9_]*)=(.*)$/;
const tomlLine = /^(# )?([a-z_]+) = (.*)$/;
const headerLine = /^(# )?\[([a-z_.]+)\]$/;

/** The keys of the example, those that are switched off as well. */
function entries() {
	return Object.entries(example).flatMap(([file, text]) => {
		let section = file === ".env" ? file : "";
		const lines = text.split("\n");
		return lines.flatMap((line, index) => {
			section = headerLine.exec(line)?.[2] ?? section;
			const key = (file === ".env" ? envLine : tomlLine).exec(line);
			if (!key) return [];
			const [, off, name = "", value = ""] = key;
			const above = lines[index - 1] ?? "";
			return { section, name, value, off: off !== undefined, above };
		});
	});
}

test("the example has every key once, in its section, and no other", () => {
	const known = entries().filter(({ section, name }) => section !== ".env" || !apiKeyPattern.test(name));
	expect(known.map(title).sort()).toEqual(keys.map(title).sort());
});

test("a key of the example is explained in the line above it, and shows its default", () => {
	for (const entry of entries()) {
		expect(`${title(entry)}: ${entry.above}`).toMatch(/: # .*\S$/);
		expect(entry.above).not.toMatch(envLine);
		expect(entry.above).not.toMatch(tomlLine);
		const key = keys.find((one) => title(one) === title(entry));
		if (key?.default !== undefined) expect(`${title(key)}: ${entry.value}`).toBe(`${title(key)}: ${written(key)}`);
	}
});

test("what is switched on in the example is required, its own default, or left to fill in", () => {
	for (const { value, off, ...entry } of entries()) {
		const key = keys.find((one) => title(one) === title(entry));
		if (off || key?.required || isPlaceholder(value)) continue;
		expect(`${title(entry)}: ${value}`).toBe(`${title(entry)}: ${key && written(key)}`);
	}
});

test.each([
	["the example", example["config.toml"], (name: string) => name],
	["instances/README.md", reference, (name: string) => `\`${name}\``],
	["connect.md", readFileSync(join(instances, "../src/docs/connect.md"), "utf8"), (name: string) => `\`${name}\``],
])("%s names every toolset", (_, text, written) => {
	const words = new Set(text.split(/[\s,|]+/));
	expect(toolsetNames.filter((name) => !words.has(written(name)))).toEqual([]);
});

/** The example with everything switched on that is switched off. */
function switchedOn() {
	const lines = (text: string, ...patterns: RegExp[]) =>
		text.replace(/^# .*$/gm, (line) => (patterns.some((pattern) => pattern.test(line)) ? line.slice(2) : line));
	return {
		".env": lines(example[".env"], envLine),
		"config.toml": lines(example["config.toml"], tomlLine, headerLine),
		"personality.txt": "A helper.\n",
	};
}

test("with everything switched on, the example has no issue but what is left to fill in", () => {
	const issues = issuesOf(() => read(switchedOn()));
	const required = keys.filter((key) => {
		const entry = entries().find((one) => title(one) === title(key));
		return key.required && isPlaceholder(entry?.value.replace(/^"/, ""));
	});
	const said = issues.map((issue) => issue.replace(/ "your-.*|: put the key.*/s, ""));
	expect(said.sort()).toEqual(
		[
			...required.map(({ section, name }) =>
				section === ".env"
					? `.env: ${name}: is still the placeholder`
					: `config.toml: ${section}.${name}: is still the placeholder`,
			),
			"config.toml: ai.providers.mine.api_key_env: the variable MINE_API_KEY is not set",
		].sort(),
	);
	for (const issue of issues) expect(issue).toMatch(/What belongs there: \S|set: put /);
});

test("with everything switched on and filled in, the example can be read", () => {
	const files = switchedOn();
	const config = read({
		...files,
		".env": files[".env"].replace(/=your-.*/g, "=12345678901234567"),
		"config.toml": files["config.toml"]
			// Another one than to_role.
			.replace(/^(from_role = )"your-[^"]*"/m, '$1"22345678901234567"')
			.replace(/"your-[^"]*"/g, '"12345678901234567"')
			.replace(/= false$/gm, "= true"),
	});
	const features = Object.keys(toml.entries.features.wrapped.entries);
	expect(config.toml.features).toEqual(Object.fromEntries(features.map((name) => [name, true])) as never);
	expect(config.command).toBe("!m");
	expect(config.databaseUrl).toStartWith("postgres://");
});
