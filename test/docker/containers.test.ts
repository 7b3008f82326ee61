// What docker/ says is started: the images' own files, built as the Dockerfile has it, with the services' environments,
// users and health checks as they are written. Only paths, ports and host names are those of this machine.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
	chmodSync,
	chownSync,
	mkdirSync,
	mkdtempSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { moderatorPermissions } from "../../src/simulator/seed.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import {
	databasePasswords,
	readCompose,
	type Service,
} from "../support/compose.ts";
import { type Container, startContainer } from "../support/containers.ts";
import { freePort } from "../support/free-port.ts";
import { buildImages, type Image } from "../support/images.ts";
import { connectTo } from "../support/mcp.ts";
import {
	type Postgres,
	postgresMissing,
	startPostgres,
} from "../support/postgres.ts";
import { becomesReady, type Program } from "../support/program.ts";
import { exchange, requestText } from "../support/raw-http.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const token = "0123456789abcdef0123456789abcdef";
const names = ["bot", "alpha", "beta", "gamma"];
/** docker/.env. */
const environment = {
	...{ MCP_AUTH_TOKEN: token, POSTGRES_PASSWORD: "none" },
	...databasePasswords,
};
/** Whose the instances are; root alone can give something away. */
const isRoot = process.getuid?.() === 0;
const owner = isRoot ? 12_345 : (process.getuid?.() ?? 0);

let directory: string;
let images: Record<string, Image>;
let simulator: Simulator;
let postgres: Postgres | undefined;

beforeAll(async () => {
	directory = mkdtempSync(join(tmpdir(), "guildhall-images-"));
	chmodSync(directory, 0o755);
	images = await buildImages(directory, ["gateway", "bot", "demo"]);
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
	for (const name of names)
		await sql.unsafe(
			`CREATE ROLE ${name} LOGIN PASSWORD 'of-${name}'; CREATE SCHEMA ${name} AUTHORIZATION ${name}`,
		);
});

afterAll(async () => {
	await simulator?.close();
	await postgres?.[Symbol.asyncDispose]();
	rmSync(directory, { recursive: true, force: true });
});

function imageOf({ build }: Service): Image {
	const image = images[build?.target ?? ""];
	if (!image) throw new Error(`there is no image ${build?.target}`);
	return image;
}

/** An instance's directory as `new-instance` leaves it: nobody else may look into it. */
function makeInstance(name: string): string {
	const folder = mkdtempSync(join(directory, `${name}-`));
	const files = {
		".env": [
			`DISCORD_TOKEN=${simulator.bot(name).token}`,
			`DISCORD_API_URL=${simulator.api}`,
			// For when it runs without a container.
			...["MCP_PORT=9", "MCP_BIND_ADDR=127.0.0.1", "MCP_AUTH_TOKEN=another"],
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
async function becomesHealthy(
	{ healthy, program }: Container,
	port: string,
): Promise<string> {
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

describe.each(["compose.yaml", "compose.several.yaml"])("%s", (name) => {
	test.skipIf(postgresMissing !== undefined)(
		"its services become healthy one after the other, serve, and stop",
		async () => {
			await using stack = new AsyncDisposableStack();
			const { gateway, ...others } = (
				await readCompose(name, {
					...environment,
					GUILDHALL_USER: `${owner}:${owner}`,
				})
			).services;
			const { postgres: _, ...bots } = others;
			if (!gateway) throw new Error("there is no gateway");

			const addresses: Record<string, string> = {};
			const started: { container: Container; port: string }[] = [];
			for (const [bot, service] of Object.entries(bots)) {
				const port = String(await freePort());
				addresses[`${bot}:9090`] = `127.0.0.1:${port}`;
				const container = startContainer(imageOf(service), service, {
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
			for (const { container, port } of started)
				expect(await becomesHealthy(container, port)).toContain("ready");
			for (const bot of Object.keys(bots)) {
				// Whoever calls it by its name is none of those that it expects.
				const request = requestText("GET /mcp", [["Host", `${bot}:9090`]]);
				const url = `http://${addresses[`${bot}:9090`]}`;
				expect((await exchange(url, request)).status).toBe(403);
			}

			const port = String(await freePort());
			const front = startContainer(imageOf(gateway), gateway, {
				here: { "9100": port, ...addresses },
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
			for (const bot of Object.keys(bots))
				await until(`${bot} has its schema`, async () =>
					(await schemas()).includes(bot),
				);

			started.push({ container: front, port });
			for (const { container } of started.reverse()) {
				await stop(container.program);
				expect((await container.healthy()).code).toBe(1);
			}
		},
	);
});

test("a bot without PostgreSQL keeps its file in the volume, as the image's user", async () => {
	const { bot } = (
		await readCompose("compose.yaml", {
			...environment,
		})
	).services;
	if (!bot) throw new Error("there is no bot");
	const image = imageOf(bot);
	const config = makeInstance("bot");
	if (isRoot)
		for (const path of ["", ".env", "config.toml"])
			chownSync(join(config, path), 65_532, 65_532);
	const { DATABASE_URL: _, DB_SCHEMA: __, ...given } = bot.environment;
	const port = String(await freePort());
	const { program } = startContainer(
		image,
		{ ...bot, environment: given },
		{
			here: {
				"/config": config,
				"/data": join(image.root, "data"),
				"9090": port,
			},
		},
	);
	await using _program = program;
	await becomesReady(program, `http://127.0.0.1:${port}`);
	const files = [...new Bun.Glob("*").scanSync(join(image.root, "data"))];
	expect(files.length).toBeGreaterThan(0);
	await stop(program);
});

test("the demo becomes healthy, and its gateway answers", async () => {
	const { demo } = (await readCompose("compose.demo.yaml", {})).services;
	const image = imageOf(demo as Service);
	const port = String(await freePort());
	mkdirSync(join(image.root, "tmp"));
	const container = startContainer(image, demo as Service, {
		here: {},
		env: { TMPDIR: join(image.root, "tmp"), GATEWAY_PORT: port },
		args: ["--gateway-port", port, "--json"],
	});
	await using program = container.program;
	const facts = await program.line((line) =>
		line.startsWith("{") ? JSON.parse(line) : undefined,
	);
	expect((await container.healthy()).code).toBe(0);
	const { call } = await connectTo(facts.gateway.url, facts.gateway.token);
	expect((await call("list_instances")).text).toContain("alpha");
	await stop(program);
});

test.skipIf(!Bun.which("pg_isready") || postgresMissing !== undefined)(
	"the database's health check knows one that is there from one that is not",
	async () => {
		const { postgres: service } = (
			await readCompose("compose.yaml", {
				...environment,
			})
		).services;
		const [, ...command] = service?.healthcheck.test ?? [];
		const ask = (port: number) =>
			Bun.spawnSync([...command, "-p", String(port)]).exitCode;
		expect(ask(postgres?.port ?? 0)).toBe(0);
		expect(ask(await freePort())).toBe(2);
	},
);

test("a fault of configuration ends a container with exit 1 and its reason", async () => {
	const { gateway } = (
		await readCompose("compose.yaml", {
			...environment,
			INSTANCES: "alpha",
		})
	).services;
	const { program } = startContainer(
		imageOf(gateway as Service),
		gateway as Service,
		{ here: {} },
	);
	await using ended = program;
	expect(await ended.exited).toBe(1);
	await ended.line((line) => line.includes("expected name=url") || undefined);
});
