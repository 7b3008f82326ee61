// OAuth clients: programs that people connect.

/** A program that asks people for access. */
export interface OAuthClient {
	/** The client id: one that registration made, or the URL of the client's metadata document. */
	id: string;
	/** The client's name, as it states itself. */
	name: string;
	/** The client's home page. */
	uri?: string | undefined;
	redirectUris: readonly string[];
	kind: "registered" | "document";
}

export interface Clients {
	/** Returns a client; undefined if there is none with this id, or its metadata document is invalid. */
	findClient(id: string, signal: AbortSignal): Promise<OAuthClient | undefined>;
	/** Responds to a registration request (RFC 7591). */
	registerClient(request: Request): Promise<Response>;
}
