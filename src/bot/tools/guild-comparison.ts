// Two guilds side by side, and parts of one for a plan of the other. The second guild may be one of another bot: then the
// gateway adds what that bot says of it.

import type { Guild, GuildMember } from "discord.js";
import * as v from "valibot";
import { guildName } from "../../discord/describe.ts";
import { oneField } from "../../discord/text.ts";
import { compareGuilds as compare, type GuildFacts } from "../../guild-document/compare.ts";
import { partNames, readChanges, readDocument } from "../../guild-document/format/document.ts";
import { mergeDocuments } from "../../guild-document/format/merge.ts";
import { forOtherGuild, type Narrowing, narrow, partsOf } from "../../guild-document/narrow.ts";
import { isObject, parseJson } from "../../lib/json.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { reading } from "../../mcp/fan-out.ts";
import { listedAs, publishedAs } from "../../mcp/json-schema.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import type { ExportedGuild } from "../guild-documents/guild-documents.ts";
import { choice, guild_id, list, text } from "../tool/arguments/arguments.ts";
import type { ToolContext } from "../tool/context.ts";
import { readTool } from "../tool/define.ts";

const maxFactsBytes = 500_000;

const compared = partNames.filter((part) => !["emojis", "events", "webhooks", "messages"].includes(part));

const id = v.pipe(v.string(), v.regex(/^\d{17,20}$/, "expected an id of 17 to 20 digits"), v.description("A guild."));
/** What the gateway adds: the text of a tool of another bot. */
const document = v.optional(v.pipe(v.string(), v.description("What the gateway adds.")));

export function partsArgument(description: string) {
	return v.optional(
		v.pipe(
			list(choice(partNames, ""), 1, partNames.length, "Parts."),
			listedAs({ type: "array", items: { type: "string" }, description }),
		),
	);
}

export const compareGuilds = reading(
	{ argument: "with", tool: "compare_guilds", also: ["parts"] },
	readTool({
		name: "compare_guilds",
		toolset: "guild_document",
		offered: "listed",
		person: { permissions: [{ permission: "Administrator", inGuild: true }] },
		title: "Compare guilds",
		description: "What differs between two guilds, and who is a member of or banned in both.",
		input: {
			guild_id,
			with: v.optional(
				v.pipe(
					v.union([id, v.strictObject({ guild_id: id, document })]),
					publishedAs<string | { guild_id: string; document?: string | undefined }>({
						type: "string",
						pattern: "^\\d{17,20}$",
						description: "The other guild's id.",
					}),
				),
			),
			parts: partsArgument("Such as members, bans, roles, channels, settings."),
			all: partsArgument("Parts with what is equal, too, and who is in only one."),
		},
		async run({ with: other, parts = compared, all = [] }, context) {
			const { guild, otherGuild, discord } = context;
			const facts = (guild: Guild) => factsOf(guild, parts, context);
			// So a bot says what another one compares with its guild.
			if (other === undefined) return factsText(await facts(guild), guild);
			const id = typeof other === "string" ? other : other.guild_id;
			if (id === guild.id) throw invalidParameters(["with: expected another guild than guild_id"]);
			const given = typeof other === "string" ? undefined : other.document;
			const theirs: Facts = given === undefined ? await facts(await otherGuild(id)) : readFacts(given);
			const person = (id: string) => {
				const user = discord.users.cache.get(id);
				const name = user?.username ?? theirs.people?.[id]?.[0];
				return name ? `@${oneField(name)} (${id}${user?.bot ? ", bot" : ""})` : id;
			};
			return compare(await facts(guild), theirs, parts, { all, person });
		},
	}),
);

async function factsOf(
	guild: Guild,
	parts: readonly (typeof partNames)[number][],
	{ guildDocuments, connection }: Pick<ToolContext, "guildDocuments" | "connection">,
): Promise<GuildFacts> {
	// Members without roles are not in documents.
	const { document, missing } = await guildDocuments.export(
		guild,
		parts.filter((part) => part !== "members"),
	);
	const isKnown = connection.hasAllMembers(guild);
	const isMissing = parts.includes("members") && !isKnown;
	return {
		name: guildName(guild),
		document,
		members: parts.includes("members") && isKnown ? [...guild.members.cache.keys()] : undefined,
		rolesOf: (id) => roleNamesOf(guild, guild.members.cache.get(id)),
		missing: isMissing ? [...missing, "members: not all of them are loaded yet"] : missing,
	};
}

function roleNamesOf(guild: Guild, member: GuildMember | undefined): string[] {
	return member?.roles.cache.filter(({ id }) => id !== guild.id).map(({ name }) => oneField(name)) ?? [];
}

/** With names and roles, if all have place. */
function factsText({ members, ...facts }: GuildFacts, guild: Guild): string {
	const fields = { ...facts, ...(members && { members: members.join(" ") }) };
	const withPeople = () => {
		const { cache } = guild.members;
		const all = cache.map((member) => [member.id, [member.user.username, ...roleNamesOf(guild, member)]]);
		return JSON.stringify({ ...fields, people: Object.fromEntries(all) });
	};
	const texts = [...(members ? [withPeople()] : []), JSON.stringify(fields)];
	const fitting = texts.find((text) => Buffer.byteLength(text) <= maxFactsBytes);
	if (fitting !== undefined) return fitting;
	throw new ToolError(`What there is to compare has more than ${maxFactsBytes} bytes. Compare fewer parts.`);
}

interface Facts extends GuildFacts {
	/** Username and names of roles by id. */
	people?: Record<string, string[]> | undefined;
}

const facts = v.object({
	name: v.string(),
	document: v.unknown(),
	members: v.optional(v.string()),
	people: v.optional(v.record(v.string(), v.array(v.string()))),
	missing: v.array(v.string()),
});

function readFacts(text: string): Facts {
	const { success, output } = v.safeParse(facts, parseJson(text));
	if (!success) throw new ToolError(`The other guild could not be read: ${text.slice(0, 300)}`);
	const { document, members, people } = output;
	const rolesOf = (id: string) => people?.[id]?.slice(1).map(oneField);
	return { ...output, document: readDocument(document), members: members?.split(" "), rolesOf };
}

export const copy_from = v.optional(
	v.pipe(
		v.strictObject({
			guild_id: id,
			parts: partsArgument("Parts."),
			categories: v.optional(list(text(1, 220, "A category."), 1, 50, "Categories.")),
			roles: v.optional(list(text(1, 220, "A role."), 1, 250, "Roles.")),
			document,
		}),
		v.description("Parts of another guild."),
		listedAs({
			type: "object",
			description: 'From another guild: {"guild_id":"1","categories":["Staff"],"roles":["Mods"],"parts":["automod"]}.',
		}),
	),
);

/** The parts as a document for `guild`, with `changes`. */
export async function copied(
	{ guild_id, document, ...narrowing }: NonNullable<v.InferOutput<typeof copy_from>>,
	changes: unknown = {},
	guild: Guild,
	context: ToolContext,
): Promise<ExportedGuild> {
	if (Object.values(narrowing).every((value) => value === undefined))
		throw invalidParameters(["copy_from: expected parts, categories or roles"]);
	if (guild_id === guild.id) throw invalidParameters(["copy_from: expected another guild than guild_id"]);
	const source =
		document === undefined
			? await exported(await context.otherGuild(guild_id), narrowing, context.guildDocuments)
			: readExport(document);
	const existing = new Set(guild.roles.cache.map(({ name }) => name));
	const chosen = narrowing.parts?.includes("roles") ? undefined : (narrowing.roles ?? []);
	const copy = forOtherGuild(source.document, existing, chosen);
	const changed = readChanges(changes);
	// What only the changes have exists here, so that the copy goes below it.
	const merged = mergeDocuments(mergeDocuments(changed.changes, copy.document), changed.changes);
	for (const part of changed.removed) delete merged[part];
	const access = copy.withoutAccess.map((one) => `overwrite of ${oneField(one)}`);
	return { missing: [...source.missing, ...access], document: merged };
}

export async function exported(
	guild: Guild,
	narrowing: Narrowing,
	documents: ToolContext["guildDocuments"],
): Promise<ExportedGuild> {
	return narrowed(await documents.export(guild, partsOf(narrowing)), narrowing);
}

export function narrowed({ document, missing }: ExportedGuild, narrowing: Narrowing): ExportedGuild {
	return { document: narrow(document, narrowing), missing };
}

function readExport(text: string) {
	const lines = text.split("\n");
	const document = parseJson(lines.at(-1) ?? "");
	if (!isObject(document)) throw new ToolError(`The other guild could not be read: ${text.slice(0, 300)}`);
	return { document: readDocument(document), missing: lines.slice(0, -1) };
}
