// The OAuth client provider of the SDKs, in memory: what an application writes to use them.

import { redirectUrl } from "./client.ts";

/** The types are those of the SDK. */
export class Provider<Info, Tokens, Discovery = unknown> {
	readonly redirectUrl = redirectUrl;
	readonly clientMetadata: {
		client_name: string;
		redirect_uris: string[];
		grant_types: string[];
		response_types: string[];
		token_endpoint_auth_method: string;
	};
	/** The last address that the person had to open. */
	lastUrl: string | undefined;
	lastState: string | undefined;
	#info: Info | undefined;
	#tokens: Tokens | undefined;
	#discovery: Discovery | undefined;
	#verifier = "";

	constructor(name: string) {
		this.clientMetadata = {
			client_name: name,
			redirect_uris: [redirectUrl],
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			token_endpoint_auth_method: "none",
		};
	}

	state(): string {
		this.lastState = crypto.randomUUID();
		return this.lastState;
	}
	saveState(state: string): void {
		this.lastState = state;
	}
	storedState(): string | undefined {
		return this.lastState;
	}
	clientInformation(): Info | undefined {
		return this.#info;
	}
	isClientInformationDynamicallyRegistered(): boolean {
		return true;
	}
	saveClientInformation(info: Info): void {
		this.#info = info;
	}
	tokens(): Tokens | undefined {
		return this.#tokens;
	}
	saveTokens(tokens: Tokens): void {
		this.#tokens = tokens;
	}
	discoveryState(): Discovery | undefined {
		return this.#discovery;
	}
	saveDiscoveryState(discovery: Discovery): void {
		this.#discovery = discovery;
	}
	redirectToAuthorization(url: URL): void {
		this.lastUrl = url.href;
	}
	saveCodeVerifier(verifier: string): void {
		this.#verifier = verifier;
	}
	codeVerifier(): string {
		return this.#verifier;
	}
	invalidateCredentials(scope: string): void {
		const includes = (part: string) => scope === "all" || scope === part;
		if (includes("client")) this.#info = undefined;
		if (includes("tokens")) this.#tokens = undefined;
		if (includes("discovery")) this.#discovery = undefined;
	}

	/** Signs the person in. Returns what the address has with which they return. */
	async walk(signIn: (url: string) => Promise<URL>): Promise<URLSearchParams> {
		if (this.lastUrl === undefined) throw new Error("nothing was opened");
		const { searchParams } = await signIn(this.lastUrl);
		if (searchParams.get("state") !== this.lastState) throw new Error("the state is not the one that was sent");
		return searchParams;
	}
}
