// The requests of the command line to a bot about guild documents: their input and output. They are sent over HTTP to a
// running bot, or carried out by the command itself.

import * as v from "valibot";
import {
	type GuildDocument,
	type Part,
	partNames,
} from "../../guild-document/format/document.ts";

/** Path prefix of the HTTP routes: `/guild-document/export` and so on. */
export const routePrefix = "/guild-document/";

/** Maximum size in bytes of a request's body. A picture of the maximum size fits, in base64. */
export const maxRequestBytes = 16 * 1024 * 1024;

/** Maximum size in bytes of a document, as a file and as JSON. */
export const maxDocumentBytes = 8 * 1024 * 1024;

/** Maximum duration in milliseconds of a request. */
export const requestTimeoutMs = 120_000;

const guild_id = v.optional(
	v.pipe(v.string(), v.regex(/^\d{17,20}$/, "expected a Discord id")),
);
const hash = v.pipe(
	v.string(),
	v.regex(/^[0-9a-f]{32}$/, "expected 32 hexadecimal digits"),
);
const count = v.pipe(v.number(), v.integer());
const document = v.custom<GuildDocument>(
	(value) => typeof value === "object" && value !== null,
	"expected an object",
);

/** How far a job is. */
const job = v.object({
	/** The job as text. */
	text: v.string(),
	job_id: v.string(),
	state: v.picklist(["running", "done", "failed", "cancelled"]),
	done: count,
	total: count,
	failed: count,
	/** Why the job does nothing at the moment. */
	waiting: v.optional(v.string()),
});

/** For each request: the tool whose permission by the configuration it needs, its input and its output. */
export const documentRequests = {
	/** Exports a guild, or a backup of it. */
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
	/** Compares a guild with a document and keeps the plan. */
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
			/** Number of changes that cannot be made. */
			refusals: count,
		}),
	},
	/** Starts the job that carries out a plan. */
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
	/** Returns the running job of a guild, if there is one. */
	"running-job": {
		tool: "get_job",
		input: v.strictObject({ guild_id }),
		output: v.object({ job: v.optional(job) }),
	},
	/** Stops a job after its running step. */
	cancel: {
		tool: "cancel_job",
		input: v.strictObject({ job_id: v.string() }),
		output: job,
	},
	/** Returns those of the hashes whose pictures the bot does not have. */
	"missing-pictures": {
		tool: "plan_guild",
		input: v.strictObject({
			hashes: v.pipe(v.array(hash), v.maxLength(10_000)),
		}),
		output: v.object({ hashes: v.array(hash) }),
	},
	/** Stores a picture for a plan that is made afterwards. */
	"add-picture": {
		tool: "plan_guild",
		input: v.strictObject({
			hash,
			data: v.pipe(v.string(), v.base64("expected base64")),
		}),
		output: v.object({}),
	},
	/** Returns a picture in base64; no data if the bot does not have it. */
	picture: {
		tool: "export_guild",
		input: v.strictObject({ hash }),
		output: v.object({ data: v.optional(v.string()) }),
	},
} as const;

export type DocumentRequest = keyof typeof documentRequests;
export type RequestInput<Name extends DocumentRequest> = v.InferOutput<
	(typeof documentRequests)[Name]["input"]
>;
export type RequestOutput<Name extends DocumentRequest> = v.InferOutput<
	(typeof documentRequests)[Name]["output"]
>;

/** Carries out a request. Rejects with a ToolError whose message is for people. */
export type SendDocumentRequest = <Name extends DocumentRequest>(
	name: Name,
	input: RequestInput<Name>,
) => Promise<RequestOutput<Name>>;

export function isDocumentRequest(name: string): name is DocumentRequest {
	return Object.hasOwn(documentRequests, name);
}
