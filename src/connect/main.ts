// Entry point of `guildhall connect`. Also runs with Node.js, in the bundle for Claude Desktop.

import { createInterface } from "node:readline";
import { parseCommandLine } from "../lib/program/program.ts";
import { Bridge } from "./bridge.ts";

const usage = `Usage: guildhall connect [<url>] [--help] [--version]

Connects an MCP client that starts servers as processes to a gateway: JSON-RPC messages on stdin and stdout, one a line.

  <url>            of the gateway (default: GUILDHALL_URL, or http://127.0.0.1:9100/mcp)

Environment:
  GUILDHALL_TOKEN  MCP_AUTH_TOKEN of the gateway, or a key made in its console`;

const words: string[] = [];
parseCommandLine(usage, {}, words);
const url = words[0] || process.env.GUILDHALL_URL || "http://127.0.0.1:9100/mcp";
if (words.length > 1 || !/^https?:\/\/./.test(url)) {
	console.error(`Expected the URL of a gateway, such as https://mcp.example.com/mcp.\n\n${usage}`);
	process.exit(2);
}
const bridge = new Bridge({
	url,
	token: process.env.GUILDHALL_TOKEN?.trim(),
	write: (line) => process.stdout.write(`${line}\n`),
});
const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => lines.close());
for await (const line of lines) if (line.trim() !== "") await bridge.send(line);
await bridge.close();
process.exit(0);
