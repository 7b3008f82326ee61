// The official SDK, version 1.

import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { type Connect, type ConnectWithKey, clientInfo, refusal, used } from "./client.ts";
import { Provider } from "./provider.ts";

export const connect: Connect = async ({ url, metadataUrl, signIn }) => {
	const authProvider: OAuthClientProvider & Provider<OAuthClientInformationMixed, OAuthTokens, OAuthDiscoveryState> =
		new Provider("SDK v1");
	if (metadataUrl !== undefined) authProvider.clientMetadataUrl = metadataUrl;
	const start = () => new StreamableHTTPClientTransport(new URL(url), { authProvider });
	const finish = async (transport: StreamableHTTPClientTransport, walk = signIn) =>
		transport.finishAuth((await authProvider.walk(walk)).get("code") ?? "");
	const first = start();
	await refusal(new Client(clientInfo).connect(first));
	await finish(first);
	const transport = start();
	const client = new Client(clientInfo);
	await client.connect(transport);
	return {
		...used(client),
		revision: transport.protocolVersion,
		signInAgain: (walk) => finish(transport, walk),
		get lastUrl() {
			return authProvider.lastUrl;
		},
	};
};

export const connectWithKey: ConnectWithKey = async (url, key) => {
	const client = new Client(clientInfo);
	const requestInit = { headers: { Authorization: `Bearer ${key}` } };
	await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
	return (name, args, watching) => client.callTool({ name, arguments: args }, undefined, watching);
};
