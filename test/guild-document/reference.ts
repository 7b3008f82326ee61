// The published description of guild documents: JSON Schema, and a table of all fields.

import { join } from "node:path";
import type * as v from "valibot";
import * as schemas from "../../src/guild-document/format/document-schema.ts";
import { defaultsOf } from "../../src/guild-document/format/fields.ts";
import { type JsonSchema, toJsonSchema } from "../../src/mcp/json-schema.ts";

const folder = join(import.meta.dir, "../../src/guild-document");
export const schemaFile = join(folder, "guild-document.schema.json");
export const readmeFile = join(folder, "README.md");
export const marker = "<!-- fields -->\n";

/** Returns the JSON Schema of guild documents. */
export function publishedSchema(): JsonSchema {
	return {
		$schema: "https://json-schema.org/draft/2020-12/schema",
		title: "Guild document",
		description: "A Discord guild: settings, roles, channels and more, with names in place of ids.",
		...toJsonSchema(schemas.documentSchema),
	};
}

/** The tables: heading and schema. */
const tables: [string, v.GenericSchema<unknown, object>][] = [
	["The document", schemas.documentSchema],
	["`settings`", schemas.settings],
	["`roles[]`", schemas.role],
	["`emojis[]`", schemas.emoji],
	["`channels[]`, `categories[].channels[]`", schemas.channel],
	["`tags[]` of forums", schemas.tag],
	["`categories[]`", schemas.category],
	["`overwrites[]`", schemas.overwrite],
	["`automod[]`", schemas.automod],
	["`events[]`", schemas.scheduledEvent],
	["`webhooks[]`", schemas.webhook],
	["`welcome_screen`", schemas.welcomeScreen],
	["`welcome_screen.channels[]`", schemas.welcomeChannel],
	["`onboarding`", schemas.onboarding],
	["`onboarding.prompts[]`", schemas.prompt],
	["`onboarding.prompts[].options[]`", schemas.onboardingOption],
	["`messages[]`, `channels[].messages[]`, `channels[].posts[]`", schemas.message],
	["`messages[].poll`", schemas.poll],
	["`messages[].role_menu`", schemas.roleMenu],
	["`members[]`", schemas.member],
	["`bans[]`", schemas.ban],
];

/** Says which values a JSON Schema allows. */
function describeValues(schema: JsonSchema): string {
	const { type, minLength = 0, maxLength, minimum, maximum } = schema;
	if (schema.enum) {
		const all = (schema.enum as unknown[]).map((one) => `\`${one === "" ? '""' : one}\``);
		return all.join(", ");
	}
	switch (type) {
		case "string":
			if (maxLength === undefined) return "text";
			return `text, ${minLength}–${maxLength} characters`;
		case "integer":
		case "number":
			return `integer, ${minimum}–${maximum}`;
		case "boolean":
			return "true or false";
		case "array": {
			const items = schema.items as JsonSchema;
			const what = items.type === "object" ? "objects" : describeItems(items);
			return `list of at most ${schema.maxItems} ${what}`;
		}
		default:
			return "object";
	}
}

function describeItems(items: JsonSchema): string {
	return items.enum ? `of ${describeValues(items)}` : "texts";
}

function table(schema: v.GenericSchema<unknown, object>): string {
	const { properties, required = [] } = toJsonSchema(schema);
	const rows = Object.entries(properties as Record<string, JsonSchema>).map(([field, one]) => {
		const known: unknown = Object(defaultsOf(schema))[field] ?? one.default;
		const isRequired = (required as string[]).includes(field);
		const value = isRequired ? "required" : known === undefined ? "" : `\`${JSON.stringify(known)}\``;
		return [`\`${field}\``, describeValues(one), value, `${one.description}`];
	});
	return [
		["field", "values", "default", "description"],
		["---", "---", "---", "---"],
	]
		.concat(rows)
		.map((cells) => `| ${cells.join(" | ")} |\n`)
		.join("");
}

/** Returns the tables of all fields as Markdown. */
export function fieldTables(): string {
	return tables.map(([heading, schema]) => `\n### ${heading}\n\n${table(schema)}`).join("");
}
