// The official SDK, version 1.

import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { type Connect, type ConnectWithKey, clientInfo, textOf } from "./client.ts";
import { Provider } from "./provider.ts";

export const connect: Connect = async ({ url, metadataUrl, signIn }) => {
	const authProvider: OAuthClientProvider & Provider<OAuthClientInformationMixed, OAuthTokens, OAuthDiscoveryState> =
		new Provider("SDK v1");
	if (metadataUrl !== undefined) authProvider.clientMetadataUrl = metadataUrl;
	const start = () => new StreamableHTTPClientTransport(new URL(url), { authProvider });
	const first = start();
	await new Client(clientInfo).connect(first).then(
		() => {
			throw new Error("it did not have to sign in");
		},
		() => {},
	);
	const returned = await authProvider.walk(signIn);
	await first.finishAuth(returned.get("code") ?? "");
	const transport = start();
	const client = new Client(clientInfo);
	await client.connect(transport);
	return {
		revision: transport.protocolVersion,
		async toolNames() {
			const { tools } = await client.listTools();
			return tools.map(({ name }) => name);
		},
		async resources() {
			return (await client.listResources()).resources.map(({ uri }) => uri);
		},
		async read(uri) {
			const { contents } = await client.readResource({ uri });
			return contents.map((one) => ("text" in one ? one.text : "")).join("\n");
		},
		async call(name, args) {
			return textOf(await client.callTool({ name, arguments: args }));
		},
		async signInAgain(signIn) {
			const returned = await authProvider.walk(signIn);
			await transport.finishAuth(returned.get("code") ?? "");
		},
		get lastUrl() {
			return authProvider.lastUrl;
		},
		[Symbol.asyncDispose]: () => client.close(),
	};
};

export const connectWithKey: ConnectWithKey = async (url, key) => {
	const client = new Client(clientInfo);
	const requestInit = { headers: { Authorization: `Bearer ${key}` } };
	await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
	return (name, args, watching) => client.callTool({ name, arguments: args }, undefined, watching);
};
