// Entry point of `guildhall connect`. Also runs with Node.js, in the bundle for Claude Desktop.

import { once } from "node:events";
import { eachLine } from "../lib/program/lines.ts";
import { parseCommandLine } from "../lib/program/program.ts";
import { Bridge, maxMessageLength } from "./bridge.ts";

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
const closeMs = 1_500;
const bridge = new Bridge({
	url,
	token: process.env.GUILDHALL_TOKEN?.trim(),
	write: (line) => process.stdout.write(`${line}\n`),
});
const signals = ["SIGINT", "SIGTERM"] as const;
const signalled = Promise.race(signals.map((name) => once(process, name)));
let sent = Promise.resolve();
const pass = (line: string) => {
	if (line.trim() !== "") sent = sent.then(() => bridge.send(line));
};
// Not node:readline: it also splits at U+2028 and U+2029, which JSON allows inside strings.
await Promise.race([eachLine(process.stdin, pass, maxMessageLength), signalled]);
// A gateway that does not answer must not keep this process: clients kill it after two seconds.
setTimeout(() => process.exit(0), closeMs);
await sent;
await bridge.close();
process.exit(0);
