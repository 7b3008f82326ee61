// new-instance, in this process; main.long.test.ts starts the programs.

import { expect, test } from "bun:test";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { readConfig } from "../../../src/bot/config/config.ts";
import { example as exampleFiles } from "../../../src/bot/config/example.ts";
import { deniableTools } from "../../../src/bot/features/index.ts";
import { makeInstance } from "../../../src/bot/setup/new-instance.ts";
import { newInstance, parseNewInstance } from "../../../src/bot/setup/new-instance-report.ts";
import { readConfig as readGatewayConfig } from "../../../src/gateway/config/config.ts";
import { ConfigError } from "../../../src/lib/config.ts";
import { openPlace } from "../../support/place.ts";
import { testWith } from "../../support/test-with.ts";

const placeTest = testWith(() => workplace());

const example = join(import.meta.dir, "../../../instances/example");

/** A working directory that goes with the test. */
function workplace() {
	const { path, at, read, write, [Symbol.dispose]: dispose } = openPlace();
	return {
		path,
		instances: at("instances"),
		/** What the command line does there, in this process. */
		run(...args: string[]) {
			const parsed = parseNewInstance(args);
			const { code, text } = "code" in parsed ? parsed : newInstance(parsed.name, parsed.directory, path);
			return code === 0 ? { code, stdout: text, stderr: "" } : { code, stdout: "", stderr: text };
		},
		/** An instance that someone has made by hand. */
		add: (name: string, env: string) => write(`instances/${name}/.env`, env),
		env: (name: string) => parseEnv(read(`instances/${name}/.env`)),
		/** Every file there is, with its text. */
		files: () =>
			readdirSync(path, { recursive: true, encoding: "utf8" })
				.filter((name) => statSync(at(name)).isFile())
				.sort()
				.map((name) => [name, read(name)]),
		[Symbol.dispose]: dispose,
	};
}

const instancesLine = (stdout: string) => /^INSTANCES=(.*)$/m.exec(stdout)?.[1] ?? "";

placeTest("the first instance has what can be known, and says what is left to fill in", (place) => {
	const { stdout, stderr, code } = place.run("alpha");
	expect([code, stderr]).toEqual([0, ""]);
	expect(readdirSync(join(place.instances, "alpha")).sort()).toEqual(
		readdirSync(example, { withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map(({ name }) => name)
			.sort(),
	);
	expect(readdirSync(place.instances)).toEqual(["alpha"]);
	const { MCP_AUTH_TOKEN = "", ...env } = place.env("alpha");
	expect(MCP_AUTH_TOKEN).toMatch(/^[0-9a-f]{64}$/);
	expect(env).toMatchObject({ MCP_PORT: "9090", DB_SCHEMA: "alpha" });
	expect(stdout).not.toContain(MCP_AUTH_TOKEN);
	for (const part of [
		"Wrote instances/alpha: .env, config.toml, config.schema.json, personality.txt.",
		"MCP_AUTH_TOKEN  a new one; it is in instances/alpha/.env",
		"\nINSTANCES=alpha=http://127.0.0.1:9090\n",
		"\nhttps://discord.com/oauth2/authorize?client_id=CLIENT_ID&scope=bot%20applications.commands&permissions=",
		"CLIENT_ID is not set yet",
		"\nLeft to fill in:\n",
		"\nOptional:\n  CLIENT_ID in",
		"  DISCORD_TOKEN in instances/alpha/.env, line ",
		"Bot → Reset Token",
		"  CLIENT_ID in instances/alpha/.env, line ",
		"  GUILD_ID in instances/alpha/.env, line ",
		"\nCONFIG_DIR=instances/alpha bun run bot --check\n",
	])
		expect(stdout).toContain(part);
	for (const filled of ["MCP_AUTH_TOKEN in", "DB_SCHEMA in", "command_prefix"]) expect(stdout).not.toContain(filled);
});

placeTest("the bot reads it once its token is filled in, and every comment is there still", (place) => {
	place.run("Alpha-1.x");
	const directory = join(place.instances, "Alpha-1.x");
	const config = readConfig({ CONFIG_DIR: directory, DISCORD_TOKEN: "token" }, deniableTools);
	expect(config).toMatchObject({
		botName: "Alpha-1.x",
		command: "!m",
		dbSchema: "alpha_1_x",
		mcpPort: 9090,
		clientId: undefined,
		guildId: undefined,
	});
	expect(config.personality).toBeString();
	for (const file of [".env", "config.toml"]) {
		const lines = (path: string) => readFileSync(join(path, file), "utf8").split("\n");
		const before = lines(example);
		const changed = lines(directory).filter((line, at) => line !== before[at]);
		expect(changed.map((line) => line.split(/\s*=/)[0])).toEqual(
			file === ".env" ? ["DB_SCHEMA", "MCP_PORT", "MCP_AUTH_TOKEN"] : ["bot_name"],
		);
	}
});

placeTest("only the owner may enter its directory and read its .env", (place) => {
	place.run("alpha");
	const mode = (...path: string[]) => statSync(join(place.instances, ...path)).mode & 0o777;
	expect(mode("alpha")).toBe(0o700);
	expect(mode("alpha", ".env")).toBe(0o600);
});

placeTest("a second run of the same name is refused and changes nothing", (place) => {
	place.run("alpha");
	const before = place.files();
	const { stdout, stderr, code } = place.run("alpha");
	expect([code, stdout]).toEqual([1, ""]);
	expect(stderr).toContain("alpha: a file or directory of this name already exists; nothing was changed");
	expect(place.files()).toEqual(before);
	expect(readdirSync(place.instances)).toEqual(["alpha"]);
});

placeTest("a name that differs from an existing one by case only is refused", (place) => {
	place.run("alpha");
	const before = place.files();
	for (const name of ["Alpha", "ALPHA"]) {
		const { stderr, code } = place.run(name);
		expect(code).toBe(1);
		// A file system that does not distinguish the names has the directory already.
		expect(stderr).toMatch(
			/: (its name differs from "alpha" by case only|a file or directory of this name already exists)/,
		);
	}
	expect(place.files()).toEqual(before);
	expect(readdirSync(place.instances)).toEqual(["alpha"]);
});

test.each([
	["an empty directory", (path: string) => mkdirSync(path)],
	["a file", (path: string) => writeFileSync(path, "mine")],
	["a link to nowhere", (path: string) => symlinkSync("/nowhere", path)],
])("%s of that name is left as it is", (_, make) => {
	using place = workplace();
	mkdirSync(place.instances);
	make(join(place.instances, "alpha"));
	const { stderr, code } = place.run("alpha");
	expect(code).toBe(1);
	expect(stderr).toContain("alpha: a file or directory of this name already exists");
	expect(readdirSync(place.instances)).toEqual(["alpha"]);
	expect(existsSync(join(place.instances, "alpha", ".env"))).toBe(false);
});

placeTest(
	"three instances share one token, and have ports and schemas of their own, as the gateway reads them",
	(place) => {
		const names = ["gamma", "alpha", "Alpha_"];
		let stdout = "";
		for (const name of names) ({ stdout } = place.run(name));
		const envs = names.map(place.env);
		const token = envs[0]?.MCP_AUTH_TOKEN ?? "";
		expect(envs).toMatchObject([
			{ MCP_AUTH_TOKEN: token, MCP_PORT: "9090", DB_SCHEMA: "gamma" },
			{ MCP_AUTH_TOKEN: token, MCP_PORT: "9091", DB_SCHEMA: "alpha" },
			{ MCP_AUTH_TOKEN: token, MCP_PORT: "9092", DB_SCHEMA: "alpha_" },
		]);
		expect(stdout).not.toContain(token);
		expect(stdout).not.toContain("Note:");
		expect(stdout).toContain("MCP_AUTH_TOKEN  the one of instances/alpha/.env; it is in instances/Alpha_/.env");
		expect(stdout).toContain("  command_prefix in instances/Alpha_/config.toml");
		const { instances } = readGatewayConfig({ INSTANCES: instancesLine(stdout), MCP_AUTH_TOKEN: token });
		expect(instances.map(({ name, endpoint }) => [name, endpoint])).toEqual([
			["gamma", "http://127.0.0.1:9090/mcp"],
			["alpha", "http://127.0.0.1:9091/mcp"],
			["Alpha_", "http://127.0.0.1:9092/mcp"],
		]);
	},
);

placeTest(
	"what others have is respected: ports, schemas, the gateway's port, a token that needs quotation marks",
	(place) => {
		const odd = "x$&y#'z";
		const ports = [9090, 9091, ...Array.from({ length: 8 }, (_, at) => 9092 + at)];
		place.add("a-default", "DB_SCHEMA=new_one\n");
		place.add("b", `MCP_AUTH_TOKEN="${odd}"\nMCP_PORT=9091\nDB_SCHEMA=new_one_2`);
		for (const port of ports.slice(2)) place.add(`p${port}`, `MCP_PORT=${port}`);
		place.add("example", "MCP_AUTH_TOKEN=never-this-one\n");
		mkdirSync(join(place.instances, "notes"));
		const { stdout } = place.run("new-one");
		expect(place.env("new-one")).toMatchObject({ MCP_AUTH_TOKEN: odd, MCP_PORT: "9101", DB_SCHEMA: "new_one_3" });
		expect(stdout).not.toContain(odd);
		expect(instancesLine(stdout).split(",")).toEqual([
			"a-default=http://127.0.0.1:9090",
			"b=http://127.0.0.1:9091",
			...ports.slice(2).map((port) => `p${port}=http://127.0.0.1:${port}`),
			"new-one=http://127.0.0.1:9101",
		]);
	},
);

placeTest("the token is that of gateway.env if up has made one, and up is a next step", (place) => {
	place.add("alpha", "MCP_AUTH_TOKEN=of-alpha\n");
	writeFileSync(join(place.instances, "gateway.env"), "MCP_AUTH_TOKEN=of-the-gateway\n", { mode: 0o600 });
	const { stdout } = place.run("beta");
	expect(place.env("beta").MCP_AUTH_TOKEN).toBe("of-the-gateway");
	expect(stdout).toContain("the one of instances/gateway.env; it is in");
	expect(stdout).not.toContain("of-the-gateway");
	expect(stdout).toEndWith("\nbun run up\n");
});

placeTest("what keeps the others from being reached is said", (place) => {
	place.add("a", "MCP_PORT=9095\nMCP_AUTH_TOKEN=one-token\n");
	place.add("b", "MCP_PORT=9095\nMCP_AUTH_TOKEN=other-token\n");
	place.add("c", "MCP_PORT=0\nMCP_AUTH_TOKEN=your-shared-token\n");
	place.add("my bot", "");
	const { stdout } = place.run("d");
	for (const note of [
		"a and b have the same MCP_PORT 9095",
		'"c" is left out: its MCP_PORT is not a fixed port',
		'"my bot" is left out: the gateway does not accept this name',
		"The instances have different values of MCP_AUTH_TOKEN",
	])
		expect(stdout).toContain(`Note: ${note}`);
	expect(stdout).not.toMatch(/one-token|other-token/);
	expect(place.env("d").MCP_AUTH_TOKEN).toBe("one-token");
});

test.each([
	...[
		"",
		".",
		"..",
		"../alpha",
		"/tmp/alpha",
		"a/b",
		"a\\b",
		"a b",
		"a,b",
		"a=b",
		"a\nb",
		'a"b',
		"$(id)",
		"ä",
		".hidden",
	],
	...["example", "gateway", "Gateway", "Example", "your-bot", "a".repeat(41)],
])("the name %j is refused, and nothing is made", (name) => {
	using place = workplace();
	const { stdout, stderr, code } = place.run("--", name);
	expect([code, stdout]).toEqual([1, ""]);
	expect(stderr).toContain("the command line has 1 error:\n  name: ");
	expect(stderr.trim().split("\n")).toHaveLength(2);
	expect(readdirSync(place.path)).toEqual([]);
});

test.each([
	["1st", "bot_1st"],
	["pg_bot", "bot_pg_bot"],
	["public", "bot_public"],
	["Information_Schema", "bot_information_schema"],
	["a".repeat(40), "a".repeat(40)],
])("the schema of %s is %s", (name, schema) => {
	using place = workplace();
	expect(makeInstance(name, place.instances, exampleFiles).schema).toBe(schema);
	const config = readConfig(
		{ CONFIG_DIR: join(place.instances, name), DISCORD_TOKEN: "token", DATABASE_URL: "postgres://a:b@127.0.0.1/c" },
		deniableTools,
	);
	expect(config.dbSchema).toBe(schema);
});

placeTest("the command line: help, another directory, and what is no option", (place) => {
	const help = place.run("--help");
	expect(help.code).toBe(0);
	expect(help.stdout).toContain("Usage: bun run new-instance <name>");
	for (const args of [["--force", "a"], ["-x"], [], ["a", "b"], ["a", "--directory="]]) {
		const { stdout, stderr, code } = place.run(...args);
		expect([code, stdout]).toEqual([2, ""]);
		expect(stderr).toContain("Usage: bun run new-instance <name>");
	}
	expect(readdirSync(place.path)).toEqual([]);
	const { stdout, code } = place.run("a", "--directory", "my bots");
	expect(code).toBe(0);
	expect(stdout).toContain("CONFIG_DIR='my bots/a' bun run bot --check");
	expect(readdirSync(join(place.path, "my bots"))).toEqual(["a"]);
});

placeTest("a directory that is a file is an issue that says where", (place) => {
	const file = join(place.path, "file");
	writeFileSync(file, "");
	const { stderr, code } = place.run("a", "--directory", "file");
	expect(code).toBe(1);
	expect(stderr).toContain(`${file} has 1 error:`);
	const make = () => makeInstance("a", file, exampleFiles);
	expect(make).toThrow(ConfigError);
});

placeTest("an example that lacks a line is an issue, and nothing is made", (place) => {
	const broken = new Map([...exampleFiles, [".env", "MCP_PORT=1\n"]]);
	expect(() => makeInstance("a", place.instances, broken)).toThrow("DB_SCHEMA");
	expect(existsSync(place.instances)).toBe(false);
});

// Root may write everywhere.
test.skipIf(process.getuid?.() === 0)("where nothing may be written, nothing is left behind", () => {
	using place = workplace();
	mkdirSync(place.instances);
	chmodSync(place.instances, 0o500);
	const { stderr, code } = place.run("a");
	chmodSync(place.instances, 0o700);
	expect(code).toBe(1);
	expect(stderr).toContain("cannot be written (EACCES)");
	expect(readdirSync(place.instances)).toEqual([]);
});

placeTest("what a run that was killed has left is no instance", (place) => {
	place.add(".new-instance-Ab12Cd", "MCP_PORT=9090\nMCP_AUTH_TOKEN=left\n");
	const { stdout } = place.run("a");
	expect(instancesLine(stdout)).toBe("a=http://127.0.0.1:9090");
	expect(place.env("a").MCP_AUTH_TOKEN).not.toBe("left");
});
