// What the tests ask of each client.

export interface ClientOptions {
	/** The URL of the MCP server. */
	url: string;
	/** The client's metadata document. Without it, the client registers dynamically. */
	metadataUrl?: string | undefined;
	/** For ES256, as a JWK: with it, the client signs its requests for tokens. */
	privateKey?: Record<string, unknown> | undefined;
	/** Walks a person from the address that the client opens to where they return to the client. */
	signIn(url: string): Promise<URL>;
}

export interface SignedInClient extends AsyncDisposable {
	/** The revision of MCP that it uses. */
	revision: string | undefined;
	toolNames(): Promise<string[]>;
	/**
	 * Calls a tool and returns the text of its result, prefixed with "ERROR " if `isError` is true. Rejects if the client has
	 * to sign in again; then the person has to open `lastUrl`.
	 */
	call(name: string, args: Record<string, unknown>): Promise<string>;
	/** Lists the URIs of the resources. Undefined for clients that read none. */
	resources?(): Promise<string[]>;
	/** Reads a resource as text. */
	read?(uri: string): Promise<string>;
	/** Completes a sign-in that a call has begun. Undefined for clients that cannot. */
	signInAgain?: (signIn: ClientOptions["signIn"]) => Promise<void>;
	/** The last address that the client opened for the person. */
	readonly lastUrl: string | undefined;
}

/** What a person sees and does during a call. */
export interface Watching {
	signal: AbortSignal;
	onprogress(progress: { progress: number; total?: number | undefined }): void;
}

/** Connects a client with a key, and returns how it calls tools. */
export type ConnectWithKey = (
	url: string,
	key: string,
) => Promise<(name: string, args: Record<string, unknown>, watching: Watching) => Promise<unknown>>;

/** Connects a client, which signs in. */
export type Connect = (options: ClientOptions) => Promise<SignedInClient>;

export const redirectUrl = "http://127.0.0.1:8090/callback";
export const clientInfo = { name: "test", version: "1.0.0" };

/** What the clients of both SDKs have. */
interface SdkClient {
	listTools(): Promise<{ tools: { name: string }[] }>;
	listResources(): Promise<{ resources: { uri: string }[] }>;
	readResource(params: { uri: string }): Promise<{ contents: object[] }>;
	callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
	close(): Promise<void>;
}

/** The part of a SignedInClient that an SDK does. */
export const used = (client: SdkClient) => ({
	toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
	resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
	read: async (uri: string) =>
		(await client.readResource({ uri })).contents.map((one) => ("text" in one ? one.text : "")).join("\n"),
	call: async (name: string, args: Record<string, unknown>) => textOf(await client.callTool({ name, arguments: args })),
	[Symbol.asyncDispose]: () => client.close(),
});

/** Waits for the first connection, at which a client learns that it has to sign in. */
export async function refusal(connected: Promise<unknown>): Promise<void> {
	const [{ status }] = await Promise.allSettled([connected]);
	if (status === "fulfilled") throw new Error("it did not have to sign in");
}

/** Returns the text of a tool's result. The types of the SDKs differ. */
export function textOf(result: unknown): string {
	const { isError, content } = result as { isError?: boolean; content: { text: string }[] };
	const text = content.map((block) => block.text).join("\n");
	return isError ? `ERROR ${text}` : text;
}
