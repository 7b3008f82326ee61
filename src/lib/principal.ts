// A principal: who makes a request, and what they may do. The gateway authenticates the caller and sends the principal to
// a bot in one HTTP header, which the bot accepts only together with its bearer token. Both enforce it.

import * as v from "valibot";

/**
 * What a principal may do, from little to much. "read": call tools that change nothing. "write": also tools that change
 * something. "all": also tools that delete or overwrite something.
 */
export const accessLevels = ["read", "write", "all"] as const;

export type Access = (typeof accessLevels)[number];

/** A user of the platform in whose name a request is made: it may do only what this person may do. */
export interface PrincipalPerson {
	id: string;
	/** The person's name on the platform, for logs and reasons. Empty if unknown. */
	name: string;
	/** Whether the person signed in with OAuth. Then the bots' rule for who may sign in applies to every call. */
	signedIn: boolean;
}

/**
 * Who makes a request, and what they may do. Where a function takes `Principal | undefined`, undefined is the holder of
 * the root key (MCP_AUTH_TOKEN) without limits.
 */
export interface Principal {
	/** Identifies the caller permanently: "root", "key:<name of the key>" or "grant:<id of the sign-in>". */
	id: string;
	/** Name of the caller for logs and people: the name of the key, or of the OAuth client. */
	name: string;
	/** Name of the MCP client, if known. The client states it itself. */
	client?: string | undefined;
	person?: PrincipalPerson | undefined;
	access: Access;
	/** Names of the instances that the principal may use. Undefined: all. The gateway does not send them to bots. */
	instances?: readonly string[] | undefined;
	/** Ids of the guilds that the principal may use. Undefined: all. */
	guilds?: readonly string[] | undefined;
	/** Names of the toolsets that the principal may use. Undefined: all. */
	toolsets?: readonly string[] | undefined;
	/** Whether the MCP client can ask the person who uses it (elicitation in revision 2026-07-28). */
	elicits?: boolean | undefined;
}

/** Limit of the number of guilds, and of toolsets, that a principal may be restricted to. */
export const maxPrincipalItems = 100;

/** The HTTP header in which the gateway sends the principal of a request to a bot. */
export const principalHeader = "X-Guildhall-Caller";

/**
 * The experimental MCP capability with which a bot declares that it enforces principals. The gateway sends requests of
 * principals only to such bots.
 */
export const principalCapability = "guildhall/principal";

/**
 * The experimental MCP capability with which a bot declares that some of its calls need an approval. Then the gateway
 * sends a principal with every call, and waits for approvals.
 */
export const approvalCapability = "guildhall/approval";

/** The holder of the root key, for bots that need to know the principal of every call. */
export const rootPrincipal: Principal = {
	id: "root",
	name: "root",
	access: "all",
};

const text = v.pipe(v.string(), v.maxLength(200));
const list = v.optional(v.pipe(v.array(text), v.maxLength(maxPrincipalItems)));

const sent = v.strictObject({
	id: v.pipe(text, v.minLength(1)),
	name: text,
	client: v.optional(text),
	person: v.optional(
		v.strictObject({
			id: v.pipe(v.string(), v.regex(/^\d{17,20}$/)),
			name: text,
			signedIn: v.boolean(),
		}),
	),
	access: v.picklist(accessLevels),
	guilds: list,
	toolsets: list,
	elicits: v.optional(v.boolean()),
});

const encoded = new WeakMap<Principal, string>();

/**
 * Returns the value of the header X-Guildhall-Caller for a principal: base64url of JSON, without `instances`. The value
 * is cached by object, so do not change the object afterwards.
 */
export function encodePrincipal(principal: Principal): string {
	const known = encoded.get(principal);
	if (known !== undefined) return known;
	const { instances: _, ...rest } = principal;
	const value = Buffer.from(JSON.stringify(rest)).toString("base64url");
	encoded.set(principal, value);
	return value;
}

const eliciting = new WeakMap<Principal, Principal>();

/** Returns the principal with `elicits: true`: always the same object for the same principal. */
export function withElicitation(principal: Principal): Principal {
	const known = eliciting.get(principal);
	if (known) return known;
	const made = { ...principal, elicits: true };
	eliciting.set(principal, made);
	return made;
}

/** Reads a principal from the value of the header X-Guildhall-Caller. Returns undefined if the value is invalid. */
export function decodePrincipal(value: string): Principal | undefined {
	try {
		const json = Buffer.from(value, "base64url").toString();
		return v.parse(sent, JSON.parse(json));
	} catch {
		return undefined;
	}
}

/** Whether a principal with the access `given` may do what needs the access `needed`. */
export function includesAccess(given: Access, needed: Access): boolean {
	return accessLevels.indexOf(given) >= accessLevels.indexOf(needed);
}
