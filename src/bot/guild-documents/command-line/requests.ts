// The requests of the command line about guild documents. They are sent over HTTP to a running bot, or carried out by the
// command itself.

import type { Guild } from "discord.js";
import * as v from "valibot";
import { guildName } from "../../../discord/describe.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { withinRun } from "../../../discord/rest/rest.ts";
import { type Part, partNames } from "../../../guild-document/format/document.ts";
import { pictureIssue, pictureType } from "../../../guild-document/read/picture.ts";
import { parseSettings } from "../../../lib/config.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { AuditedCall } from "../../tool/audit.ts";
import { type GuildDocuments, type GuildDocumentsOptions, requireAvailable } from "../guild-documents.ts";
import type { Pictures } from "../read/pictures.ts";

/** Bytes, both as a file and as JSON. */
export const maxDocumentBytes = 8 * 1024 * 1024;

/** Milliseconds, on the side of the bot. */
export const requestTimeoutMs = 120_000;

interface DocumentRequestsOptions extends Pick<GuildDocumentsOptions, "connection" | "mayTouch" | "log"> {
	documents: GuildDocuments;
	pictures: Pick<Pictures, "known" | "read" | "add">;
	/** From GUILD_ID, for requests that name no guild. */
	guildId: string | undefined;
	/** A request that does the same as a forbidden tool is refused, too. */
	denies(toolName: string): boolean;
	audit(call: AuditedCall): void;
}

interface Target extends Pick<DocumentRequestsOptions, "documents" | "pictures"> {
	guildOf(id: string | undefined): Guild;
	/** For the record of the call. */
	note(guildId: string): void;
}

/** Refused if the configuration forbids `tool`. Without `effect` it is not recorded. */
function request<Input, Output>(
	tool: string,
	input: v.GenericSchema<unknown, Input>,
	run: (input: Input, target: Target) => Promise<Output>,
	effect?: "read" | "destructive",
) {
	return { tool, input, run, effect };
}

const guild_id = v.optional(v.pipe(v.string(), v.regex(/^\d{17,20}$/, "expected a Discord id")));
const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, "expected 32 hexadecimal digits"));
const job_id = v.string();
const client = "command line";

const documentRequests = {
	export: request(
		"export_guild",
		v.strictObject({
			guild_id,
			parts: v.optional(v.array(v.picklist(partNames as readonly Part[]))),
			backup: v.optional(v.string()),
		}),
		async ({ guild_id, parts = partNames, backup }, { documents, guildOf }) => {
			const guild = guildOf(guild_id);
			const { document, missing } =
				backup === undefined ? await documents.export(guild, parts) : await documents.exportBackup(guild, backup);
			for (const part of partNames) if (!parts.includes(part)) delete document[part];
			return { guild: guildName(guild), document, missing };
		},
		"read",
	),
	/** Stores the plan. */
	plan: request(
		"plan_guild",
		v.strictObject({ guild_id, document: v.unknown(), prune: v.optional(v.boolean()) }),
		({ guild_id, document, prune }, { documents, guildOf }) =>
			documents.keepPlan(guildOf(guild_id), { document }, { prune, maxBytes: Infinity }),
		"read",
	),
	apply: request(
		"apply_guild",
		v.strictObject({ plan_hash: hash, reason: v.optional(v.string()) }),
		async ({ plan_hash, reason = client }, { documents, note }) => {
			note(await documents.guildOfPlan(plan_hash));
			return { job: await progressOf(documents, await documents.startJob(plan_hash, reason)) };
		},
		"destructive",
	),
	job: request("get_job", v.strictObject({ job_id }), ({ job_id }, { documents }) => documents.progress(job_id)),
	"running-job": request("get_job", v.strictObject({ guild_id }), async ({ guild_id }, { documents, guildOf }) => ({
		job: await progressOf(documents, await documents.runningJob(guildOf(guild_id))),
	})),
	/** Completes the current change. */
	cancel: request(
		"cancel_job",
		v.strictObject({ job_id }),
		async ({ job_id }, { documents, note }) => {
			note(await documents.guildOfJob(job_id));
			await documents.cancel(job_id);
			return documents.progress(job_id);
		},
		"destructive",
	),
	"missing-pictures": request(
		"plan_guild",
		v.strictObject({ hashes: v.pipe(v.array(hash), v.maxLength(10_000)) }),
		async ({ hashes }, { pictures }) => {
			const known = await pictures.known(hashes);
			return { hashes: hashes.filter((hash) => !known.has(hash)) };
		},
	),
	/** For plans that are made afterwards. */
	"add-picture": request(
		"plan_guild",
		v.strictObject({ hash, data: v.pipe(v.string(), v.base64("expected base64")) }),
		async ({ hash, data }, { pictures }) => {
			const bytes = new Uint8Array(Buffer.from(data, "base64"));
			const mediaType = pictureType(bytes);
			const issue = pictureIssue(bytes, hash);
			if (issue !== undefined || !mediaType)
				throw new ToolError(`The bot does not accept the picture file with the hash ${hash}: ${issue}.`);
			await pictures.add({ bytes, mediaType });
			return {};
		},
	),
	/** In base64; no `data` if there is none. */
	picture: request("export_guild", v.strictObject({ hash }), async ({ hash }, { pictures }) => {
		const found = await pictures.read(hash);
		return { data: found && Buffer.from(found.bytes).toString("base64") };
	}),
};

const progressOf = async (documents: GuildDocuments, id: string | undefined) =>
	id === undefined ? undefined : documents.progress(id);

export type DocumentRequest = keyof typeof documentRequests;
type Run<Name extends DocumentRequest> = (typeof documentRequests)[Name]["run"];
export type RequestOutput<Name extends DocumentRequest> = Awaited<ReturnType<Run<Name>>>;

/** Rejects with a ToolError whose message is for people. */
export type SendDocumentRequest = <Name extends DocumentRequest>(
	name: Name,
	input: Parameters<Run<Name>>[0],
) => Promise<RequestOutput<Name>>;

function findGuild({ connection, mayTouch, guildId }: DocumentRequestsOptions, id = guildId): Guild {
	const guilds = [...connection.discord.guilds.cache.values()].filter((guild) => mayTouch(guild.id));
	const guild = id === undefined && guilds.length === 1 ? guilds[0] : guilds.find((guild) => guild.id === id);
	const why =
		id === undefined
			? "No guild was named, and the bot has no GUILD_ID."
			: `The bot is not in the guild ${id}, or mcp.guilds in config.toml does not list it.`;
	if (!guild) throw new ToolError(`${why} Its guilds: ${guilds.map(guildName).join(", ") || "none"}.`);
	return requireAvailable(guild);
}

/** Checks the input. Undefined for an unknown request; rejects with a ToolError whose message is for people. */
export function createDocumentRequests(options: DocumentRequestsOptions) {
	const { documents, pictures, denies, log, audit } = options;
	return (name: string, given: unknown, caller?: AbortSignal): Promise<unknown> | undefined =>
		Object.hasOwn(documentRequests, name) ? handle(name as DocumentRequest, given, caller) : undefined;

	async function handle(name: DocumentRequest, given: unknown, caller: AbortSignal | undefined): Promise<unknown> {
		const { tool, effect, ...work } = documentRequests[name];
		const { input, run } = work as ReturnType<typeof request<unknown, unknown>>;
		const from = performance.now();
		let guildId: string | undefined;
		let outcome: AuditedCall["outcome"] = "error";
		const note = (id: string) => {
			guildId = id;
		};
		const guildOf = (id: string | undefined) => {
			const guild = findGuild(options, id);
			note(guild.id);
			return guild;
		};
		try {
			if (denies(tool))
				throw new ToolError(
					`The bot's configuration does not allow ${tool}: see toolsets, read_only and tools.deny in [mcp] of config.toml.`,
				);
			const { settings, issues } = parseSettings(input, given);
			if (settings === undefined) {
				outcome = "refused";
				throw new ToolError(`Invalid request: ${issues.join("; ")}.`);
			}
			const timeout = AbortSignal.timeout(requestTimeoutMs);
			const signal = caller ? AbortSignal.any([caller, timeout]) : timeout;
			// Only jobs write, and they run outside of requests.
			const limits = { signal, endsAt: from + requestTimeoutMs, reason: undefined, mayWrite: false };
			const output = await withinRun(limits, () => run(settings, { documents, pictures, guildOf, note }));
			outcome = "done";
			return output;
		} catch (error) {
			const known = toToolError(error) ?? error;
			if (known instanceof ToolError && outcome === "error") outcome = "failed";
			throw known;
		} finally {
			const milliseconds = performance.now() - from;
			if (effect) {
				const fields = { request: name, guild_id: guildId, outcome, ms: Math.round(milliseconds) };
				log.info("finished a command-line request about a guild document", fields);
				const at = new Date(Date.now() - milliseconds);
				audit({ at, requestId: undefined, client, tool, guildId, arguments: "{}", outcome, milliseconds, effect });
			}
		}
	}
}
