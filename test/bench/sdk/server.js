// A server made with the official MCP SDK, as it is quickest on Bun: Bun.serve, and a transport with web requests. It has
// one tool, which answers as the bot's list_guilds does, sessions as the bot has them, and asks for the same token.

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";

const { TOKEN, ANSWER } = process.env;
const transports = new Map();

async function openSession() {
	const server = new McpServer({ name: "sdk", version: "0" });
	server.registerTool("list_guilds", { description: "List guilds.", inputSchema: {} }, () => ({
		content: [{ type: "text", text: ANSWER }],
	}));
	const transport = new WebStandardStreamableHTTPServerTransport({
		sessionIdGenerator: () => crypto.randomUUID(),
		onsessioninitialized: (id) => transports.set(id, transport),
	});
	await server.connect(transport);
	return transport;
}

const http = Bun.serve({
	hostname: "127.0.0.1",
	port: 0,
	async fetch(request) {
		const { pathname } = new URL(request.url);
		if (pathname === "/usage") return Response.json({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() });
		if (request.headers.get("authorization") !== `Bearer ${TOKEN}`)
			return new Response("Unauthorized", { status: 401 });
		const id = request.headers.get("mcp-session-id");
		const transport = id ? transports.get(id) : await openSession();
		if (!transport) return new Response("Not found", { status: 404 });
		return transport.handleRequest(request);
	},
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${http.port}/mcp` }));

for await (const _ of Bun.stdin.stream());
process.exit(0);
