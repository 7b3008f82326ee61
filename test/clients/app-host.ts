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

type Asked = Parameters<Client["callTool"]>[0];

/** What the page got, and what it asked of the host. */
const seen = { page: {} as unknown, calls: [] as Asked[], contexts: [] as unknown[], height: 0 };

async function start(url: string, token: string, sandbox: string, name: string, args: Record<string, unknown>) {
	const info = { name: "host", version: "1" };
	const client = new Client(info, {
		versionNegotiation: { mode: { pin: "2026-07-28" } },
		capabilities: { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } } },
	});
	const requestInit = { headers: { Authorization: `Bearer ${token}` } };
	await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
	const { tools } = await client.listTools();
	const uri = getToolUiResourceUri(tools.find((tool) => tool.name === name) ?? {}) ?? "";
	const result = await client.callTool({ name, arguments: args });
	const [page] = (await client.readResource({ uri })).contents;
	if (!page || !("text" in page)) throw new Error("there is no page");
	seen.page = { mimeType: page.mimeType, csp: Object(page._meta?.ui).csp };

	const frame = document.createElement("iframe");
	frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
	const ready = Promise.withResolvers<void>();
	addEventListener("message", ({ source, data }) => {
		if (source === frame.contentWindow && data?.method === "ui/notifications/sandbox-proxy-ready") ready.resolve();
	});
	frame.src = sandbox;
	document.body.append(frame);
	await ready.promise;
	if (!frame.contentWindow) throw new Error("the frame has no window");
	const abilities = { serverTools: {}, updateModelContext: { text: {} } };
	const bridge = new AppBridge(client, info, abilities, { hostContext: { theme: "dark" } });
	bridge.onupdatemodelcontext = async (params) => {
		seen.contexts.push(params);
		return {};
	};
	bridge.onsizechange = ({ height = 0 }) => {
		seen.height = height;
	};
	const initialized = Promise.withResolvers<void>();
	bridge.oninitialized = () => initialized.resolve();
	await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
	// As a host that shows its user each call.
	bridge.oncalltool = async (params) => {
		seen.calls.push(params);
		return (await client.callTool(params)) as never;
	};
	await bridge.sendSandboxResourceReady({ html: page.text });
	await initialized.promise;
	await bridge.sendToolInput({ arguments: args });
	await bridge.sendToolResult(result as never);
}

Object.assign(window, { start, seen });
