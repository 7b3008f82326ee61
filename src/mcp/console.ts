// The requests of the gateway's console to a bot: waiting calls, decisions, entries of the audit log, settings. Without a
// principal they come from the holder of MCP_AUTH_TOKEN, otherwise from a person, who gets only what they may see.

import * as v from "valibot";

export const consoleMethods = {
	approvals: "guildhall/approvals",
	decide: "guildhall/decide",
	auditedCalls: "guildhall/audited-calls",
	settings: "guildhall/settings",
} as const;

/** Name of the console as an MCP client. */
export const consoleClient = "Guildhall console";

/** In one response. */
export const maxApprovals = 50;
/** Of the arguments and the plan of one waiting call. */
export const maxApprovalBytes = 100_000;
/** Of the arguments and plans of all calls in one response. */
export const maxApprovalsBytes = 1_000_000;

const text = (length: number) => v.pipe(v.string(), v.maxLength(length));
const optionalText = (length: number) => v.nullable(text(length));
const time = v.pipe(v.number(), v.safeInteger());

const approval = v.object({
	id: text(100),
	/** Identifies the plan that the person sees. A decision must name it. */
	token: text(100),
	tool: text(200),
	guild: v.nullable(v.object({ id: text(20), name: text(200) })),
	requester: text(1_000),
	client: text(500),
	/** Indented JSON, and what the call would do ("" if unknown). Neither is shortened. */
	arguments: text(maxApprovalBytes),
	plan: text(maxApprovalBytes),
	createdAt: time,
	expiresAt: time,
	mayDeny: v.boolean(),
	why: optionalText(1_000),
});

export type WaitingApproval = v.InferOutput<typeof approval>;

const approvals = v.object({ approvals: v.pipe(v.array(approval), v.maxLength(maxApprovals)) });

const decision = v.object({ message: text(10_000), done: v.boolean() });

export type DecisionResult = v.InferOutput<typeof decision>;

const auditedCall = v.object({
	id: text(100),
	request: optionalText(200),
	at: time,
	tool: text(200),
	guild: optionalText(20),
	outcome: text(20),
	effect: text(20),
	ms: v.number(),
	client: text(200),
	key: optionalText(200),
	person: optionalText(20),
	message: optionalText(20),
	/** JSON. */
	arguments: text(10_000),
	/** The error, or the result. */
	answer: optionalText(10_000),
	/** JSON: the requests to Discord. */
	discord: optionalText(20_000),
	/** "expired", for example, the id of who decided, and after how many milliseconds. */
	approval: v.nullable(v.object({ state: text(20), by: optionalText(100), waited: v.nullable(v.number()) })),
	/** For each of these arguments of get_audit_log, Discord's record of what it changed. */
	changes: v.array(v.record(v.string(), v.array(text(100)))),
	/** Of what ids in it stand for, if the caller may know. */
	names: v.record(v.string(), text(300)),
});

export type AuditedCallDetails = v.InferOutput<typeof auditedCall>;

/** In one response. */
export const maxAuditedCalls = 200;

/**
 * The response to `auditedCalls`: those that match, newest first, and the numbers of all that match by hour. The params are
 * `from`, `before` (times), `beforeId`, `request`, `search`, `kind` (changed, refused, failed, approval), `limit` and `hours` (whether to
 * count).
 */
const found = v.object({
	calls: v.pipe(v.array(auditedCall), v.maxLength(maxAuditedCalls)),
	hours: v.array(v.object({ hour: time, calls: v.number(), refused: v.number(), failed: v.number() })),
});

/**
 * The response to `settings` with the params `guild_id`. `version`; `sections` with an optional `note`, and fields with `key`,
 * `label`, `help`, `kind` (flag, number, text, lines; one and many of the `list`), `value` and `default`; `lists` by name, of ids
 * and names; `problems`, for which the values would be refused, and `warnings`, by key; `previews`: what people will read.
 *
 * With `values` by key, what would be if these settings were changed, without `sections` and `lists`. With `history: true`, only
 * `revisions`, newest first.
 *
 * `calls` are tools. "change" takes `guild_id`, `settings` by key and `if_version`; "menu" takes `guild_id`, `channel_id`,
 * `role_ids`, `title`, `content`, `labels`, `emojis`, `descriptions`, `style` and `max`.
 */
const settings = v.looseObject({ calls: v.optional(v.record(v.string(), v.string()), {}) });

export const readConsoleResult = {
	approvals: reader(approvals),
	decide: reader(decision),
	auditedCalls: reader(found),
	settings: reader(settings),
};

function reader<Schema extends v.GenericSchema>(schema: Schema) {
	return (result: unknown): v.InferOutput<Schema> | undefined => {
		const read = v.safeParse(schema, result);
		return read.success ? read.output : undefined;
	};
}
