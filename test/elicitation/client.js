// An MCP client made with the official SDK, whose user answers the server's questions. Reads what to do from argv as JSON,
// calls a tool, and prints the questions and the result as JSON.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const { url, token, call, answers, capabilities, version } = JSON.parse(process.argv[2]);
const client = new Client(
	{ name: "assistant", version: "1" },
	{ capabilities, versionNegotiation: { mode: version === "2026-07-28" ? { pin: version } : "legacy" } },
);
const questions = [];
if (capabilities.elicitation)
	client.setRequestHandler("elicitation/create", async ({ params }) => {
		questions.push(params);
		return answers[questions.length - 1] ?? { action: "cancel" };
	});
await client.connect(
	new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
);
const outcome = await client.callTool(call).then(
	(result) => ({ result }),
	({ code, message, data }) => ({ error: { code, message, data } }),
);
console.log(JSON.stringify({ questions, ...outcome }));
await client.close();
