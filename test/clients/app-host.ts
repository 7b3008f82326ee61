/// <reference lib="dom" />
// A client with MCP Apps, in a browser: the extension's reference implementation of a host. apps.ts drives it.
// https://github.com/modelcontextprotocol/ext-apps/tree/main/examples/basic-host

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
	AppBridge,
	getToolUiResourceUri,
	PostMessageTransport,
	RESOURCE_MIME_TYPE,
} from "@modelcontextprotocol/ext-apps/app-bridge";

interface Asked {
	name: string;
	arguments?: Record<string, unknown>;
}

/** What the page got, and what it asked of the host. */
const seen: { calls: Asked[]; contexts: unknown[]; heights: number[]; mimeType?: string; csp?: unknown } = {
	calls: [],
	contexts: [],
	heights: [],
};

async function start(url: string, token: string, sandbox: string, tool: string, args: Record<string, unknown>) {
	const info = { name: "host", version: "1" };
	const client = new Client(info, {
		versionNegotiation: { mode: { pin: "2026-07-28" } },
		capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } } },
	});
	await client.connect(
		new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
	);
	const { tools } = await client.listTools();
	const uri = getToolUiResourceUri(tools.find(({ name }) => name === tool) ?? {}) ?? "";
	const result = await client.callTool({ name: tool, arguments: args });
	const { contents } = await client.readResource({ uri });
	const [page] = contents;
	if (!page || !("text" in page)) throw new Error("there is no page");
	seen.mimeType = page.mimeType ?? "";
	seen.csp = (page._meta?.ui as { csp?: unknown } | undefined)?.csp;

	const frame = document.createElement("iframe");
	frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
	const ready = new Promise<void>((resolve) =>
		addEventListener("message", ({ source, data }) => {
			if (source === frame.contentWindow && data?.method === "ui/notifications/sandbox-proxy-ready") resolve();
		}),
	);
	frame.src = sandbox;
	document.body.append(frame);
	await ready;
	if (!frame.contentWindow) throw new Error("the frame has no window");
	const bridge = new AppBridge(
		client,
		info,
		{ serverTools: {}, updateModelContext: { text: {} } },
		{ hostContext: { theme: "dark" } },
	);
	bridge.onupdatemodelcontext = async (params) => {
		seen.contexts.push(params);
		return {};
	};
	bridge.onsizechange = ({ height = 0 }) => {
		seen.heights.push(height);
	};
	const initialized = new Promise<void>((resolve) => {
		bridge.oninitialized = () => resolve();
	});
	await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
	// As a host that shows its user each call.
	bridge.oncalltool = async (params) => {
		seen.calls.push(params as Asked);
		return (await client.callTool(params as Asked)) as never;
	};
	await bridge.sendSandboxResourceReady({ html: page.text });
	await initialized;
	await bridge.sendToolInput({ arguments: args });
	await bridge.sendToolResult(result as never);
}

Object.assign(window, { start, seen });
