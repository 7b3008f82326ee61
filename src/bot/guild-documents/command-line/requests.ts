// Carries out the requests of the command line about guild documents, whether they arrive over HTTP or not.

import type { Guild } from "discord.js";
import type * as v from "valibot";
import type { Connection } from "../../../discord/connection/connection.ts";
import { guildName } from "../../../discord/describe.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { withinRun } from "../../../discord/rest/rest.ts";
import { partNames } from "../../../guild-document/format/document.ts";
import { pictureIssue, pictureType } from "../../../guild-document/read/picture.ts";
import { parseSettings } from "../../../lib/config.ts";
import type { Log } from "../../../lib/log.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { AuditedCall } from "../../tool/audit.ts";
import type { GuildDocuments } from "../guild-documents.ts";
import type { Pictures } from "../read/pictures.ts";
import {
	type DocumentRequest,
	documentRequests,
	type RequestInput,
	type RequestOutput,
	requestTimeoutMs,
} from "../request-schemas.ts";

export interface DocumentRequestsOptions {
	documents: GuildDocuments;
	pictures: Pick<Pictures, "known" | "read" | "add">;
	connection: Pick<Connection, "discord">;
	/** From GUILD_ID, for requests that name no guild. */
	guildId: string | undefined;
	/** By the bot's configuration. */
	mayTouch(guildId: string): boolean;
	/** A request that does the same as a forbidden tool is refused, too. */
	denies(toolName: string): boolean;
	/** `changes`: the request was meant to change something. */
	audit(call: AuditedCall): void;
	log: Log;
}

/** Checks the input. Rejects with a ToolError whose message is for people. */
export type HandleDocumentRequest = <Name extends DocumentRequest>(
	name: Name,
	input: unknown,
	signal?: AbortSignal,
) => Promise<RequestOutput<Name>>;

type Handlers = {
	[Name in DocumentRequest]: (
		input: RequestInput<Name>,
		call: { guildId?: string | undefined },
	) => Promise<RequestOutput<Name>>;
};

const unaudited: ReadonlySet<DocumentRequest> = new Set([
	"job",
	"running-job",
	"picture",
	"missing-pictures",
	"add-picture",
]);
const changing: ReadonlySet<DocumentRequest> = new Set(["apply", "cancel"]);
const client = "command line";

function createHandlers({ documents, pictures, connection, mayTouch, guildId }: DocumentRequestsOptions): Handlers {
	function guildOf(id = guildId): Guild {
		const guilds = [...connection.discord.guilds.cache.values()].filter((guild) => mayTouch(guild.id));
		const [only] = guilds;
		const guild = id === undefined && guilds.length === 1 ? only : guilds.find((guild) => guild.id === id);
		if (!guild)
			throw new ToolError(
				`${
					id === undefined
						? "No guild was named, and the bot has no GUILD_ID."
						: `The bot is not in the guild ${id}, or mcp.guilds in config.toml does not list it.`
				} Its guilds: ${guilds.map(guildName).join(", ") || "none"}.`,
			);
		if (!guild.available)
			throw new ToolError(
				`The guild ${guild.id} is unavailable on Discord at the moment. Nothing was done; try again later.`,
			);
		return guild;
	}

	return {
		async export({ guild_id, parts, backup }, call) {
			const guild = guildOf(guild_id);
			call.guildId = guild.id;
			const { document, missing } =
				backup === undefined ? await documents.export(guild, parts) : await documents.exportBackup(guild, backup);
			const left = backup === undefined || parts === undefined ? [] : partNames.filter((part) => !parts.includes(part));
			const kept = Object.entries(document).filter(([key]) => !left.some((part) => part === key));
			return { guild: guildName(guild), document: Object.fromEntries(kept) as typeof document, missing: [...missing] };
		},
		async plan({ guild_id, document, prune }, call) {
			const guild = guildOf(guild_id);
			call.guildId = guild.id;
			return documents.keepPlan(guild, { document }, { prune, maxBytes: Infinity });
		},
		async apply({ plan_hash, reason }, call) {
			call.guildId = await documents.guildOfPlan(plan_hash);
			const id = await documents.startJob(plan_hash, reason ?? client);
			return id === undefined ? {} : { job: await documents.progress(id) };
		},
		job: ({ job_id }) => documents.progress(job_id),
		async "running-job"({ guild_id }) {
			const id = await documents.runningJob(guildOf(guild_id));
			return id === undefined ? {} : { job: await documents.progress(id) };
		},
		async cancel({ job_id }, call) {
			call.guildId = await documents.guildOfJob(job_id);
			await documents.cancel(job_id);
			return documents.progress(job_id);
		},
		async "missing-pictures"({ hashes }) {
			const known = await pictures.known(hashes);
			return { hashes: hashes.filter((hash) => !known.has(hash)) };
		},
		async "add-picture"({ hash, data }) {
			const bytes = new Uint8Array(Buffer.from(data, "base64"));
			const mediaType = pictureType(bytes);
			const issue = pictureIssue(bytes, hash);
			if (issue !== undefined || !mediaType)
				throw new ToolError(`The bot does not accept the picture file with the hash ${hash}: ${issue}.`);
			await pictures.add({ bytes, mediaType });
			return {};
		},
		async picture({ hash }) {
			const found = await pictures.read(hash);
			return found ? { data: Buffer.from(found.bytes).toString("base64") } : {};
		},
	};
}

export function createDocumentRequests(options: DocumentRequestsOptions): HandleDocumentRequest {
	const { denies, log, audit } = options;
	const handlers = createHandlers(options);
	return async <Name extends DocumentRequest>(
		name: Name,
		given: unknown,
		caller?: AbortSignal,
	): Promise<RequestOutput<Name>> => {
		const { tool, input: schema } = documentRequests[name];
		const from = performance.now();
		const call: { guildId?: string | undefined } = {};
		let outcome: AuditedCall["outcome"] = "error";
		try {
			if (denies(tool))
				throw new ToolError(
					`The bot's configuration does not allow ${tool}: see toolsets, read_only and tools.deny in [mcp] of config.toml.`,
				);
			const { settings, issues } = parseSettings(
				schema as unknown as v.GenericSchema<unknown, RequestInput<Name>>,
				given,
			);
			if (!settings) {
				outcome = "refused";
				throw new ToolError(`Invalid request: ${issues.join("; ")}.`);
			}
			const timeout = AbortSignal.timeout(requestTimeoutMs);
			const signal = caller ? AbortSignal.any([caller, timeout]) : timeout;
			const run = {
				signal,
				endsAt: performance.now() + requestTimeoutMs,
				reason: undefined,
				// Only jobs write, and they run outside of requests.
				mayWrite: false,
			};
			const work = handlers[name] as Handlers[Name];
			const output = await withinRun(run, () => work(settings, call));
			outcome = "done";
			return output as RequestOutput<Name>;
		} catch (error) {
			const known = toToolError(error) ?? error;
			if (known instanceof ToolError && outcome === "error") outcome = "failed";
			throw known;
		} finally {
			const ms = performance.now() - from;
			if (!unaudited.has(name)) {
				log.info("finished a command-line request about a guild document", {
					request: name,
					guild_id: call.guildId,
					outcome,
					ms: Math.round(ms),
				});
				audit({
					at: new Date(Date.now() - ms),
					requestId: undefined,
					client,
					tool,
					guildId: call.guildId,
					arguments: "{}",
					outcome,
					milliseconds: ms,
					effect: changing.has(name) ? "destructive" : "read",
				});
			}
		}
	};
}
