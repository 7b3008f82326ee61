import { describe, expect, test } from "bun:test";
import { readConfig } from "../../../src/gateway/config/config.ts";
import { ConfigError } from "../../../src/lib/config.ts";

const token = "0123456789abcdef";
const read = (env: Record<string, string | undefined> = {}) =>
	readConfig({ INSTANCES: "alpha=http://127.0.0.1:1", MCP_AUTH_TOKEN: token, ...env });

/** The issues, by line; none if there are none. */
function issues(env: Record<string, string | undefined>): string[] {
	try {
		read(env);
		return [];
	} catch (error) {
		if (!(error instanceof ConfigError)) throw error;
		expect(error.source).toBe("the environment");
		return [...error.issues];
	}
}

const guildA = "100000000000000001";
const guildB = "200000000000000002";
const unpinned = { pinned: new Set<string>(), barred: new Set<string>() };

test("everything but INSTANCES and MCP_AUTH_TOKEN has a default", () => {
	expect(read()).toEqual({
		instances: [{ name: "alpha", url: "http://127.0.0.1:1", endpoint: "http://127.0.0.1:1/mcp", ...unpinned }],
		token,
		port: 9100,
		bindAddress: "0.0.0.0",
		sharePort: false,
		upSocket: undefined,
		docsDirectory: undefined,
		refreshIntervalMs: 300_000,
		callTimeoutMs: 30_000,
		maxInFlight: 256,
		shutdownMs: 10_000,
		// The only instance.
		defaultInstance: "alpha",
		console: true,
		allowedHosts: "any",
		allowedOrigins: [],
		store: undefined,
		signIn: undefined,
		log: { format: "json", level: "info" },
		warnings: [],
	});
});

test("of several instances, none is the default", () => {
	const { defaultInstance } = read({ INSTANCES: "alpha=http://127.0.0.1:1,beta=http://127.0.0.1:2" });
	expect(defaultInstance).toBeUndefined();
});

test("everything can be set, with white space around it", () => {
	expect(
		read({
			INSTANCES: " alpha = http://a:1 ,\n beta=https://b ",
			MCP_AUTH_TOKEN: ` ${token}\n`,
			GATEWAY_PORT: " 0 ",
			GATEWAY_BIND_ADDR: " 127.0.0.1",
			GATEWAY_SHARE_PORT: "true ",
			REFRESH_INTERVAL_SECONDS: "1 ",
			CALL_TIMEOUT_SECONDS: "2",
			MAX_IN_FLIGHT: "3",
			SHUTDOWN_SECONDS: " 0",
			DEFAULT_INSTANCE: " beta ",
			CONSOLE: " false",
			GUILDS_ALPHA: guildA,
			GUILDS_BETA: ` ${guildA},\n${guildB} `,
			MCP_ALLOWED_HOSTS: "Gateway.example, [::2]",
			MCP_ALLOWED_ORIGINS: " https://chat.example ",
			GATEWAY_DATABASE: " postgres://me:secret@db/keys",
			GATEWAY_DB_SCHEMA: "mine ",
			LOG_FORMAT: "text",
			LOG_LEVEL: "warn",
		}),
	).toEqual({
		instances: [
			{
				name: "alpha",
				url: "http://a:1",
				endpoint: "http://a:1/mcp",
				pinned: new Set([guildA]),
				barred: new Set([guildB]),
			},
			{
				name: "beta",
				url: "https://b",
				endpoint: "https://b/mcp",
				pinned: new Set([guildA, guildB]),
				barred: new Set(),
			},
		],
		token,
		port: 0,
		bindAddress: "127.0.0.1",
		sharePort: process.platform === "linux",
		upSocket: undefined,
		docsDirectory: undefined,
		refreshIntervalMs: 1_000,
		callTimeoutMs: 2_000,
		maxInFlight: 3,
		shutdownMs: 0,
		defaultInstance: "beta",
		console: false,
		allowedHosts: ["gateway.example", "[::2]"],
		allowedOrigins: ["https://chat.example"],
		store: { database: "postgres://me:secret@db/keys", schema: "mine" },
		signIn: undefined,
		log: { format: "text", level: "warn" },
		warnings: process.platform === "linux" ? [] : [expect.stringContaining("GATEWAY_SHARE_PORT has no effect")],
	});
});

test("empty variables count as unset", () => {
	expect(
		read({
			GATEWAY_PORT: "",
			GATEWAY_BIND_ADDR: " ",
			REFRESH_INTERVAL_SECONDS: "",
			DEFAULT_INSTANCE: "",
			GUILDS_ALPHA: " ",
			GUILDS_NOBODY: "",
		}),
	).toEqual(read());
});

test.each(["gateway.sqlite", "/var/lib/guildhall/gateway.sqlite", "./with space/x"])(
	"GATEWAY_DATABASE may be the path %j",
	(path) => {
		expect(read({ GATEWAY_DATABASE: path }).store).toEqual({ database: path, schema: "guildhall_gateway" });
	},
);

const databaseUrl = "expected a URL such as postgres://user:password@host:5432/database";
test.each([
	[
		{ GATEWAY_DATABASE: "mysql://me:secret@db/keys" },
		"GATEWAY_DATABASE: expected the path of a file, or a URL such as postgres://user:password@host:5432/database",
	],
	[{ GATEWAY_DATABASE: "postgres://me:se/cret@db/keys" }, `GATEWAY_DATABASE: ${databaseUrl}`],
	[{ GATEWAY_DATABASE: "postgres://me:secret@db" }, `GATEWAY_DATABASE: ${databaseUrl}; the database is missing`],
	[{ GATEWAY_DB_SCHEMA: "pg_keys" }, 'GATEWAY_DB_SCHEMA: "pg_keys" is reserved by PostgreSQL; expected another name'],
])("of the database, %j is an issue that shows no password", (env, issue) => {
	expect(issues(env)).toEqual([issue]);
});

describe("the endpoint of an instance", () => {
	test.each([
		["http://a", "http://a/mcp"],
		["http://a/", "http://a/mcp"],
		["http://a/mcp", "http://a/mcp"],
		["http://a/mcp/", "http://a/mcp"],
		["http://a:9090/bots/x", "http://a:9090/bots/x/mcp"],
		["http://a/bots/mcp/", "http://a/bots/mcp"],
		["http://a/xmcp", "http://a/xmcp/mcp"],
		["http://[::1]:9090", "http://[::1]:9090/mcp"],
		["http://a/x=y", "http://a/x=y/mcp"],
	])("%s is %s, and the log shows it as it was written", (url, endpoint) => {
		expect(read({ INSTANCES: `a=${url}` }).instances).toEqual([{ name: "a", url, endpoint, ...unpinned }]);
	});
});

test.each(["a", "A9", "bot-1", "bot_1", "bot.eu", "-", "__proto__", "constructor"])("%j is a name", (name) => {
	expect(read({ INSTANCES: `${name}=http://a` }).instances[0]?.name).toBe(name);
});

const noUrl = "INSTANCES: entry 1: expected name=url, such as alpha=http://127.0.0.1:9090";

describe("GUILDS_<NAME>", () => {
	test.each([
		["alpha", "GUILDS_ALPHA"],
		["my-bot.eu", "GUILDS_MY_BOT_EU"],
		["Bot_2", "GUILDS_BOT_2"],
		["-", "GUILDS__"],
	])("of %s is %s", (name, variable) => {
		const INSTANCES = `${name}=http://a,other=http://b`;
		const { instances } = read({ INSTANCES, [variable]: guildA });
		expect(instances).toMatchObject([
			{ name, pinned: new Set([guildA]), barred: new Set() },
			{ name: "other", pinned: new Set(), barred: new Set([guildA]) },
		]);
	});

	test.each<[env: Record<string, string>, issues: string[]]>([
		[
			{ GUILDS_ALHPA: guildA },
			["GUILDS_ALHPA: INSTANCES has no instance for this variable; did you mean GUILDS_ALPHA?"],
		],
		[
			{ GUILDS_alpha: guildA },
			["GUILDS_alpha: INSTANCES has no instance for this variable; did you mean GUILDS_ALPHA?"],
		],
		[
			{ GUILDS_: guildA, GUILDS_SOMEBODY_ELSE: guildA },
			[
				"GUILDS_: INSTANCES has no instance for this variable",
				"GUILDS_SOMEBODY_ELSE: INSTANCES has no instance for this variable",
			],
		],
		[
			{ INSTANCES: "a-b=http://a,a_b=http://b,A.B=http://c", GUILDS_A_B: guildA },
			[
				"GUILDS_A_B: pins guilds to several instances (a-b, a_b, A.B), because their names differ only in case or punctuation: rename all but one of these instances in INSTANCES",
			],
		],
		...["x", `${guildA},`, `${guildA} ${guildB}`, "123", "1".repeat(21)].map(
			(value): [Record<string, string>, string[]] => [
				{ GUILDS_ALPHA: value },
				[
					expect.stringMatching(
						/^GUILDS_ALPHA: expected guild ids of 17 to 20 digits, separated by commas, received "/,
					),
				],
			],
		),
		[
			{ GUILDS_ALPHA: "x", GATEWAY_PORT: "x" },
			[expect.stringMatching(/^GATEWAY_PORT: /), expect.stringMatching(/^GUILDS_ALPHA: /)],
		],
		// Where INSTANCES is at issue, nobody knows who is meant.
		[{ INSTANCES: "alpha", GUILDS_ALPHA: guildA }, [noUrl]],
	])("%j is an issue", (env, expected) => {
		expect(issues(env)).toEqual(expected);
	});

	test("is no matter between two names that are written alike, where it is not set", () => {
		expect(issues({ INSTANCES: "a-b=http://a,a_b=http://b" })).toEqual([]);
	});
});

describe("every issue is found", () => {
	test.each<[INSTANCES: string | undefined, issues: string[]]>([
		[undefined, ["INSTANCES: is required"]],
		["", ["INSTANCES: is required"]],
		[" ", ["INSTANCES: is required"]],
		[",", ["INSTANCES: entry 1: is empty", "INSTANCES: entry 2: is empty"]],
		["a=http://a,", ["INSTANCES: entry 2: is empty"]],
		["a=http://a,,b=http://b", ["INSTANCES: entry 2: is empty"]],
		["a", [noUrl]],
		["http://a:9090", [noUrl]],
		["a=http://a,a=http://b", ['INSTANCES: entry 2: duplicate name "a"']],
	])("in INSTANCES=%j", (INSTANCES, expected) => {
		expect(issues({ INSTANCES })).toEqual(expected);
	});

	test.each([
		...["=http://a", "a b=http://a", "ä=http://a", "a/b=http://a", "a:b=http://a"],
		...["a=", "a=a", "a=ftp://a", "a==http://a", "a=//a", "a=http://", "a=http:a"],
		...["a=http://a?x", "a=http://a#x", "a=http://a b", "a=unix:/x"],
	])("in INSTANCES=%j", (INSTANCES) => {
		expect(issues({ INSTANCES })).toEqual([
			expect.stringMatching(/^INSTANCES: entry 1: (expected an instance name|expected a URL)/),
		]);
	});

	test("names that differ in case differ", () => {
		expect(issues({ INSTANCES: "a=http://a,A=http://a" })).toEqual([]);
	});

	test.each<[name: string, value: string]>([
		["GATEWAY_PORT", "x"],
		["GATEWAY_PORT", "-1"],
		["GATEWAY_PORT", "65536"],
		["GATEWAY_PORT", "80.5"],
		["REFRESH_INTERVAL_SECONDS", "0"],
		["REFRESH_INTERVAL_SECONDS", "-5"],
		["REFRESH_INTERVAL_SECONDS", "5m"],
		["REFRESH_INTERVAL_SECONDS", "1e3"],
		["DEFAULT_INSTANCE", "gamma"],
		["DEFAULT_INSTANCE", "Alpha"],
	])("in %s=%j", (name, value) => {
		expect(issues({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name}: expected `))]);
	});

	test.each([undefined, "", "  ", "two words", "tökën-tökën-tökën", "a\u0007b"])(
		"in MCP_AUTH_TOKEN=%j",
		(MCP_AUTH_TOKEN) => {
			expect(issues({ MCP_AUTH_TOKEN })).toEqual([
				expect.stringMatching(/^MCP_AUTH_TOKEN: (is required|expected visible)/),
			]);
		},
	);

	test.each<[env: Record<string, string | undefined>, issue: string]>([
		[
			{ INSTANCES: undefined, INSTANCE: "a=http://a" },
			"INSTANCES: is required; INSTANCE is set: is it meant to be this one?",
		],
		[
			{ MCP_AUTH_TOKEN: undefined, MCP_TOKEN: "hunter2" },
			"MCP_AUTH_TOKEN: is required; MCP_TOKEN is set: is it meant to be this one?",
		],
		[
			{ INSTANCES: "alpha=http://a:1 beta=http://b:1" },
			'INSTANCES: entry 1: expected a comma between two entries, received "http://a:1 beta=http://b:1"',
		],
		[
			{ MCP_AUTH_TOKEN: `Bearer ${token}` },
			'MCP_AUTH_TOKEN: expected visible ASCII without spaces; leave out "Bearer " at its beginning',
		],
		[
			{ MCP_AUTH_TOKEN: "your-shared-token" },
			'MCP_AUTH_TOKEN: is still a placeholder: what begins "your-" counts as not filled in. Put the bots\' MCP_AUTH_TOKEN there',
		],
		[
			{ INSTANCES: "alpha=http://a", DEFAULT_INSTANCE: "alhpa" },
			'DEFAULT_INSTANCE: expected a name from INSTANCES, received "alhpa"; did you mean alpha?',
		],
		[
			{ LOG_LEVEL: "warning" },
			'LOG_LEVEL: expected ("debug" | "info" | "warn" | "error"), received "warning"; did you mean warn?',
		],
	])("of the commonest in %j, with what to do", (env, issue) => {
		expect(issues(env)).toEqual([issue]);
	});

	test("at once", () => {
		expect(
			issues({
				INSTANCES: "a=http://a,,b=x",
				MCP_AUTH_TOKEN: "",
				GATEWAY_PORT: "x",
				REFRESH_INTERVAL_SECONDS: "x",
			}).map((issue) => issue.replace(/(: entry \d)?: .*/, "$1")),
		).toEqual([
			"INSTANCES: entry 2",
			"INSTANCES: entry 3",
			"MCP_AUTH_TOKEN",
			"GATEWAY_PORT",
			"REFRESH_INTERVAL_SECONDS",
		]);
	});

	test("at once, the default instance's beside others'", () => {
		expect(issues({ MCP_AUTH_TOKEN: "", GATEWAY_PORT: "x", DEFAULT_INSTANCE: "gamma" })).toHaveLength(3);
	});
});

test("no issue shows a token or credentials", () => {
	const secret = "hunter2 hunter2";
	const shown = issues({
		INSTANCES: "a=http://ada:hunter2@a,b=http://hunter2@b/?x",
		MCP_AUTH_TOKEN: secret,
		DEFAULT_INSTANCE: "gamma",
	}).join();
	expect(shown).not.toContain("hunter2");
	expect(shown).toContain("without a user name and password");
});

test("a token under 16 characters is a warning that does not show it", () => {
	expect(read({ MCP_AUTH_TOKEN: "0123456789abcdef" }).warnings).toEqual([]);
	const { warnings } = read({ MCP_AUTH_TOKEN: "0123456789abcde" });
	expect(warnings).toEqual([expect.stringContaining("MCP_AUTH_TOKEN")]);
	expect(warnings.join()).not.toContain("0123456789abcde");
});
