// The JSON of the console's API as the page reads it, and what its parts share. Not sent to browsers.

type Person = { id: string; name: string };
export type Session = { kind: "root" | "person"; person: null | Person; csrf: string; expiresAt: number };

export interface Bot {
	name: string;
	state: "online" | "not ready" | "away" | "offline" | "stopped" | "cannot start";
	reason: null | string;
	since: number;
	version: null | string;
	guilds: { id: string; name: string; pinned: boolean }[];
	guildCount: number;
	tools: null | number;
	callsInFlight: number;
	latency: null | { p50: number; max: number; calls: number };
	refused: number;
	failed: number;
}

type Gateway = { version: string; startedAt: number; database: null | string; databaseReason: null | string };
export type State = { gateway: Gateway & { hasControl: boolean; newer: string | null }; bots: Bot[] };

export interface Call {
	id: string;
	seq: number;
	at: number;
	ms: number;
	instance: null | string;
	tool: string;
	guild: null | string;
	outcome: string;
	kind?: string;
	error: null | string;
	parts: number;
	/** Id of the key or grant. */
	key: null | string;
	person: null | string;
	client: null | string;
}

/** What an MCP client needs to be connected. */
export interface Client {
	name: string;
	/** What to do with the text. */
	where: string;
	text?: string;
	/** What to do after that, or instead of it. */
	steps?: readonly string[];
	/** Opens the client, which asks before it adds the server. The browser hands the link, with the key, to no other program. */
	install?: { label: string; url: string };
}

/** Without a token, people sign in with Discord. */
export type Connection = { endpoint: string; token: undefined | string };

export interface Listeners {
	state(state: State): void;
	/** Those since the last ones, oldest first; after a reconnection all. */
	calls(calls: Call[]): void;
	approvals(): void;
	connected(isConnected: boolean): void;
}

export type Place = { instance: string; guild_id: string };
export type Item = { id: string; name: string };
export type Lists = Record<string, readonly Item[]>;

/** A setting. `value` and `default` are JSON, null if not set. `name` also says which section it is in. */
export type Description = Named & { kind: string; list?: string; value: unknown; default: unknown };
type Named = { key: string; label: string; help: string; name?: string };

export type Messages = { key: string; message: string }[];
export type Check = { problems: Messages; warnings: Messages; previews: Record<string, string> };
export type Sections = { title: string; note?: string; fields: Description[] }[];
export type Form = Check & { version: number; sections: Sections; lists: Lists };
export type Change = { key: string; before?: unknown; after?: unknown };
export type Revision = { version: number; at: number; by: null | string; door: string; changes: Change[] };

/** What is in the fields of settings, and not saved yet. */
export type Entered = { lists(): Lists; entered(): object; enter(values: object): void };
