// mcp-remote, which connects clients that only start programs, such as older ones for the desktop: a process that speaks MCP
// on stdin and stdout. It signs in by a browser, for which a script takes its place here, and keeps its tokens in a directory.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { clock } from "../support/clock.ts";
import { until } from "../support/until.ts";
import { type Connect, clientInfo, textOf, used } from "./client.ts";

const program = join(import.meta.dir, "node_modules/mcp-remote/dist/proxy.js");

export const connect: Connect = async ({ url, metadataUrl, signIn }) => {
	const directory = await mkdtemp(join(tmpdir(), "guildhall-test-"));
	const opened = join(directory, "opened");
	// Its name is that of the command on macOS. On Linux the variable BROWSER names it.
	const browser = join(directory, "open");
	const script = `#!/bin/sh\nprintf '%s\\n' "$1" >> '${opened}'\n`;
	await writeFile(browser, script, { mode: 0o755 });
	/** The addresses that it has opened. The last line of the file may be incomplete. */
	const openedUrls = async () => {
		const file = Bun.file(opened);
		const text = (await file.exists()) ? await file.text() : "";
		return text.split("\n").slice(0, -1);
	};

	const document = metadataUrl ? ["--client-metadata-url", metadataUrl] : [];
	const transport = new StdioClientTransport({
		command: Bun.which("node") ?? process.execPath,
		args: [program, url, ...document],
		env: {
			...clock,
			PATH: `${directory}:${process.env.PATH}`,
			HOME: directory,
			BROWSER: browser,
			MCP_REMOTE_CONFIG_DIR: directory,
		},
		stderr: "pipe",
	});
	const lines: string[] = [];
	transport.stderr?.on("data", (chunk) => lines.push(String(chunk)));
	const client = new Client(clientInfo);
	const connected = client.connect(transport);
	const close = async () => {
		await client.close();
		await rm(directory, { recursive: true, force: true });
	};
	let lastUrl = "";
	try {
		[lastUrl = ""] = await until("it opens a browser", async () => {
			const urls = await openedUrls();
			return urls.length > 0 && urls;
		});
		await fetch(await signIn(lastUrl));
		await connected;
	} catch (cause) {
		connected.catch(() => {});
		await close();
		throw new Error(`mcp-remote: ${lines.join("")}`, { cause });
	}
	return {
		...used(client),
		revision: undefined,
		async call(name, args) {
			const before = (await openedUrls()).length;
			let isDone = false;
			const call = client.callTool({ name, arguments: args });
			// It waits for the person, and the call with it.
			const reopened = until("an answer, or a browser", async () => {
				const urls = await openedUrls();
				if (urls.length > before) lastUrl = urls.at(-1) ?? "";
				return isDone || urls.length > before;
			});
			const result = await Promise.race([call, reopened]).finally(() => {
				isDone = true;
				call.catch(() => {});
			});
			if (result === true) throw new Error("it has to sign in again");
			return textOf(result);
		},
		get lastUrl() {
			return lastUrl;
		},
		[Symbol.asyncDispose]: close,
	};
};
