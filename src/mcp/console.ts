// The requests of the gateway's console to a bot: waiting calls, decisions, entries of the audit log. Without a
// principal they come from the holder of MCP_AUTH_TOKEN, otherwise from a person, who gets only what they may see.

import * as v from "valibot";

export const consoleMethods = {
	approvals: "guildhall/approvals",
	decide: "guildhall/decide",
	auditedCall: "guildhall/audited-call",
} as const;

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
	at: time,
	tool: text(200),
	guild: optionalText(20),
	outcome: text(20),
	milliseconds: v.number(),
	client: text(200),
	key: optionalText(200),
	person: optionalText(20),
	arguments: text(10_000),
});

export type AuditedCallDetails = v.InferOutput<typeof auditedCall>;

const found = v.object({ call: v.nullable(auditedCall) });

export const readConsoleResult = { approvals: reader(approvals), decide: reader(decision), auditedCall: reader(found) };

function reader<Schema extends v.GenericSchema>(schema: Schema) {
	return (result: unknown): v.InferOutput<Schema> | undefined => {
		const read = v.safeParse(schema, result);
		return read.success ? read.output : undefined;
	};
}
