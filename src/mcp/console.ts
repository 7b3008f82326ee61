// The requests of the gateway's console to a bot: waiting calls, decisions, entries of the audit log, settings. Without a
// principal they come from the holder of MCP_AUTH_TOKEN, otherwise from a person, who gets only what they may see.

import * as v from "valibot";

export const consoleMethods = {
	approvals: "guildhall/approvals",
	decide: "guildhall/decide",
	auditedCall: "guildhall/audited-call",
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

/** "one" and "many": of a list. "lines": a list of texts. */
export type FieldKind = "one" | "many" | "flag" | "number" | "lines" | "text";

/** Of a setting. Values are JSON; null: not set. */
export interface SettingField {
	key: string;
	label: string;
	help: string;
	kind: FieldKind;
	/** In `lists`. */
	list?: string | undefined;
	value: unknown;
	default: unknown;
}

export interface SettingRevision {
	version: number;
	at: number;
	/** The person's name; null: no person. */
	by: string | null;
	door: string;
	changes: readonly { key: string; before?: unknown; after?: unknown }[];
}

export interface SettingMessage {
	key: string;
	message: string;
}

/**
 * Response to `settings` with the params `guild_id`; with `values` by key, of settings that were changed to these, without
 * `sections` and `lists`; with `history: true`, with `revisions` instead, newest first.
 */
export interface SettingsForm {
	version: number;
	/**
	 * Tools. "change" takes `guild_id`, `settings` by key and `if_version`; "menu" takes `guild_id`, `channel_id`, `role_ids`,
	 * `title`, `content`, `labels`, `emojis`, `descriptions`, `style` and `max`.
	 */
	calls: Readonly<Record<string, string>>;
	/** Why the values would be refused, and what would have no effect. */
	problems: readonly SettingMessage[];
	warnings: readonly SettingMessage[];
	/** By key: what people will read. */
	previews: Readonly<Record<string, string>>;
	sections?: readonly { title: string; fields: readonly SettingField[] }[];
	lists?: Readonly<Record<string, readonly { id: string; name: string }[]>>;
}

const settings = v.looseObject({ calls: v.optional(v.record(v.string(), v.string()), {}) });

export const readConsoleResult = {
	approvals: reader(approvals),
	decide: reader(decision),
	auditedCall: reader(found),
	settings: reader(settings),
};

function reader<Schema extends v.GenericSchema>(schema: Schema) {
	return (result: unknown): v.InferOutput<Schema> | undefined => {
		const read = v.safeParse(schema, result);
		return read.success ? read.output : undefined;
	};
}
