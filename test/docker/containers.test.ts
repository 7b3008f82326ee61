// Starts what docker/ describes, without containers: the image's files as the Dockerfile builds them, and the
// environments, users and health checks of the services. Only paths, ports and host names are replaced by those of this
// machine.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
	chmodSync,
	chownSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { SQL } from "bun";
import { freePort } from "../../src/demo/ports.ts";
import { moderatorPermissions } from "../../src/simulator/seed.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { databasePasswords, readCompose, type Service } from "../support/compose.ts";
import { type Container, startContainer } from "../support/containers.ts";
import { buildImages, type Image } from "../support/images.ts";
import { connectTo } from "../support/mcp.ts";
import { type Postgres, postgresMissing, startPostgres } from "../support/postgres.ts";
import { becomesReady, type Program } from "../support/program.ts";
import { exchange, requestText } from "../support/raw-http.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const token = "0123456789abcdef0123456789abcdef";
const names = ["bot", "alpha", "beta", "gamma"];
/** docker/.env. */
const environment = { MCP_AUTH_TOKEN: token, POSTGRES_PASSWORD: "none", ...databasePasswords };
/** Whose the instances are; root alone can give something away. */
const isRoot = process.getuid?.() === 0;
const owner = isRoot ? 12_345 : (process.getuid?.() ?? 0);

let directory: string;
let image: Image;
let simulator: Simulator;
let postgres: Postgres | undefined;

beforeAll(async () => {
	directory = mkdtempSync(join(tmpdir(), "guildhall-images-"));
	chmodSync(directory, 0o755);
	image = await imageIn(directory);
	const invited = { permissions: moderatorPermissions };
	simulator = await startSimulator({
		seed: {
			bots: names.map((username) => ({ username })),
			users: [{ username: "ada" }],
			guilds: names.map((username) => ({
				name: `The guild of ${username}`,
				owner: "ada",
				channels: [{ name: "general" }],
				bots: [{ username, ...invited }],
			})),
		},
	});
	if (postgresMissing) return;
	postgres = await startPostgres();
	await postgres.admin("CREATE DATABASE guildhall");
	const url = postgres.url.replace(/postgres$/, "guildhall");
	await using sql = new SQL({ url, max: 1 });
	// What bot-roles.sh does is in bot-roles.test.ts.
	for (const name of ["gateway", ...names])
		await sql.unsafe(`CREATE ROLE ${name} LOGIN PASSWORD 'of-${name}'; CREATE SCHEMA ${name} AUTHORIZATION ${name}`);
});

afterAll(async () => {
	await simulator?.close();
	await postgres?.[Symbol.asyncDispose]();
	rmSync(directory, { recursive: true, force: true });
});

/** Builds our image below `directory`. */
async function imageIn(directory: string): Promise<Image> {
	const { guildhall } = await buildImages(directory, ["guildhall"]);
	if (!guildhall) throw new Error("there is no image");
	return guildhall;
}

/** An instance's directory as `new-instance` leaves it: nobody else may look into it. */
function makeInstance(name: string, rest = "MCP_PORT=9\nMCP_BIND_ADDR=127.0.0.1\nMCP_AUTH_TOKEN=another"): string {
	const folder = mkdtempSync(join(directory, `${name}-`));
	const files = {
		".env": [
			`DISCORD_TOKEN=${simulator.bot(name).token}`,
			`DISCORD_API_URL=${simulator.api}`,
			// For when it runs without a container.
			rest,
		].join("\n"),
		"config.toml": `bot_name = "${name}"\n`,
	};
	for (const [file, text] of Object.entries(files)) {
		writeFileSync(join(folder, file), text, { mode: 0o600 });
		if (isRoot) chownSync(join(folder, file), owner, owner);
	}
	chmodSync(folder, 0o500);
	if (isRoot) chownSync(folder, owner, owner);
	return folder;
}

/** The schemas in the database of the compose files. */
async function schemas(): Promise<string[]> {
	const url = postgres?.url.replace(/\/postgres$/, "/guildhall");
	await using sql = new SQL({ url, max: 1 });
	const rows = await sql`SELECT DISTINCT schemaname AS name FROM pg_tables`;
	return rows.map(({ name }: { name: string }) => name);
}

/** What the health check of a container says once it is ready at this port. */
async function becomesHealthy({ healthy, program }: Container, port: string): Promise<string> {
	await becomesReady(program, `http://127.0.0.1:${port}`);
	const { code, said } = await healthy();
	expect([code, said]).toEqual([0, expect.any(String)]);
	return said;
}

/** Ends it as an engine does. */
async function stop(program: Program): Promise<void> {
	program.kill("SIGTERM");
	expect(await program.exited).toBe(0);
}

describe.each(["compose.postgres.yaml", "compose.several.yaml"])("%s", (name) => {
	test.skipIf(postgresMissing !== undefined)(
		"its services become healthy one after the other, serve, and stop",
		async () => {
			await using stack = new AsyncDisposableStack();
			const { gateway, ...others } = (await readCompose(name, { ...environment, GUILDHALL_USER: `${owner}:${owner}` }))
				.services;
			const { postgres: _, ...bots } = others;
			if (!gateway) throw new Error("there is no gateway");

			const addresses: Record<string, string> = {};
			const started: { container: Container; port: string }[] = [];
			for (const [bot, service] of Object.entries(bots)) {
				const port = String(await freePort());
				addresses[`${bot}:9090`] = `127.0.0.1:${port}`;
				const container = startContainer(image, service, {
					here: {
						"/config": makeInstance(bot),
						"/data": "/nowhere",
						"9090": port,
						"postgres:5432": `127.0.0.1:${postgres?.port}`,
					},
				});
				stack.use(container.program);
				started.push({ container, port });
			}
			for (const { container, port } of started) expect(await becomesHealthy(container, port)).toContain("ready");
			for (const bot of Object.keys(bots)) {
				// The bot does not accept its service name as Host by default.
				const request = requestText("GET /mcp", [["Host", `${bot}:9090`]]);
				const url = `http://${addresses[`${bot}:9090`]}`;
				expect((await exchange(url, request)).status).toBe(403);
			}

			const port = String(await freePort());
			const front = startContainer(image, gateway, {
				here: { "9100": port, "postgres:5432": `127.0.0.1:${postgres?.port}`, ...addresses },
			});
			stack.use(front.program);
			await becomesHealthy(front, port);
			const url = `http://127.0.0.1:${port}/mcp`;
			const { call } = await connectTo(url, token);
			for (const instance of Object.keys(bots)) {
				const guilds = () => call("list_guilds", { instance });
				const text = await until(`${instance} has logged in`, async () => {
					const { text, isError } = await guilds();
					return !isError && text;
				});
				expect(text).toContain(`The guild of ${instance}`);
			}
			for (const bot of ["gateway", ...Object.keys(bots)])
				await until(`${bot} has its schema`, async () => (await schemas()).includes(bot));

			started.push({ container: front, port });
			for (const { container } of started.reverse()) {
				await stop(container.program);
				expect((await container.healthy()).code).toBe(1);
			}
		},
	);
});

test("`guildhall up` starts a bot for each instance, also for a new one, makes the token, and stops", async () => {
	const { guildhall } = (await readCompose("compose.yaml", { GUILDHALL_USER: `${owner}:${owner}` })).services;
	if (!guildhall) throw new Error("there is no service");
	const instances = mkdtempSync(join(directory, "instances-"));
	const add = (name: string) => {
		const made = makeInstance(name, "");
		chmodSync(made, 0o700);
		renameSync(made, join(instances, name));
	};
	add("alpha");
	if (isRoot) chownSync(instances, owner, owner);
	const port = String(await freePort());
	const container = startContainer(image, guildhall, { here: { "/instances": instances, "9100": port } });
	await using program = container.program;
	expect(await becomesHealthy(container, port)).toContain("ready");
	const file = join(instances, "gateway.env");
	expect(statSync(file).mode & 0o777).toBe(0o600);
	const made = parseEnv(readFileSync(file, "utf8")).MCP_AUTH_TOKEN ?? "";
	expect(made).toMatch(/^\S{32,}$/);
	const url = `http://127.0.0.1:${port}/mcp`;
	const guildOf = async (instance: string) => {
		// The gateway is replaced, which ends the session.
		const { call } = await connectTo(url, made);
		const { text } = await call("list_guilds", { instance });
		return text.includes(`The guild of ${instance}`);
	};
	await until("alpha serves", () => guildOf("alpha"));
	add("beta");
	await until("beta serves", () => guildOf("beta").catch(() => false));
	await stop(program);
	expect((await container.healthy()).code).toBe(1);
});

test("a bot without PostgreSQL keeps its file in the volume, as the image's user", async () => {
	const { bot } = (await readCompose("compose.postgres.yaml", { ...environment })).services;
	if (!bot) throw new Error("there is no bot");
	const config = makeInstance("bot");
	if (isRoot) for (const path of ["", ".env", "config.toml"]) chownSync(join(config, path), 65_532, 65_532);
	const { DATABASE_URL: _, DB_SCHEMA: __, ...given } = bot.environment;
	const port = String(await freePort());
	const { program } = startContainer(
		image,
		{ ...bot, environment: given },
		{ here: { "/config": config, "/data": join(image.root, "data"), "9090": port } },
	);
	await using _program = program;
	await becomesReady(program, `http://127.0.0.1:${port}`);
	const files = [...new Bun.Glob("*").scanSync(join(image.root, "data"))];
	expect(files.length).toBeGreaterThan(0);
	await stop(program);
});

test("the demo becomes healthy, and its gateway answers", async () => {
	const { demo } = (await readCompose("compose.demo.yaml", {})).services;
	const port = String(await freePort());
	const temporary = mkdtempSync(join(directory, "tmp-"));
	chmodSync(temporary, 0o777);
	const container = startContainer(image, demo as Service, {
		here: {},
		env: { TMPDIR: temporary, GATEWAY_PORT: port },
		args: ["--gateway-port", port, "--json"],
	});
	await using program = container.program;
	const facts = await program.line((line) => (line.startsWith("{") ? JSON.parse(line) : undefined));
	expect((await container.healthy()).code).toBe(0);
	const { call } = await connectTo(facts.gateway.url, facts.gateway.token);
	expect((await call("list_instances")).text).toContain("alpha");
	await stop(program);
	expect(readdirSync(temporary)).toEqual([]);
});

test.skipIf(!Bun.which("pg_isready") || postgresMissing !== undefined)(
	"the database's health check knows one that is there from one that is not",
	async () => {
		const { postgres: service } = (await readCompose("compose.postgres.yaml", { ...environment })).services;
		const [, ...command] = service?.healthcheck.test ?? [];
		const ask = (port: number) => Bun.spawnSync([...command, "-p", String(port)]).exitCode;
		expect(ask(postgres?.port ?? 0)).toBe(0);
		expect(ask(await freePort())).toBe(2);
	},
);

test("a fault of configuration ends a container with exit 1 and its reason", async () => {
	const { gateway } = (await readCompose("compose.postgres.yaml", { ...environment, INSTANCES: "alpha" })).services;
	const { program } = startContainer(image, gateway as Service, { here: {} });
	await using ended = program;
	expect(await ended.exited).toBe(1);
	await ended.line((line) => line.includes("expected name=url") || undefined);
});
