// The gateway's environment variables: their schemas, defaults and descriptions.

import * as v from "valibot";
import {
	baseUrlIssue,
	ConfigError,
	checkSettings,
	didYouMean,
	formatIssue,
	formatValue,
	hostList,
	integer,
	isPlaceholder,
	nameNearMisses,
	optional,
	originList,
	parseSettings,
	port,
	secret,
	trimEnv,
} from "../../lib/config.ts";
import { logSettings, readLogOptions } from "../../lib/log.ts";
import type { HealthAddress } from "../../lib/program/health.ts";
import { maxQuietSeconds } from "../../lib/program/listen.ts";

import { readStoreSettings, storeVariables } from "../store/settings.ts";
import { type Pins, pinGuilds } from "./pins.ts";
import { readSignInSettings, signInIssues, signInVariables } from "./sign-in.ts";

interface Entry {
	name: string;
	url: string;
	/** The bot's MCP endpoint. */
	endpoint: string;
}

export type Instance = Entry & Pins;

export type GatewayConfig = ReturnType<typeof readConfig>;

const minTokenLength = 16;

const address = {
	GATEWAY_PORT: optional(port, "Port to listen on; 0 takes any free port", "9100"),
	GATEWAY_BIND_ADDR: optional(v.string(), "Address to listen on", "0.0.0.0"),
};

const sharePort = optional(
	v.pipe(
		v.picklist(["true", "false"]),
		v.transform((text) => text === "true"),
	),
	"Whether a second gateway of the same user may listen on the same port, so that it can take over without refusing a connection: true or false; Linux only",
	"false",
);

export const variables = {
	INSTANCES: v.pipe(
		v.string(),
		v.rawTransform(readInstances),
		v.description("Bots as name=url,name=url, such as alpha=http://127.0.0.1:9090"),
	),
	MCP_AUTH_TOKEN: v.pipe(
		secret,
		v.check(
			(token) => !isPlaceholder(token),
			'is still a placeholder: what begins "your-" counts as not filled in. Put the bots\' MCP_AUTH_TOKEN there',
		),
		v.description("Bearer token that clients send and all bots expect"),
	),
	...address,
	GATEWAY_SHARE_PORT: sharePort,
	REFRESH_INTERVAL_SECONDS: optional(
		integer(1, 86_400),
		"Time between two refreshes of every bot's guilds and tools",
		"300",
	),
	CALL_TIMEOUT_SECONDS: optional(
		// Less than the time for which a connection may be silent.
		integer(1, maxQuietSeconds - 15),
		"Timeout of a call, from its arrival to the end of the bot's response",
		"30",
	),
	MAX_IN_FLIGHT: optional(integer(1, 10_000), "Concurrent calls per bot", "256"),
	SHUTDOWN_SECONDS: optional(integer(0, 3_600), "How long a shutdown waits for calls in flight", "10"),
	DEFAULT_INSTANCE: optional(
		v.string(),
		"Instance for calls that name neither an instance nor a guild; default: the only one",
	),
	CONSOLE: optional(
		v.picklist(["true", "false"]),
		"Whether the gateway serves the console at /console, where the operator and people sign in",
		"true",
	),
	DOCS_DIR: v.pipe(
		v.optional(v.string()),
		v.description("Folder with the documentation, which is served at /docs"),
		v.metadata({ default: "docs beside the executable" }),
	),
	...storeVariables,
	...signInVariables,
	...logSettings,
	MCP_ALLOWED_HOSTS: v.pipe(
		optional(
			hostList,
			"Host names that clients may use for the gateway, separated by commas, besides that of PUBLIC_URL and the loopback names",
		),
		v.metadata({ default: "any; with PUBLIC_URL none" }),
	),
	MCP_ALLOWED_ORIGINS: v.pipe(
		optional(originList, "Origins of web pages that may call it from a browser, separated by commas"),
		v.metadata({ default: "none" }),
	),
};

export const helpVariables = {
	...variables,
	"GUILDS_<NAME>": v.pipe(
		v.optional(v.string()),
		v.description("Ids of guilds that belong to this instance alone, separated by commas; GUILDS_MY_BOT is for my-bot"),
	),
};

const environment = v.pipe(
	v.object(variables),
	v.forward(
		v.partialCheck(
			[["INSTANCES"], ["DEFAULT_INSTANCE"]],
			({ INSTANCES, DEFAULT_INSTANCE }) =>
				DEFAULT_INSTANCE === undefined || INSTANCES.some(({ name }) => name === DEFAULT_INSTANCE),
			({ input: { INSTANCES, DEFAULT_INSTANCE = "" } }) => {
				const names = INSTANCES.map(({ name }) => name);
				return `expected a name from INSTANCES, received ${formatValue(DEFAULT_INSTANCE)}${didYouMean(DEFAULT_INSTANCE, names)}`;
			},
		),
		["DEFAULT_INSTANCE"],
	),
);

/** Throws a ConfigError that lists every issue. */
export function readConfig(env: Record<string, string | undefined>) {
	const given = trimEnv(env);
	const { settings, issues } = checkSettings(environment, given);
	const listed = v.safeParse(variables.INSTANCES, given.INSTANCES);
	// Without valid INSTANCES it is unknown which names can have pins.
	const pins = listed.success ? pinGuilds(listed.output, given) : { instances: [], issues: [] };
	const missing = signInIssues(given);
	if (!settings || pins.issues.length > 0 || missing.length > 0)
		throw new ConfigError("the environment", [
			...nameNearMisses(issues, given, Object.keys(variables)).map(formatIssue),
			...missing.map(formatIssue),
			...pins.issues,
		]);
	const warning = `MCP_AUTH_TOKEN has fewer than ${minTokenLength} characters: anyone who guesses it controls every bot`;
	const signIn = readSignInSettings(settings);
	const noSharing =
		"GATEWAY_SHARE_PORT has no effect: only Linux gives each new connection to one of the programs that share a port";
	const cannotShare = settings.GATEWAY_SHARE_PORT && process.platform !== "linux";
	const isWeak = settings.MCP_AUTH_TOKEN.length < minTokenLength;
	return {
		instances: pins.instances,
		token: settings.MCP_AUTH_TOKEN,
		port: settings.GATEWAY_PORT,
		bindAddress: settings.GATEWAY_BIND_ADDR,
		sharePort: settings.GATEWAY_SHARE_PORT && !cannotShare,
		refreshIntervalMs: settings.REFRESH_INTERVAL_SECONDS * 1000,
		callTimeoutMs: settings.CALL_TIMEOUT_SECONDS * 1000,
		maxInFlight: settings.MAX_IN_FLIGHT,
		shutdownMs: settings.SHUTDOWN_SECONDS * 1000,
		/** Set by `up`: the path of its control socket. */
		upSocket: given.GATEWAY_UP_SOCKET,
		// With one bot, no call has to name it.
		defaultInstance: settings.DEFAULT_INSTANCE ?? (pins.instances.length === 1 ? pins.instances[0]?.name : undefined),
		console: settings.CONSOLE === "true",
		docsDirectory: settings.DOCS_DIR,
		// Without PUBLIC_URL any Host is allowed: the gateway demands a token, and its public names are unknown here.
		allowedHosts:
			settings.MCP_ALLOWED_HOSTS || signIn
				? [...(settings.MCP_ALLOWED_HOSTS ?? []), ...(signIn ? [new URL(signIn.publicUrl).hostname] : [])]
				: ("any" as const),
		allowedOrigins: settings.MCP_ALLOWED_ORIGINS ?? [],
		store: readStoreSettings(settings),
		signIn,
		log: readLogOptions(settings),
		warnings: [...(isWeak ? [warning] : []), ...(cannotShare ? [noSharing] : [])],
	};
}

/** Where a running gateway answers health checks. Throws a ConfigError. */
export function readHealthAddress(env: Record<string, string | undefined>): HealthAddress {
	const { settings, issues } = parseSettings(v.object(address), trimEnv(env));
	if (!settings) throw new ConfigError("the environment", issues);
	return {
		hostname: settings.GATEWAY_BIND_ADDR,
		port: settings.GATEWAY_PORT,
		path: "/readyz",
		portSetting: "GATEWAY_PORT",
	};
}

function readInstances({ dataset, addIssue }: v.RawTransformContext<string>): Entry[] {
	const instances: Entry[] = [];
	for (const [index, text] of dataset.value.split(",").entries()) {
		const issue = (message: string) => addIssue({ message: `entry ${index + 1}: ${message}` });
		const entry = text.trim();
		const equals = entry.indexOf("=");
		if (entry === "") {
			issue("is empty");
			continue;
		}
		if (equals < 0) {
			issue("expected name=url, such as alpha=http://127.0.0.1:9090");
			continue;
		}
		const name = entry.slice(0, equals).trim();
		const url = entry.slice(equals + 1).trim();
		const urlIssue = /[\s;][\w.-]+=/.test(url)
			? `expected a comma between two entries, received ${formatValue(url)}`
			: baseUrlIssue(url);
		if (!/^[A-Za-z0-9._-]+$/.test(name))
			issue(`expected an instance name of letters, digits, ".", "_" and "-", received ${JSON.stringify(name)}`);
		else if (instances.some((instance) => instance.name === name)) issue(`duplicate name ${JSON.stringify(name)}`);
		if (urlIssue) issue(urlIssue);
		const base = url.replace(/\/+$/, "").replace(/\/mcp$/, "");
		instances.push({ name, url, endpoint: `${base}/mcp` });
	}
	return instances;
}
