// `gateway --check`: can the gateway listen and use its database, can people sign in with Discord, does every bot
// respond?
// It opens a session with each bot and asks for tools and guilds, as the gateway does, and changes nothing.

import { type Log, silentLog } from "../lib/log.ts";
import {
	type Check,
	CheckFailed,
	type CheckOptions,
	type Found,
	runChecks,
	tryListening,
} from "../lib/program/check.ts";
import { runs, version } from "../lib/program/program.ts";
import { Backend } from "./backends/backend.ts";
import { describeDropped } from "./backends/listed-tools.ts";
import { createMetrics } from "./calls/metrics.ts";
import { describePins } from "./catalog/status.ts";
import type { GatewayConfig, Instance } from "./config/config.ts";
import { pinVariable } from "./config/pins.ts";
import type { SignInSettings } from "./config/sign-in.ts";
import { Discord, DiscordFailure } from "./oauth/people/discord.ts";
import { paths } from "./oauth/protocol/metadata.ts";
import { askPortOwner } from "./port-owner.ts";
import { RouteIndex } from "./routing/routing.ts";
import { checkStore } from "./store/store.ts";

/** Ends every session. True if all checks passed. */
export async function checkGateway(
	config: GatewayConfig,
	log: Log,
	{ write }: Pick<CheckOptions, "write"> = {},
): Promise<boolean> {
	const asked = config.instances.map((instance) => ask(instance, config));
	try {
		return await runChecks(checksOf(config, asked, log), {
			log,
			...(write && { write }),
			secrets: [config.token, config.signIn?.clientSecret],
		});
	} finally {
		await Promise.all(asked.map(({ backend }) => backend.close()));
	}
}

type Asked = ReturnType<typeof ask>;

function ask(instance: Instance, { token, maxInFlight, upSocket }: GatewayConfig) {
	const backend = new Backend({
		instance,
		token,
		info: { name: "guildhall-check", version },
		maxInFlight,
		metrics: createMetrics(),
		// The checks print failures themselves.
		log: silentLog,
		onChange: () => {},
	});
	return { instance, backend, isUnderUp: upSocket !== undefined, answered: backend.refresh() };
}

function checksOf(config: GatewayConfig, asked: readonly Asked[], log: Log): Check[] {
	const { store, signIn } = config;
	const checks: Check[] = [
		{ title: "configuration", run: () => `${config.instances.length} instance(s)` },
		...config.warnings.map((warning) => ({ title: "configuration", run: () => ({ warning }) })),
		{ title: "port", run: () => checkPort(config, log) },
		...(store ? [{ title: "database", run: () => checkStore(store) }] : []),
		...(signIn ? [{ title: "sign-in", run: () => checkSignIn(signIn, log) }] : []),
		...asked.map((one) => ({ title: `${one.instance.name} (${one.instance.url})`, run: () => checkInstance(one) })),
	];
	if (asked.length > 1) checks.push({ title: "guilds", run: () => checkGuilds(asked) });
	return checks;
}

async function checkPort(config: GatewayConfig, log: Log): Promise<Found> {
	const { bindAddress: hostname, port } = config;
	if (port === 0) return "0: any free port";
	const settings = { hostname: "GATEWAY_BIND_ADDR", port: "GATEWAY_PORT" };
	const state = await tryListening({ hostname, port, settings, log });
	if (state === "free") return `${hostname}:${port} is free`;
	const owner = await askPortOwner(config);
	if (owner === "this gateway") return `${hostname}:${port} is in use by this gateway, which is running`;
	return {
		warning:
			owner === "another gateway"
				? `the address ${hostname}:${port} is in use by a gateway with other INSTANCES`
				: `the address ${hostname}:${port} is in use (is a gateway running?)`,
	};
}

async function checkInstance({ instance, backend, isUnderUp, answered }: Asked): Promise<Found> {
	await answered;
	const { guilds, tools = [], dropped } = backend;
	const { state, lastError } = backend.health;
	if (!state.online && /HTTP 404/.test(state.reason))
		throw new CheckFailed(
			`HTTP 404: there is no MCP server at ${instance.endpoint}`,
			"Put the address and the MCP_PORT of the bot into INSTANCES.",
		);
	if (!state.online) throw new CheckFailed(state.reason, nextStep(state.reason, instance, isUnderUp));
	if (lastError)
		throw new CheckFailed(
			`the bot offers ${tools.length} tool(s), but does not list its guilds: ${lastError.message}`,
			`The bot's log says why; so does ${runs("bot")} --check with the bot's settings.`,
		);
	const { serverVersion } = backend.session.server;
	const versionAndTools = `${serverVersion ? `version ${serverVersion}, ` : ""}${tools.length} tool(s)`;
	const notes = describePins(backend).map((one) => `; ${one}`);
	if (dropped.length > 0) notes.push(`; not listed: ${describeDropped(dropped)}`);
	if (guilds.size === 0) return { warning: `the bot is in no guild (${versionAndTools})${notes.join("")}` };
	const { name, pinned } = instance;
	const pins = pinned.size > 0 ? `; ${pinVariable(name)} pins ${pinned.size}` : "";
	const found = `${versionAndTools}, ${guilds.size} guild(s): ${[...guilds.values()].join(", ")}${pins}`;
	return notes.length > 0 ? { warning: found + notes.join("") } : found;
}

function nextStep(reason: string, { name, url }: Instance, isUnderUp: boolean): string {
	if (/HTTP 401/.test(reason))
		return `MCP_AUTH_TOKEN here and in the .env of ${name} differ: set both to the same value.`;
	if (/HTTP 403/.test(reason))
		return `The bot, or a proxy in front of it, refuses the Host header "localhost:9090": see MCP_ALLOWED_HOSTS there.`;
	if (/refused/.test(reason) && isUnderUp)
		return `${runs("up")} status shows whether it runs, and why not; ${runs("up")} restart ${name} starts it.`;
	if (/refused/.test(reason))
		return `Is it running? It is started with CONFIG_DIR=<its directory> ${runs("bot")}, and its MCP_PORT is that of ${url}.`;
	if (/host name/.test(reason)) return `Check the address in INSTANCES: ${url}`;
	if (/no response in time/.test(reason))
		return "Something listens there but does not respond, or a firewall drops what is sent: look at the bot's log.";
	return `Is the program at ${url} a bot of Guildhall? Look at its log.`;
}

async function checkGuilds(asked: readonly Asked[]): Promise<Found> {
	await Promise.all(asked.map(({ answered }) => answered));
	const backends = asked.map(({ backend }) => backend);
	const index = new RouteIndex(backends);
	const ids = new Set(backends.flatMap(({ guilds }) => [...guilds.keys()]));
	const shared = [...ids].flatMap((id) => {
		const serving = backends.filter(({ guilds }) => guilds.has(id));
		const first = index.serving(id);
		if (serving.length < 2 || !first) return [];
		return `${serving.map(({ name }) => name).join(" and ")} serve ${first.guilds.get(id)} (ID: ${id}): calls by guild_id go to ${first.name}`;
	});
	if (shared.length > 0) return { warning: shared.join("; ") };
	return `${ids.size}, none of them served by two bots`;
}

/** Discord accepts the application's id and secret. Rejects with a CheckFailed. */
export async function checkSignIn(
	{ publicUrl, discordApiUrl: apiUrl, clientId, clientSecret }: SignInSettings,
	log: Log,
): Promise<string> {
	const redirectUri = publicUrl + paths.callback;
	const options = { apiUrl, clientId, clientSecret, redirectUri, log };
	try {
		if (await new Discord(options).knowsApplication())
			return `Discord knows the application ${clientId}; its redirects must contain ${redirectUri}`;
	} catch (error) {
		if (!(error instanceof DiscordFailure)) throw error;
		throw new CheckFailed(
			`Discord did not answer: ${error.message}`,
			"Check the network, and DISCORD_API_URL if it is set.",
		);
	}
	throw new CheckFailed(
		"Discord refuses DISCORD_CLIENT_ID and DISCORD_CLIENT_SECRET",
		"Copy both from the page OAuth2 of your application at https://discord.com/developers/applications.",
	);
}
