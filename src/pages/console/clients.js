// Instructions for connecting MCP clients to this gateway: what each client needs, as text to copy. The text never
// contains the token, only a placeholder or a variable for it.

/**
 * @typedef {object} Client
 * @property {string} name
 * @property {string} where What to do with the text.
 * @property {string} [text]
 * @property {readonly string[]} [steps] What to do after that, or instead of it.
 * @property {{ label: string, url: string }} [install] Opens the client, which asks before it adds the server.
 */

/**
 * @typedef {object} Connection
 * @property {string} endpoint The URL of the MCP endpoint.
 * @property {boolean} byToken Whether the client sends a token; otherwise, people sign in with Discord.
 */

/** The environment variable that holds the token, for clients that read one. */
const variable = "GUILDHALL_TOKEN";
const placeholder = "<TOKEN>";
const setVariable = `The program reads the token from the environment variable ${variable}. Set it where you start the program.`;
const replace = `Replace ${placeholder} with a key or the token.`;

/** @param {unknown} value */
const json = (value) => JSON.stringify(value, null, 2);

/**
 * Whether the endpoint can be reached only from this machine.
 * @param {string} endpoint
 */
function isLocal(endpoint) {
	const { hostname } = new URL(endpoint);
	return /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/** @param {Connection} connection */
export function clientsOf(connection) {
	const { endpoint, byToken } = connection;
	/** @param {string} token */
	const headers = (token) => (byToken ? { headers: { Authorization: `Bearer ${token}` } } : {});
	const header = byToken ? ` --header "Authorization: Bearer ${placeholder}"` : "";
	return [
		// https://code.claude.com/docs/en/mcp
		{
			name: "Claude Code",
			where: "In a terminal:",
			text: `claude mcp add --transport http guildhall ${endpoint}${header}`,
			steps: [
				byToken ? replace : "In Claude Code, /mcp signs you in.",
				"With --scope user, the server is available in all your projects.",
			],
		},
		claudeDesktop(connection),
		// https://cursor.com/docs/mcp, https://cursor.com/docs/mcp/install-links
		cursor(endpoint, headers(`\${env:${variable}}`), byToken),
		vsCode(connection),
		// https://developers.openai.com/codex/mcp
		{
			name: "Codex",
			where: "In a terminal; or, below, in ~/.codex/config.toml:",
			text: byToken
				? `codex mcp add guildhall --url ${endpoint} --bearer-token-env-var ${variable}

# or in ~/.codex/config.toml
[mcp_servers.guildhall]
url = "${endpoint}"
bearer_token_env_var = "${variable}"`
				: `codex mcp add guildhall --url ${endpoint}
codex mcp login guildhall`,
			steps: byToken ? [setVariable] : [],
		},
		// https://geminicli.com/docs/tools/mcp-server/
		{
			name: "Gemini CLI",
			where: "In a terminal:",
			text: `gemini mcp add --scope user --transport http${header} guildhall ${endpoint}`,
			steps: [byToken ? replace : "In Gemini CLI, /mcp auth guildhall signs you in."],
		},
		// https://docs.windsurf.com/windsurf/cascade/mcp
		{
			name: "Windsurf",
			where: "In ~/.codeium/windsurf/mcp_config.json:",
			text: json({ mcpServers: { guildhall: { serverUrl: endpoint, ...headers(`\${env:${variable}}`) } } }),
			steps: [
				byToken ? setVariable : "Windsurf opens a page to sign in.",
				"Windsurf uses at most 100 tools at a time: switch off tools that you do not need.",
			],
		},
		// https://zed.dev/docs/ai/mcp
		{
			name: "Zed",
			where: "In the settings (zed: open settings file):",
			text: json({ context_servers: { guildhall: { url: endpoint, ...headers(placeholder) } } }),
			steps: [byToken ? replace : "Zed opens a page to sign in."],
		},
		hosted(connection, "claude.ai", [
			// https://support.claude.com/articles/11175166-getting-started-with-custom-connectors-using-remote-mcp
			"In claude.ai or Claude's apps: Customize → Connectors → Add custom connector.",
			"Enter the address above.",
			"Connect, sign in with Discord, and choose what Claude may do.",
		]),
		hosted(connection, "ChatGPT", [
			// https://help.openai.com/en/articles/12584461-developer-mode-apps-and-full-mcp-connectors-in-chatgpt-beta
			"In ChatGPT on the web: Settings → Apps → Advanced settings → Developer mode. Older versions call apps Connectors.",
			"Back in Apps, press Create app. Enter the address above, and choose OAuth.",
			"Sign in with Discord, and choose what ChatGPT may do.",
		]),
	];
}

/** @param {Connection} connection */
function claudeDesktop({ endpoint, byToken }) {
	const name = "Claude Desktop";
	// https://support.claude.com/articles/11175166-getting-started-with-custom-connectors-using-remote-mcp
	if (!byToken && !isLocal(endpoint))
		return {
			name,
			where: "The address of the connector:",
			text: endpoint,
			steps: [
				"Customize → Connectors → Add custom connector. It takes the address above.",
				"Connect, sign in with Discord, and choose what Claude may do.",
			],
		};
	// https://modelcontextprotocol.io/docs/develop/connect-local-servers, https://github.com/geelen/mcp-remote
	const args = ["-y", "mcp-remote", endpoint];
	const server = byToken
		? {
				command: "npx",
				args: [...args, "--header", `Authorization:\${AUTH_HEADER}`],
				env: { AUTH_HEADER: `Bearer ${placeholder}` },
			}
		: { command: "npx", args };
	return {
		name,
		where: "In claude_desktop_config.json (Settings → Developer → Edit Config). The bridge mcp-remote needs Node:",
		text: json({ mcpServers: { guildhall: server } }),
		steps: [
			byToken ? replace : "The bridge opens a page to sign in.",
			...(isLocal(endpoint) || endpoint.startsWith("https:")
				? []
				: ["The bridge connects to other machines only with https."]),
			"Restart Claude Desktop.",
		],
	};
}

/**
 * @param {string} endpoint
 * @param {object} headers
 * @param {boolean} byToken
 */
function cursor(endpoint, headers, byToken) {
	const server = { url: endpoint, ...headers };
	const query = new URLSearchParams({ name: "guildhall", config: btoa(JSON.stringify(server)) });
	return {
		name: "Cursor",
		where: "The button adds it to Cursor. Or in ~/.cursor/mcp.json:",
		text: json({ mcpServers: { guildhall: server } }),
		install: { label: "Add to Cursor", url: `cursor://anysphere.cursor-deeplink/mcp/install?${query}` },
		steps: [byToken ? setVariable : "Cursor opens a page to sign in."],
	};
}

/** @param {Connection} connection */
function vsCode({ endpoint, byToken }) {
	// https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
	const input = {
		id: "guildhall-token",
		type: "promptString",
		description: "Token or key of Guildhall",
		password: true,
	};
	const inputs = byToken ? { inputs: [input] } : {};
	const headers = byToken ? { headers: { Authorization: `Bearer \${input:${input.id}}` } } : {};
	const server = { type: "http", url: endpoint, ...headers };
	// https://code.visualstudio.com/docs/copilot/guides/mcp-developer-guide (MCP URL handler)
	const link = JSON.stringify({ name: "guildhall", ...server, ...inputs });
	return {
		name: "VS Code",
		where: "The button adds it to VS Code. Or in .vscode/mcp.json:",
		text: json({ ...inputs, servers: { guildhall: server } }),
		install: { label: "Add to VS Code", url: `vscode:mcp/install?${encodeURIComponent(link)}` },
		steps: [byToken ? "VS Code asks for the token once and stores it." : "VS Code opens a page to sign in."],
	};
}

/**
 * Returns the instructions for a client that runs on its vendor's servers. Such a client accepts no fixed token and
 * needs https.
 * @param {Connection} connection
 * @param {string} name
 * @param {readonly string[]} steps
 */
function hosted({ endpoint, byToken }, name, steps) {
	if (byToken || isLocal(endpoint) || !endpoint.startsWith("https:"))
		return {
			name,
			where: byToken
				? `${name} takes no token: people sign in with Discord.`
				: `${name} connects from the internet and cannot reach this address.`,
			steps: [
				"The gateway needs a public address with https, and an application at Discord: see “Connect an assistant” in the README.",
			],
		};
	return { name, where: "The address of the server:", text: endpoint, steps };
}
