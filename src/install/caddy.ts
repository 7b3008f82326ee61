// Installation steps for a domain: a site file for Caddy, its import in the Caddyfile, and the host name that the
// gateway accepts.

import { existsSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { domainToASCII } from "node:url";
import { parseEnv } from "node:util";
import example from "../../docker/proxy/Caddyfile" with { type: "text" };
import { installedInstances } from "../lib/program/instances.ts";
import { readWithoutLinks, writeAtomically } from "./atomic.ts";
import { fileStep } from "./files.ts";
import type { InstallRecord } from "./record.ts";
import { InstallError, type Step } from "./step.ts";
import { readText, type System } from "./system.ts";

const caddyfilePath = "/etc/caddy/Caddyfile";
const sitePath = "/etc/caddy/guildhall.caddy";
const importLine = `import ${sitePath}`;
const exampleHost = "mcp.example";
const exampleAddress = "127.0.0.1:9100";
const gatewayEnvPath = join(installedInstances, "gateway.env");

/** In ASCII (Punycode), as Caddy and the gateway need it. Throws an InstallError. */
export function parseDomain(text: string): string {
	const domain = domainToASCII(text).replace(/\.$/, "");
	const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
	const labels = domain.split(".");
	const isDomain =
		// domainToASCII ignores the text after some of these characters.
		!/[\s/\\:?#@%[\]]/.test(text) &&
		labels.length > 1 &&
		domain.length <= 253 &&
		labels.every((part) => label.test(part)) &&
		!/^\d+$/.test(labels.at(-1) ?? "");
	if (isDomain) return domain;
	throw new InstallError(`Expected a domain such as mcp.example.com after --domain, received ${JSON.stringify(text)}.`);
}

/** Throws an InstallError. */
export function checkCaddy(system: System): void {
	if (existsSync(system.at(caddyfilePath))) return;
	throw new InstallError(
		`--domain needs Caddy, and there is no ${caddyfilePath}. Install it first: apt-get install caddy`,
	);
}

/** `address`: host and port of the gateway. */
export function siteFor(domain: string, address: string): string {
	const [, ...body] = example.split("\n");
	return `# The gateway of Guildhall, as "guildhall install" wrote it.\n${body
		.join("\n")
		.replaceAll(exampleHost, domain)
		.replaceAll(exampleAddress, address)}`;
}

export function domainSteps(system: System, record: InstallRecord, domain: string): Step[] {
	const port = parseEnv(readWithoutLinks(system.at(gatewayEnvPath))).GATEWAY_PORT ?? "9100";
	const address = `127.0.0.1:${/^\d{1,5}$/.test(port) ? port : "9100"}`;
	const site = fileStep(system, record, {
		path: sitePath,
		title: `the site ${domain} of Caddy`,
		mode: 0o644,
		content: { text: siteFor(domain, address) },
		pending: "reload-caddy",
	});
	return [hostStep(system, record, domain), site, importStep(system, record)];
}

function hostStep(system: System, record: InstallRecord, domain: string): Step {
	const path = system.at(gatewayEnvPath);
	const text = () => readWithoutLinks(path);
	const hostsIn = (env: string) =>
		(parseEnv(env).MCP_ALLOWED_HOSTS ?? "")
			.split(",")
			.map((host) => host.trim())
			.filter(Boolean);
	const write = (env: string) => {
		const owner = system.image === undefined ? statSync(system.at(installedInstances)) : undefined;
		writeAtomically(path, env, 0o600, owner);
	};
	return {
		describe: () => `add ${domain} to MCP_ALLOWED_HOSTS in ${gatewayEnvPath}`,
		isDone: () => hostsIn(text()).includes(domain) && record.content.domain === domain,
		apply() {
			const env = text();
			const former = record.content.domain;
			const hosts = hostsIn(env).filter((host) => host !== former && host !== domain);
			record.set({ domain });
			const changed = setLine(env, "MCP_ALLOWED_HOSTS", [...hosts, domain].join());
			write(/\bPUBLIC_URL=/.test(changed) ? changed : changed + signIn(domain));
		},
		describeUndo: () =>
			record.content.domain !== undefined && hostsIn(text()).includes(domain)
				? `remove ${domain} from MCP_ALLOWED_HOSTS in ${gatewayEnvPath}`
				: undefined,
		undo() {
			const env = text();
			const hosts = hostsIn(env).filter((host) => host !== domain);
			write(setLine(env, "MCP_ALLOWED_HOSTS", hosts.join()));
			record.set({ domain: undefined });
		},
	};
}

function signIn(domain: string): string {
	return `# To let people sign in with Discord, fill these in and remove each "# ". The application at Discord needs the redirect
# https://${domain}/oauth/callback.
# PUBLIC_URL=https://${domain}
# DISCORD_CLIENT_ID=
# DISCORD_CLIENT_SECRET=
`;
}

/** An empty value removes the variable. */
export function setLine(text: string, key: string, value: string): string {
	const line = new RegExp(`^\\s*(export\\s+)?${key}\\s*=.*\\n?`, "gm");
	const others = text.replace(line, "");
	const end = others === "" || others.endsWith("\n") ? "" : "\n";
	return value === "" ? others : `${others}${end}${key}=${value}\n`;
}

function importStep(system: System, record: InstallRecord): Step {
	const text = () => readText(system.at(caddyfilePath));
	const has = () => text().split("\n").includes(importLine);
	const isPending = () => record.content.pending.includes("reload-caddy");
	const write = (content: string) => {
		const path = realpathSync(system.at(caddyfilePath));
		const stat = statSync(path);
		writeAtomically(path, content, stat.mode & 0o777, stat);
	};
	const load = (verb: "reload-or-restart" | "try-reload-or-restart") => {
		if (system.image === undefined && system.has("caddy"))
			system.run([...["caddy", "validate", "--adapter", "caddyfile"], ...["--config", caddyfilePath]]);
		if (system.isBooted) system.run(["systemctl", verb, "caddy"]);
	};
	return {
		describe: () => (has() ? "reload Caddy" : `add "${importLine}" to ${caddyfilePath}, and reload Caddy`),
		isDone: () => has() && !isPending(),
		apply() {
			const before = text();
			if (!has()) {
				write(`${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${importLine}\n`);
			}
			try {
				load("reload-or-restart");
			} catch (error) {
				// With a configuration that Caddy refuses, Caddy could not start again.
				write(before);
				throw error;
			}
			record.setPending("reload-caddy", false);
		},
		describeUndo: () => (has() ? `remove "${importLine}" from ${caddyfilePath}, and reload Caddy` : undefined),
		undo() {
			const lines = text().split("\n");
			write(lines.filter((line) => line !== importLine).join("\n"));
			// This does not start Caddy if it is not running.
			load("try-reload-or-restart");
		},
	};
}
