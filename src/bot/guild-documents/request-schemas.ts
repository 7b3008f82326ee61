// The requests of the command line to a bot about guild documents: their input and output. They are sent over HTTP to a
// running bot, or carried out by the command itself.

import * as v from "valibot";
import { type GuildDocument, type Part, partNames } from "../../guild-document/format/document.ts";

/** Such as `/guild-document/export`. */
export const routePrefix = "/guild-document/";

/** Bytes: enough for the largest picture in base64. */
export const maxRequestBytes = 16 * 1024 * 1024;

/** Bytes, both as a file and as JSON. */
export const maxDocumentBytes = 8 * 1024 * 1024;

/** Milliseconds, on the side of the bot. */
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
	/** Number of steps of the plan. */
	total: count,
	failed: count,
	/** Why the job is paused, such as a rate limit. */
	waiting: v.optional(v.string()),
});

/** Refused if the configuration forbids `tool`. `input` and `output` are schemas. */
export const documentRequests = {
	export: {
		tool: "export_guild",
		input: v.strictObject({
			guild_id,
			parts: v.optional(v.array(v.picklist(partNames as readonly Part[]))),
			backup: v.optional(v.string()),
		}),
		output: v.object({ guild: v.string(), document, missing: v.array(v.string()) }),
	},
	/** Stores the plan. */
	plan: {
		tool: "plan_guild",
		input: v.strictObject({ guild_id, document: v.unknown(), prune: v.optional(v.boolean()) }),
		output: v.object({
			text: v.string(),
			plan_hash: v.string(),
			steps: count,
			/** Number of changes that the bot cannot make. */
			refusals: count,
		}),
	},
	apply: {
		tool: "apply_guild",
		input: v.strictObject({ plan_hash: hash, reason: v.optional(v.string()) }),
		output: v.object({ job: v.optional(job) }),
	},
	job: { tool: "get_job", input: v.strictObject({ job_id: v.string() }), output: job },
	"running-job": { tool: "get_job", input: v.strictObject({ guild_id }), output: v.object({ job: v.optional(job) }) },
	/** Completes the current change. */
	cancel: { tool: "cancel_job", input: v.strictObject({ job_id: v.string() }), output: job },
	"missing-pictures": {
		tool: "plan_guild",
		input: v.strictObject({ hashes: v.pipe(v.array(hash), v.maxLength(10_000)) }),
		output: v.object({ hashes: v.array(hash) }),
	},
	/** For plans that are made afterwards. */
	"add-picture": {
		tool: "plan_guild",
		input: v.strictObject({ hash, data: v.pipe(v.string(), v.base64("expected base64")) }),
		output: v.object({}),
	},
	/** In base64; no `data` if there is none. */
	picture: {
		tool: "export_guild",
		input: v.strictObject({ hash }),
		output: v.object({ data: v.optional(v.string()) }),
	},
} as const;

export type DocumentRequest = keyof typeof documentRequests;
export type RequestInput<Name extends DocumentRequest> = v.InferOutput<(typeof documentRequests)[Name]["input"]>;
export type RequestOutput<Name extends DocumentRequest> = v.InferOutput<(typeof documentRequests)[Name]["output"]>;

/** Rejects with a ToolError whose message is for people. */
export type SendDocumentRequest = <Name extends DocumentRequest>(
	name: Name,
	input: RequestInput<Name>,
) => Promise<RequestOutput<Name>>;

export function isDocumentRequest(name: string): name is DocumentRequest {
	return Object.hasOwn(documentRequests, name);
}
