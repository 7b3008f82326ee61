// A principal: who makes a request, and what they may do. The gateway authenticates the caller and sends the principal to
// a bot in one HTTP header, which the bot accepts only together with its bearer token. Both enforce it.

import * as v from "valibot";

/** "write" includes "read"; "all" also what deletes, punishes, grants power, silences many or replaces for good. */
export const accessLevels = ["read", "write", "all"] as const;

export type Access = (typeof accessLevels)[number];

/** A person on the platform in whose name the request is made, and who limits what it may do. */
export interface PrincipalPerson {
	id: string;
	/** For logs and audit log reasons; "" if unknown. */
	name: string;
	/** By OAuth: then the bot checks at every call whether its configuration allows the person to sign in. */
	signedIn: boolean;
}

/** Where `Principal | undefined` is taken, undefined is the holder of the root key (MCP_AUTH_TOKEN) without limits. */
export interface Principal {
	/** Permanent: "root", "key:<name>:<random part>" for an API key, or "grant:<id>" for an OAuth grant. */
	id: string;
	name: string;
	/** Name of the MCP client, not verified: the client itself sends it. */
	client?: string | undefined;
	person?: PrincipalPerson | undefined;
	access: Access;
	/** The client itself has lowered `access`: by the path /mcp/readonly or the header X-MCP-Readonly. */
	narrowed?: boolean | undefined;
	/** Undefined: all. Not sent to bots. */
	instances?: readonly string[] | undefined;
	/** Ids; undefined: all. */
	guilds?: readonly string[] | undefined;
	toolsets?: readonly string[] | undefined;
	/** URL of the page where the person, who has signed in, decides on calls that wait for their approval. */
	decidesAt?: string | undefined;
	/** The client can show forms to its user (elicitation in MCP revision 2026-07-28). */
	elicits?: boolean | undefined;
}

/** Limit for guilds, and for toolsets. */
export const maxPrincipalItems = 100;

export const principalHeader = "X-Guildhall-Caller";

/** Experimental MCP capability: the bot enforces principals. The gateway sends them only to such bots. */
export const principalCapability = "guildhall/principal";

/** Experimental MCP capability: some calls need a person's approval. The gateway sends principals always, and waits. */
export const approvalCapability = "guildhall/approval";

/** The holder of MCP_AUTH_TOKEN, for code that needs an object in place of undefined. */
export const rootPrincipal: Principal = { id: "root", name: "root", access: "all" };

const text = v.pipe(v.string(), v.maxLength(200));
const list = v.optional(v.pipe(v.array(text), v.maxLength(maxPrincipalItems)));

const sent = v.strictObject({
	id: v.pipe(text, v.minLength(1)),
	name: text,
	client: v.optional(text),
	person: v.optional(
		v.strictObject({ id: v.pipe(v.string(), v.regex(/^\d{17,20}$/)), name: text, signedIn: v.boolean() }),
	),
	access: v.picklist(accessLevels),
	narrowed: v.optional(v.boolean()),
	guilds: list,
	toolsets: list,
	decidesAt: v.optional(text),
	elicits: v.optional(v.boolean()),
});

const encoded = new WeakMap<Principal, string>();

/** base64url of JSON, without `instances`. Cached by object: do not change it afterwards. */
export function encodePrincipal(principal: Principal): string {
	const known = encoded.get(principal);
	if (known !== undefined) return known;
	const { instances: _, ...rest } = principal;
	const value = Buffer.from(JSON.stringify(rest)).toString("base64url");
	encoded.set(principal, value);
	return value;
}

const copies = new WeakMap<Principal, Principal>();

/** With the name of the MCP client, and whether it shows forms. The last copy is kept, so that it is encoded once. */
export function withClient(principal: Principal, client: string | undefined, elicits: true | undefined): Principal {
	if (client === principal.client && !elicits) return principal;
	const known = copies.get(principal);
	if (known?.client === client && known?.elicits === elicits) return known ?? principal;
	const made = { ...principal, client, elicits };
	copies.set(principal, made);
	return made;
}

/** Undefined if the header is invalid. */
export function decodePrincipal(value: string): Principal | undefined {
	try {
		return v.parse(sent, JSON.parse(Buffer.from(value, "base64url").toString()));
	} catch {
		return undefined;
	}
}

export function includesAccess(given: Access, needed: Access): boolean {
	return accessLevels.indexOf(given) >= accessLevels.indexOf(needed);
}

type Raising = Partial<Pick<Principal, "id" | "narrowed">>;

/** A sentence. `connections` is the page of the gateway on which people end connections. */
export function howToRaise(
	{ id = "", narrowed }: Raising,
	needed: Access,
	connections = "the gateway's page /console#access",
): string {
	if (narrowed)
		return "The client limits itself, by the path /mcp/readonly or the header X-MCP-Readonly. Without them, its key or sign-in may allow more.";
	if (id.startsWith("key:"))
		return `To raise it, the operator of the gateway creates a key with --access ${needed}${needed === "write" ? " or all" : ""}.`;
	if (id.startsWith("grant:"))
		return `To raise it, connect this client again (to /mcp) and choose more access; ${connections} ends the present connection.`;
	return "";
}

/** `why` says, after "it", why the call needs the level with its arguments. */
export function accessRefusal(
	caller: Raising & Pick<Principal, "access">,
	tool: string,
	needed: Access,
	why?: string,
): string {
	const because = why === undefined ? "" : ` with these arguments, because it ${why}`;
	return `${tool} was not run: it needs the access "${needed}"${because}, and this connection has only "${caller.access}". ${howToRaise(caller, needed)}`.trimEnd();
}

/** The level that a text of `accessRefusal` names; undefined for other texts. */
export function neededAccess(text: string): Access | undefined {
	const [, needed] = /^\w+ was not run: it needs the access "(\w+)"/.exec(text) ?? [];
	return accessLevels.find((level) => level === needed);
}

/** What the caller's access level excludes, and how to raise it; "" for the highest. */
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
