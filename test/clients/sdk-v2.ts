// The official SDK, version 2, in both kinds of revisions of MCP: with sessions, and 2026-07-28.

import {
	Client,
	createPrivateKeyJwtAuth,
	type OAuthClientProvider,
	type OAuthDiscoveryState,
	type StoredOAuthClientInformation,
	type StoredOAuthTokens,
	StreamableHTTPClientTransport,
	type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { type Connect, type ConnectWithKey, clientInfo, refusal, used } from "./client.ts";
import { Provider } from "./provider.ts";

function connectIn(mode: VersionNegotiationMode): Connect {
	return async ({ url, metadataUrl = "", privateKey, signIn }) => {
		const authProvider: OAuthClientProvider &
			Provider<StoredOAuthClientInformation, StoredOAuthTokens, OAuthDiscoveryState> = new Provider("SDK v2");
		if (metadataUrl !== "") authProvider.clientMetadataUrl = metadataUrl;
		const [issuer, subject, alg] = [metadataUrl, metadataUrl, "ES256"];
		if (privateKey)
			authProvider.addClientAuthentication = createPrivateKeyJwtAuth({ issuer, subject, alg, privateKey });
		const start = () => new StreamableHTTPClientTransport(new URL(url), { authProvider });
		const options = { versionNegotiation: { mode } };
		const first = start();
		await refusal(new Client(clientInfo, options).connect(first));
		// It checks the issuer in the response.
		await first.finishAuth(await authProvider.walk(signIn));
		const client = new Client(clientInfo, options);
		const transport = start();
		await client.connect(transport);
		return {
			...used(client),
			revision: client.getNegotiatedProtocolVersion(),
			signInAgain: async (walk) => transport.finishAuth(await authProvider.walk(walk)),
			get lastUrl() {
				return authProvider.lastUrl;
			},
		};
	};
}

export const connectWithSession = connectIn("legacy");
export const connect = connectIn({ pin: "2026-07-28" });

const connectWithKeyIn =
	(mode: VersionNegotiationMode): ConnectWithKey =>
	async (url, key) => {
		const client = new Client(clientInfo, { versionNegotiation: { mode } });
		const requestInit = { headers: { Authorization: `Bearer ${key}` } };
		await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
		return (name, args, watching) => client.callTool({ name, arguments: args }, watching);
	};

export const sessionWithKey = connectWithKeyIn("legacy");
export const connectWithKey = connectWithKeyIn({ pin: "2026-07-28" });
