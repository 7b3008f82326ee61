// What a gateway's environment may say.

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
	originList,
	parseSettings,
	port,
	secret,
	trimEnv,
} from "../lib/config.ts";
import type { HealthAddress } from "../lib/health.ts";
import { describeVariables } from "../lib/help.ts";
import { type LogOptions, logSettings, readLogOptions } from "../lib/log.ts";
import type { AllowedHosts } from "../mcp/access.ts";
import { maxQuietSeconds } from "../mcp/read-message.ts";
import { type Pins, pinGuilds } from "./pins.ts";

/** A bot behind the gateway, as INSTANCES has it. */
interface Entry {
	/** The routing key. */
	name: string;
	/** As the operator wrote it, for logs. */
	url: string;
	/** Its MCP endpoint. */
	endpoint: string;
}

export type Instance = Entry & Pins;

export interface GatewayConfig {
	instances: readonly Instance[];
	/** The bearer token: clients must send it, and the gateway sends it to the bots. */
	token: string;
	port: number;
	bindAddress: string;
	refreshIntervalMs: number;
	/** What a call may take, from its arrival to the last byte of the bot's answer. */
	callTimeoutMs: number;
	/** How many calls one bot may be busy with at once. */
	maxInFlight: number;
	/** How long calls in flight are waited for at the end. */
	shutdownMs: number;
	/** Where a call goes that names neither instance nor guild. */
	defaultInstance: string | undefined;
	/** The names that clients may call the gateway by. */
	allowedHosts: AllowedHosts;
	/** Web pages from elsewhere that may call it. */
	allowedOrigins: readonly string[];
	log: LogOptions;
	/** What is allowed but unwise, for the log. */
	warnings: readonly string[];
}

const minTokenLength = 16;

/** Where it listens. */
const address = {
	GATEWAY_PORT: v.pipe(
		v.optional(port, "9100"),
		v.description("Port to listen on; 0 takes any free port"),
	),
	GATEWAY_BIND_ADDR: v.pipe(
		v.optional(v.string(), "0.0.0.0"),
		v.description("Address to listen on"),
	),
};

export const variables = {
	INSTANCES: v.pipe(
		v.string(),
		v.rawTransform(readInstances),
		v.description(
			"Bots as name=url,name=url, such as alpha=http://127.0.0.1:9090",
		),
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
	REFRESH_INTERVAL_SECONDS: v.pipe(
		v.optional(integer(1, 86_400), "300"),
		v.description("Time between two refreshes of every bot's guilds and tools"),
	),
	CALL_TIMEOUT_SECONDS: v.pipe(
		// Less than what an exchange may be quiet for.
		v.optional(integer(1, maxQuietSeconds - 15), "30"),
		v.description(
			"Timeout of a call, from its arrival to the end of the bot's response",
		),
	),
	MAX_IN_FLIGHT: v.pipe(
		v.optional(integer(1, 10_000), "256"),
		v.description("Concurrent calls per bot"),
	),
	SHUTDOWN_SECONDS: v.pipe(
		v.optional(integer(0, 3_600), "10"),
		v.description("How long a shutdown waits for calls in flight"),
	),
	DEFAULT_INSTANCE: v.pipe(
		v.optional(v.string()),
		v.description(
			"Instance for calls that name neither an instance nor a guild",
		),
	),
	...logSettings,
	MCP_ALLOWED_HOSTS: v.pipe(
		v.optional(hostList),
		v.description(
			"Host names that clients may use for the gateway, separated by commas",
		),
		v.metadata({ default: "any" }),
	),
	MCP_ALLOWED_ORIGINS: v.pipe(
		v.optional(originList),
		v.description(
			"Origins of web pages that may call it from a browser, separated by commas",
		),
		v.metadata({ default: "none" }),
	),
};

/** The variables as `--help` lists them. */
export const variablesHelp = describeVariables({
	...variables,
	"GUILDS_<NAME>": v.pipe(
		v.optional(v.string()),
		v.description(
			"Ids of guilds that belong to this instance alone, separated by commas; GUILDS_MY_BOT is for my-bot",
		),
	),
});

const environment = v.pipe(
	v.object(variables),
	v.forward(
		v.partialCheck(
			[["INSTANCES"], ["DEFAULT_INSTANCE"]],
			({ INSTANCES, DEFAULT_INSTANCE }) =>
				DEFAULT_INSTANCE === undefined ||
				INSTANCES.some(({ name }) => name === DEFAULT_INSTANCE),
			({ input: { INSTANCES, DEFAULT_INSTANCE = "" } }) => {
				const names = INSTANCES.map(({ name }) => name);
				return `expected a name from INSTANCES, received ${formatValue(DEFAULT_INSTANCE)}${didYouMean(DEFAULT_INSTANCE, names)}`;
			},
		),
		["DEFAULT_INSTANCE"],
	),
);

/** The configuration in `env`. Throws a ConfigError with every issue. */
export function readConfig(
	env: Record<string, string | undefined>,
): GatewayConfig {
	const given = trimEnv(env);
	const { settings, issues } = checkSettings(environment, given);
	const listed = v.safeParse(variables.INSTANCES, given.INSTANCES);
	// Without valid INSTANCES the names are unknown.
	const pins = listed.success
		? pinGuilds(listed.output, given)
		: { instances: [], issues: [] };
	if (!settings || pins.issues.length > 0)
		throw new ConfigError("the environment", [
			...nameNearMisses(issues, given, Object.keys(variables)).map(formatIssue),
			...pins.issues,
		]);
	const warnings: string[] = [];
	if (settings.MCP_AUTH_TOKEN.length < minTokenLength)
		warnings.push(
			`MCP_AUTH_TOKEN has fewer than ${minTokenLength} characters: anyone who guesses it controls every bot`,
		);
	return {
		instances: pins.instances,
		token: settings.MCP_AUTH_TOKEN,
		port: settings.GATEWAY_PORT,
		bindAddress: settings.GATEWAY_BIND_ADDR,
		refreshIntervalMs: settings.REFRESH_INTERVAL_SECONDS * 1000,
		callTimeoutMs: settings.CALL_TIMEOUT_SECONDS * 1000,
		maxInFlight: settings.MAX_IN_FLIGHT,
		shutdownMs: settings.SHUTDOWN_SECONDS * 1000,
		defaultInstance: settings.DEFAULT_INSTANCE,
		// It demands a token, and is published under names that we cannot know.
		allowedHosts: settings.MCP_ALLOWED_HOSTS ?? "any",
		allowedOrigins: settings.MCP_ALLOWED_ORIGINS ?? [],
		log: readLogOptions(settings),
		warnings,
	};
}

/** Where the gateway with this environment says whether it is ready. Throws a ConfigError for an issue in that alone. */
export function readHealthAddress(
	env: Record<string, string | undefined>,
): HealthAddress {
	const { settings, issues } = parseSettings(v.object(address), trimEnv(env));
	if (!settings) throw new ConfigError("the environment", issues);
	return {
		hostname: settings.GATEWAY_BIND_ADDR,
		port: settings.GATEWAY_PORT,
		path: "/readyz",
		portSetting: "GATEWAY_PORT",
	};
}

function readInstances({
	dataset,
	addIssue,
}: v.RawTransformContext<string>): Entry[] {
	const instances: Entry[] = [];
	for (const [index, text] of dataset.value.split(",").entries()) {
		const issue = (message: string) =>
			addIssue({ message: `entry ${index + 1}: ${message}` });
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
		const urlFault = /[\s;][\w.-]+=/.test(url)
			? `expected a comma between two entries, received ${formatValue(url)}`
			: baseUrlIssue(url);
		if (!/^[A-Za-z0-9._-]+$/.test(name))
			issue(
				`a name is made of letters, digits, ".", "_" and "-", received ${JSON.stringify(name)}`,
			);
		else if (instances.some((instance) => instance.name === name))
			issue(`duplicate name ${JSON.stringify(name)}`);
		if (urlFault) issue(urlFault);
		const base = url.replace(/\/+$/, "").replace(/\/mcp$/, "");
		instances.push({ name, url, endpoint: `${base}/mcp` });
	}
	return instances;
}
