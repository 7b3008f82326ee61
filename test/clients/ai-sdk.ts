// The AI SDK of Vercel, which has a client of its own.

import {
	auth,
	createMCPClient,
	type OAuthClientInformation,
	type OAuthClientProvider,
	type OAuthTokens,
} from "@ai-sdk/mcp";
import { type Connect, refusal, textOf } from "./client.ts";
import { Provider } from "./provider.ts";

export const connect: Connect = async ({ url, signIn }) => {
	const authProvider: OAuthClientProvider & Provider<OAuthClientInformation, OAuthTokens> = new Provider("AI SDK");
	const start = () => createMCPClient({ transport: { type: "http", url, authProvider } });
	await refusal(start());
	const returned = await authProvider.walk(signIn);
	await auth(authProvider, {
		serverUrl: url,
		authorizationCode: returned.get("code") ?? "",
		callbackState: returned.get("state") ?? "",
		callbackIssuer: returned.get("iss") ?? "",
	});
	const client = await start();
	return {
		revision: undefined,
		async toolNames() {
			const { tools } = await client.listTools();
			return tools.map(({ name }) => name);
		},
		async call(name, args) {
			const tools = await client.tools();
			const options = { toolCallId: "1", messages: [], context: {} };
			return textOf(await tools[name]?.execute(args, options));
		},
		get lastUrl() {
			return authProvider.lastUrl;
		},
		[Symbol.asyncDispose]: () => client.close(),
	};
};
