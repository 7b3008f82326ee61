// The requests of the command line to a bot about guild documents: their input and output. They are sent over HTTP to a
// running bot, or carried out by the command itself.

import * as v from "valibot";
import { type GuildDocument, type Part, partNames } from "../../guild-document/format/document.ts";

/** Prefix of the HTTP paths for requests about guild documents, such as `/guild-document/export`. */
export const routePrefix = "/guild-document/";

/**
 * Maximum size in bytes of the HTTP body of a request about guild documents. It is enough for the largest picture in
 * base64.
 */
export const maxRequestBytes = 16 * 1024 * 1024;

/** Maximum size in bytes of a guild document, both as a file and as JSON text. */
export const maxDocumentBytes = 8 * 1024 * 1024;

/** Timeout in milliseconds after which the bot gives up a request about guild documents. */
export const requestTimeoutMs = 120_000;

const guild_id = v.optional(v.pipe(v.string(), v.regex(/^\d{17,20}$/, "expected a Discord id")));
const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/, "expected 32 hexadecimal digits"));
const count = v.pipe(v.number(), v.integer());
const document = v.custom<GuildDocument>((value) => typeof value === "object" && value !== null, "expected an object");

const job = v.object({
	text: v.string(),
	job_id: v.string(),
	state: v.picklist(["running", "done", "failed", "cancelled"]),
	done: count,
	total: count,
	failed: count,
	waiting: v.optional(v.string()),
});

/**
 * The requests about guild documents that the command line sends to the bot. The bot refuses a request if its
 * configuration forbids the MCP tool `tool`. `input` and `output` are schemas.
 */
export const documentRequests = {
	/** Returns a guild, or a backup of a guild, as a guild document. */
	export: {
		tool: "export_guild",
		input: v.strictObject({
			guild_id,
			parts: v.optional(v.array(v.picklist(partNames as readonly Part[]))),
			backup: v.optional(v.string()),
		}),
		output: v.object({
			guild: v.string(),
			document,
			missing: v.array(v.string()),
		}),
	},
	/**
	 * Compares a guild with a guild document. Stores and returns a plan: the changes that make the guild match the
	 * document.
	 */
	plan: {
		tool: "plan_guild",
		input: v.strictObject({
			guild_id,
			document: v.unknown(),
			prune: v.optional(v.boolean()),
		}),
		output: v.object({
			text: v.string(),
			plan_hash: v.string(),
			steps: count,
			/** Number of changes that the guild document requires but the bot cannot make. */
			refusals: count,
		}),
	},
	/** Starts a job that makes the changes of a stored plan to the plan's guild. */
	apply: {
		tool: "apply_guild",
		input: v.strictObject({ plan_hash: hash, reason: v.optional(v.string()) }),
		output: v.object({ job: v.optional(job) }),
	},
	job: {
		tool: "get_job",
		input: v.strictObject({ job_id: v.string() }),
		output: job,
	},
	/** Returns the job that is making changes to a guild at the moment, if there is one. */
	"running-job": {
		tool: "get_job",
		input: v.strictObject({ guild_id }),
		output: v.object({ job: v.optional(job) }),
	},
	/** Cancels a job that makes changes to a guild. The change that is being made at this moment is still completed. */
	cancel: {
		tool: "cancel_job",
		input: v.strictObject({ job_id: v.string() }),
		output: job,
	},
	/** Returns the hashes, out of the given ones, of the pictures that the bot does not have. */
	"missing-pictures": {
		tool: "plan_guild",
		input: v.strictObject({
			hashes: v.pipe(v.array(hash), v.maxLength(10_000)),
		}),
		output: v.object({ hashes: v.array(hash) }),
	},
	/** Stores a picture, such as an emoji, in the bot's database. Plans that are made afterwards can use the picture. */
	"add-picture": {
		tool: "plan_guild",
		input: v.strictObject({
			hash,
			data: v.pipe(v.string(), v.base64("expected base64")),
		}),
		output: v.object({}),
	},
	/** Returns the picture with the given hash in base64. `data` is absent if the bot does not have the picture. */
	picture: {
		tool: "export_guild",
		input: v.strictObject({ hash }),
		output: v.object({ data: v.optional(v.string()) }),
	},
} as const;

export type DocumentRequest = keyof typeof documentRequests;
export type RequestInput<Name extends DocumentRequest> = v.InferOutput<(typeof documentRequests)[Name]["input"]>;
export type RequestOutput<Name extends DocumentRequest> = v.InferOutput<(typeof documentRequests)[Name]["output"]>;

/**
 * Carries out a request about guild documents and resolves with its result. Rejects with a ToolError whose message is
 * for people.
 */
export type SendDocumentRequest = <Name extends DocumentRequest>(
	name: Name,
	input: RequestInput<Name>,
) => Promise<RequestOutput<Name>>;

export function isDocumentRequest(name: string): name is DocumentRequest {
	return Object.hasOwn(documentRequests, name);
}
