// Instructions for connecting MCP clients to this gateway: what each client needs, as text to copy, with a key or a
// placeholder for one.

/** @import { Client, Connection } from "./types.ts" */

export const placeholder = "<TOKEN>";

/** @param {unknown} value */
const json = (value) => JSON.stringify(value, null, 2);

// https://support.claude.com/articles/11175166-getting-started-with-custom-connectors-using-remote-mcp
const claudeSteps = [
	"In claude.ai or Claude's apps: Customize → Connectors → Add custom connector.",
	"Enter the address above.",
	"Connect, sign in with Discord, and choose what Claude may do.",
];

/** Whether it can be reached only from this machine. @param {string} endpoint */
function isLocal(endpoint) {
	const { hostname } = new URL(endpoint);
	return /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/** @param {Connection} connection @returns {Client[]} */
export function clientsOf(connection) {
	const { endpoint, token } = connection;
	const headers = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } };
	const header = token === undefined ? "" : ` --header "Authorization: Bearer ${token}"`;
	/** @param {string} signsIn How it signs in without a token. */
	const first = (signsIn) =>
		token === undefined
			? [signsIn]
			: token === placeholder
				? [`Create a key above: it takes the place of ${placeholder}.`]
				: [];
	const server = { url: endpoint, ...headers };
	const query = new URLSearchParams({ name: "guildhall", config: btoa(JSON.stringify(server)) });
	const vsCode = { type: "http", ...server };
	/** @param {string} label @param {string} url */
	const install = (label, url) => (token === placeholder ? {} : { install: { label, url } });
	const orButton = token === placeholder ? "" : ", or press the button";
	return [
		// https://code.claude.com/docs/en/mcp
		{
			name: "Claude Code",
			where: "Run in a terminal:",
			text: `claude mcp add --transport http guildhall ${endpoint}${header}`,
			steps: [
				...first("In Claude Code, /mcp signs you in."),
				"With --scope user, the server is available in all your projects.",
			],
		},
		claudeDesktop(connection, first("The bridge opens a page to sign in.")),
		// https://cursor.com/docs/mcp, https://cursor.com/docs/mcp/install-links: base64 of the server's JSON
		{
			name: "Cursor",
			where: `Put into ~/.cursor/mcp.json${orButton}:`,
			text: json({ mcpServers: { guildhall: server } }),
			...install("Add to Cursor", `cursor://anysphere.cursor-deeplink/mcp/install?${query}`),
			steps: first("Cursor opens a page to sign in."),
		},
		// https://code.visualstudio.com/docs/copilot/reference/mcp-configuration; the link: MCP URL handler in
		// https://code.visualstudio.com/docs/copilot/guides/mcp-developer-guide
		{
			name: "VS Code",
			where: `Put into .vscode/mcp.json${orButton}:`,
			text: json({ servers: { guildhall: vsCode } }),
			...install(
				"Add to VS Code",
				`vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: "guildhall", ...vsCode }))}`,
			),
			steps: first("VS Code opens a page to sign in."),
		},
		// https://developers.openai.com/codex/mcp
		{
			name: "Codex",
			where: token === undefined ? "Run in a terminal:" : "Put into ~/.codex/config.toml:",
			text:
				token === undefined
					? `codex mcp add guildhall --url ${endpoint}\ncodex mcp login guildhall`
					: `[mcp_servers.guildhall]\nurl = "${endpoint}"\nhttp_headers = { Authorization = "Bearer ${token}" }`,
			steps: first("The second command opens a page to sign in."),
		},
		// https://geminicli.com/docs/tools/mcp-server/
		{
			name: "Gemini CLI",
			where: "Run in a terminal:",
			text: `gemini mcp add --scope user --transport http${header} guildhall ${endpoint}`,
			steps: first("In Gemini CLI, /mcp auth guildhall signs you in."),
		},
		// https://docs.windsurf.com/windsurf/cascade/mcp
		{
			name: "Windsurf",
			where: "Put into ~/.codeium/windsurf/mcp_config.json:",
			text: json({ mcpServers: { guildhall: { serverUrl: endpoint, ...headers } } }),
			steps: [
				...first("Windsurf opens a page to sign in."),
				"Windsurf uses at most 100 tools at a time: switch off tools that you do not need.",
			],
		},
		// https://zed.dev/docs/ai/mcp
		{
			name: "Zed",
			where: "Put into the settings (zed: open settings file):",
			text: json({ context_servers: { guildhall: server } }),
			steps: first("Zed opens a page to sign in."),
		},
		{
			name: "Another client",
			where: "The address of the server, and the header of each request:",
			text: token === undefined ? endpoint : `${endpoint}\nAuthorization: Bearer ${token}`,
			steps: first("The client opens a page to sign in, or needs a key."),
		},
		hosted(connection, "claude.ai", claudeSteps),
		hosted(connection, "ChatGPT", [
			// https://help.openai.com/en/articles/12584461-developer-mode-apps-and-full-mcp-connectors-in-chatgpt-beta
			"In ChatGPT on the web: Settings → Apps → Advanced settings → Developer mode. Older versions call apps Connectors.",
			"Back in Apps, press Create app. Enter the address above, and choose OAuth.",
			"Sign in with Discord, and choose what ChatGPT may do.",
		]),
	];
}

/** @param {Connection} connection @param {readonly string[]} first @returns {Client} */
function claudeDesktop({ endpoint, token }, first) {
	const name = "Claude Desktop";
	if (token === undefined && !isLocal(endpoint)) return hosted({ endpoint, token }, name, claudeSteps);
	// https://modelcontextprotocol.io/docs/develop/connect-local-servers, https://github.com/geelen/mcp-remote
	const args = ["-y", "mcp-remote", endpoint];
	const server =
		token === undefined
			? { command: "npx", args }
			: {
					command: "npx",
					args: [...args, "--header", `Authorization:\${AUTH_HEADER}`],
					env: { AUTH_HEADER: `Bearer ${token}` },
				};
	const isRefused = !isLocal(endpoint) && !endpoint.startsWith("https:");
	return {
		name,
		where: "In claude_desktop_config.json (Settings → Developer → Edit Config). The bridge mcp-remote needs Node:",
		text: json({ mcpServers: { guildhall: server } }),
		steps: [
			...first,
			...(isRefused ? ["The bridge connects to other machines only with https."] : []),
			"Restart Claude Desktop.",
		],
	};
}

/** For clients on their vendors' servers, which take no token and need https. */
/** @param {Connection} connection @param {string} name @param {readonly string[]} steps @returns {Client} */
function hosted({ endpoint, token }, name, steps) {
	if (token === undefined && endpoint.startsWith("https:") && !isLocal(endpoint))
		return { name, where: "The address of the server:", text: endpoint, steps };
	return {
		name,
		where:
			token === undefined
				? `${name} connects from the internet and cannot reach this address.`
				: `${name} takes no token: people sign in with Discord.`,
		steps: ["The gateway needs a public address with https, and an application at Discord: see src/docs/connect.md."],
	};
}
