// A principal: who makes a request, and what they may do. The gateway authenticates the caller and sends the principal to
// a bot in one HTTP header, which the bot accepts only together with its bearer token. Both enforce it.

import * as v from "valibot";

/**
 * What a principal may do, from little to much. "read": calls that change nothing. "write": also calls that change
 * something. "all": also calls that count as destructive: they delete, punish, grant power, silence many, or replace what
 * cannot be restored.
 */
export const accessLevels = ["read", "write", "all"] as const;

export type Access = (typeof accessLevels)[number];

/**
 * A person on the platform (such as Discord) in whose name a request is made. The request may do only what this person
 * may do on the platform.
 */
export interface PrincipalPerson {
	id: string;
	/** The person's name on the platform, for logs and audit log reasons. Empty if unknown. */
	name: string;
	/**
	 * Whether the person signed in with OAuth. If so, the bot checks at every call whether its configuration allows the
	 * person to sign in.
	 */
	signedIn: boolean;
}

/**
 * Who makes a request, and what they may do. Where a function takes `Principal | undefined`, undefined is the holder of
 * the root key (MCP_AUTH_TOKEN) without limits.
 */
export interface Principal {
	/**
	 * Identifies the caller permanently: "root", "key:<name>:<random part>" for an API key, or "grant:<id>" for an OAuth
	 * grant.
	 */
	id: string;
	/** Name of the caller for logs and people: the name of the API key or of the OAuth client. */
	name: string;
	/** Name of the MCP client, if known. It is not verified, since the client itself sends it. */
	client?: string | undefined;
	person?: PrincipalPerson | undefined;
	access: Access;
	/** Whether the client itself has lowered `access`: by the path /mcp/readonly or the header X-MCP-Readonly. */
	narrowed?: boolean | undefined;
	/** Names of the instances that the principal may use. Undefined: all. This list is not sent to bots. */
	instances?: readonly string[] | undefined;
	/** Ids of the guilds that the principal may use. Undefined: all. */
	guilds?: readonly string[] | undefined;
	/** Names of the toolsets that the principal may use. Undefined: all. */
	toolsets?: readonly string[] | undefined;
	/**
	 * Whether the MCP client can ask the person who uses it to fill in a form (elicitation in MCP revision 2026-07-28).
	 */
	elicits?: boolean | undefined;
}

/** Limit of the number of guilds, and of toolsets, that a principal may be restricted to. */
export const maxPrincipalItems = 100;

/** The HTTP header in which the gateway sends the principal of a request to a bot. */
export const principalHeader = "X-Guildhall-Caller";

/**
 * The experimental MCP capability with which a bot declares that it enforces what the principal of a request may do.
 * The gateway sends requests with a principal only to such bots.
 */
export const principalCapability = "guildhall/principal";

/**
 * The experimental MCP capability with which a bot declares that some of its tool calls need a person's approval. The
 * gateway then sends such a bot a principal with every tool call, and waits for approvals.
 */
export const approvalCapability = "guildhall/approval";

/**
 * The principal of the holder of the root key (MCP_AUTH_TOKEN), for code that needs an object in place of undefined.
 */
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
	narrowed: v.optional(v.boolean()),
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

const copies = new WeakMap<Principal, Principal>();

/**
 * Returns a copy of the principal with the name of its MCP client, and whether that can show forms. The last copy of a
 * principal is kept, so that it is encoded once.
 */
export function withClient(principal: Principal, client: string | undefined, elicits: true | undefined): Principal {
	if (client === principal.client && !elicits) return principal;
	const known = copies.get(principal);
	if (known?.client === client && known?.elicits === elicits) return known ?? principal;
	const made = { ...principal, client, elicits };
	copies.set(principal, made);
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

/** Whether a principal whose access level is `given` may do what requires the access level `needed`. */
export function includesAccess(given: Access, needed: Access): boolean {
	return accessLevels.indexOf(given) >= accessLevels.indexOf(needed);
}

type Raising = Partial<Pick<Principal, "id" | "narrowed">>;

/**
 * Says, as a sentence, how a caller gets at least the access level `needed`. `connections` is the page of the gateway on
 * which people end connections.
 */
export function howToRaise(
	{ id = "", narrowed }: Raising,
	needed: Access,
	connections = "the gateway's page /connections",
): string {
	if (narrowed)
		return "The client limits itself, by the path /mcp/readonly or the header X-MCP-Readonly: it can do more without them.";
	if (id.startsWith("key:"))
		return `To raise it, the operator of the gateway creates a key with --access ${needed}${needed === "write" ? " or all" : ""}.`;
	if (id.startsWith("grant:"))
		return `To raise it, connect this client again (to /mcp) and choose more access; ${connections} ends the present connection.`;
	return "";
}

/**
 * Returns why a call is refused that needs a higher access level than the caller has. `why` says, after "it", why it
 * needs the level with its arguments.
 */
export function accessRefusal(
	caller: Raising & Pick<Principal, "access">,
	tool: string,
	needed: Access,
	why?: string,
): string {
	const because = why === undefined ? "" : ` with these arguments, because it ${why}`;
	return `${tool} was not run: it needs the access "${needed}"${because}, and this connection has only "${caller.access}". ${howToRaise(caller, needed)}`.trimEnd();
}

/** Tells a caller what its access level excludes, and how to raise it; "" for the highest level. */
export function describeAccess(caller: Principal, connections?: string | undefined): string {
	const { access } = caller;
	if (access === "all") return "";
	const [what, needed] =
		access === "read"
			? (["read: calls that change something", "write"] as const)
			: ([
					"read and write: calls that delete or overwrite something, give power to others or silence many",
					"all",
				] as const);
	return `This connection may only ${what} are refused. ${howToRaise(caller, needed, connections)}`.trimEnd();
}
