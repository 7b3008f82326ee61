import { expect, test } from "bun:test";
import { botEnvironment, cacheEnvironment, gatewayEnvironment, shownLevel } from "../../src/up/environment.ts";

const machine = {
	PATH: "/bin",
	HOME: "/home/me",
	TZ: "Europe/Berlin",
	https_proxy: "http://proxy:3128",
	DISCORD_TOKEN: "of the shell",
	DATA_DIR: "/elsewhere",
	OPENAI_API_KEY: "key",
	MCP_AUTH_TOKEN: "of the shell",
	GUILDS_ALPHA: "1",
};
const bot = { path: "/srv/instances/alpha", port: 9090, token: "shared" };

test("a bot gets its own variables and a few of the machine", () => {
	expect(botEnvironment(machine, { OTHER: "1" }, bot)).toEqual({
		TZ: "Europe/Berlin",
		https_proxy: "http://proxy:3128",
		LOG_FORMAT: "json",
		LOG_LEVEL: "info",
		STOP_WITH_STDIN: "1",
		CONFIG_DIR: "/srv/instances/alpha",
		MCP_PORT: "9090",
		MCP_BIND_ADDR: "127.0.0.1",
		MCP_AUTH_TOKEN: "shared",
	});
});

test("only a program from the sources is told where Bun's cache is", () => {
	expect(cacheEnvironment(machine, true)).toEqual({ HOME: "/home/me" });
	expect(cacheEnvironment(machine, false)).toEqual({});
});

const options = {
	database: "/srv/instances/gateway.sqlite",
	token: "shared",
	ports: new Map([
		["alpha", 9090],
		["beta", 9091],
	]),
	socket: "instances/.up/control.sock",
	sharePort: true,
};

test("the gateway gets defaults, the addresses of the bots and the token", () => {
	expect(gatewayEnvironment(machine, {}, options)).toEqual({
		TZ: "Europe/Berlin",
		https_proxy: "http://proxy:3128",
		LOG_FORMAT: "json",
		LOG_LEVEL: "info",
		STOP_WITH_STDIN: "1",
		GATEWAY_BIND_ADDR: "127.0.0.1",
		GATEWAY_DATABASE: "/srv/instances/gateway.sqlite",
		SHUTDOWN_SECONDS: "30",
		GATEWAY_SHARE_PORT: "true",
		MCP_AUTH_TOKEN: "shared",
		GATEWAY_UP_SOCKET: "instances/.up/control.sock",
		INSTANCES: "alpha=http://127.0.0.1:9090,beta=http://127.0.0.1:9091",
	});
});

test("gateway.env overrides the defaults, and GATEWAY_… of this process overrides gateway.env", () => {
	const own = {
		GATEWAY_BIND_ADDR: "0.0.0.0",
		GATEWAY_PORT: "9200",
		PUBLIC_URL: "https://mcp.example",
		GUILDS_ALPHA: "123456789012345678",
		SHUTDOWN_SECONDS: "5",
	};
	expect(gatewayEnvironment({ GATEWAY_PORT: "9300" }, own, options)).toMatchObject({ ...own, GATEWAY_PORT: "9300" });
});

test("gateway.env cannot change what up decides", () => {
	const own = {
		INSTANCES: "evil=http://evil.example",
		LOG_FORMAT: "text",
		STOP_WITH_STDIN: "",
		MCP_AUTH_TOKEN: "other",
	};
	expect(gatewayEnvironment({}, own, options)).toEqual(gatewayEnvironment({}, {}, options));
});

test("a program logs at least at level info, and the level of this process comes before its own", () => {
	const level = (all: string | undefined, own: string | undefined) => {
		const env = { LOG_LEVEL: all };
		return [botEnvironment(env, { LOG_LEVEL: own }, bot).LOG_LEVEL, shownLevel(env, { LOG_LEVEL: own })];
	};
	expect(level(undefined, undefined)).toEqual(["info", "info"]);
	expect(level(undefined, "error")).toEqual(["info", "error"]);
	expect(level("debug", "error")).toEqual(["debug", "debug"]);
	expect(level("warn", "debug")).toEqual(["info", "warn"]);
	expect(level("", "nonsense")).toEqual(["info", "info"]);
});
