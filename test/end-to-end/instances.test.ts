// Instances side by side, as an operator runs them: bots as processes, each with its directory, one database server with
// a schema for each, and a gateway in front. What a store does by itself is tested in test/bot/store.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/demo/ports.ts";
import { moderatorPermissions, type Seed } from "../../src/simulator/seed.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { botExecutable } from "../support/bot-executable.ts";
import { connectTo, type McpCaller } from "../support/mcp.ts";
import { type Postgres, password, postgresMissing, startPostgres } from "../support/postgres.ts";
import { listeningUrl, type Program, startCommand, startProgram } from "../support/program.ts";
import { parseMetrics, sampleOf } from "../support/prometheus.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const token = "a-token-of-enough-length";
const wrongPassword = "wr0ng-and-secret";

/** Alpha and beta are in one guild, gamma in another; delta and epsilon are for who comes and goes. */
function seed(): Seed {
	const channels = [{ name: "general" }];
	const invited = (username: string) => ({ username, permissions: moderatorPermissions });
	return {
		bots: ["alpha", "beta", "gamma", "delta", "epsilon"].map((username) => ({ username })),
		users: [{ username: "ada" }],
		guilds: [
			{ name: "The Kitchen", owner: "ada", channels, bots: ["alpha", "beta"].map(invited) },
			{ name: "The Bakery", owner: "ada", channels, bots: ["gamma", "delta", "epsilon"].map(invited) },
		],
	};
}

let simulator: Simulator;
let directory: string;
let executable: string;
/** Every process that was ever started. */
const programs: Program[] = [];

beforeAll(async () => {
	executable = await botExecutable();
	simulator = await startSimulator({ seed: seed() });
	directory = mkdtempSync(join(tmpdir(), "guildhall-instances-"));
});

afterAll(async () => {
	for (const program of programs) await program[Symbol.asyncDispose]();
	await simulator.close();
	rmSync(directory, { recursive: true, force: true });
});

function kept(program: Program): Program {
	programs.push(program);
	return program;
}

const runBot = (env: Record<string, string>) => kept(startCommand([executable], env, { cwd: directory }));

interface Instance {
	name: string;
	/** Without a path. */
	url: string;
	/** The process that runs now, or ran last. */
	program: Program;
	/** Starts it where it was before. */
	start(): Program;
	/** What it says of itself to whoever asks with GET. */
	readiness(): Promise<string>;
	becomes(readiness: "ready" | "degraded"): Promise<void>;
	get(path: string): Promise<{ status: number; text: string }>;
	/** How often its store has opened, or was lost, in the log of its process. */
	storeEvents(): string[];
}

const opened = "opened the database";

/** An instance's directory, and its process. */
async function startInstance(
	name: string,
	guild: string,
	env: Record<string, string>,
	commandPrefix = "!",
): Promise<Instance> {
	const folder = mkdtempSync(join(directory, name));
	const port = await freePort();
	const variables = {
		DISCORD_TOKEN: simulator.bot(name).token,
		DISCORD_API_URL: simulator.api,
		GUILD_ID: simulator.guild(guild).id,
		MCP_PORT: String(port),
		MCP_AUTH_TOKEN: token,
		...env,
	};
	writeFileSync(
		join(folder, ".env"),
		Object.entries(variables)
			.map(([key, value]) => `${key}='${value}'\n`)
			.join(""),
	);
	writeFileSync(
		join(folder, "config.toml"),
		`bot_name = "Bot ${name}"\ncommand_prefix = "${commandPrefix}"\n[mcp]\ntoolsets = ["default", "audit"]\n`,
	);
	const url = `http://127.0.0.1:${port}`;
	const get = async (path: string) => {
		const response = await fetch(url + path, { keepalive: false, headers: { Authorization: `Bearer ${token}` } });
		return { status: response.status, text: await response.text() };
	};
	const readiness = () =>
		get("/mcp").then(
			({ text }) => text,
			() => "away",
		);
	const instance: Instance = {
		name,
		url,
		get,
		readiness,
		program: runBot({ CONFIG_DIR: folder }),
		start() {
			instance.program = runBot({ CONFIG_DIR: folder });
			return instance.program;
		},
		becomes: (wanted) =>
			until(`${name} is ${wanted}`, async () => {
				if ((await readiness()) !== wanted) return false;
				// Its log line may arrive after it.
				return wanted !== "ready" || instance.storeEvents().at(-1) === opened;
			}).then(() => {}),
		storeEvents: () =>
			instance.program.lines.flatMap(
				(line) => /"message":"(opened the database|database is unavailable or read-only)"/.exec(line)?.[1] ?? [],
			),
	};
	return instance;
}

function output({ lines }: Program): string {
	return lines.join("\n");
}

/** How a program ends by itself, and all that it has said by then. */
async function endOf(program: Program): Promise<{ code: number; said: string }> {
	const code = await program.exited;
	await program
		.line(() => undefined)
		.catch(() => {
			// Nothing is looked for: it gives up when the output is over, which may be after the process.
		});
	return { code, said: output(program) };
}

/** What an instance calls itself towards others, as far as it can be known from outside. */
function calledItself({ name, program }: Instance): string {
	return `pid ${program.pid} on ${hostname()} (Bot ${name})`;
}

describe.skipIf(postgresMissing !== undefined)(
	`on one PostgreSQL server${postgresMissing ? ` (skipped: ${postgresMissing})` : ""}`,
	() => {
		let postgres: Postgres;
		let gateway: Program;
		let mcp: McpCaller;
		let alpha: Instance;
		let beta: Instance;
		let gamma: Instance;
		const schemas = {
			alpha: "alpha",
			beta: 'Beta & "Söhne"; --',
			gamma: "gamma",
			shared: "shared by mistake",
			late: "late",
			wrong: "wrong",
		};

		beforeAll(async () => {
			postgres = await startPostgres();
			const settings = (schema: string) => ({ DATABASE_URL: postgres.url, DB_SCHEMA: schema });
			alpha = await startInstance("alpha", "The Kitchen", settings(schemas.alpha), "!");
			beta = await startInstance("beta", "The Kitchen", settings(schemas.beta), "?");
			gamma = await startInstance("gamma", "The Bakery", settings(schemas.gamma));
			const all = [alpha, beta, gamma];
			await Promise.all(all.map((one) => one.becomes("ready")));
			gateway = kept(
				startProgram("src/gateway/main.ts", {
					INSTANCES: all.map(({ name, url }) => `${name}=${url}`).join(","),
					MCP_AUTH_TOKEN: token,
					GATEWAY_PORT: "0",
					GATEWAY_BIND_ADDR: "127.0.0.1",
				}),
			);
			mcp = await connectTo(await listeningUrl(gateway), token);
		});

		afterAll(async () => {
			// The bots first: they would look for it.
			for (const program of programs) await program[Symbol.asyncDispose]();
			await postgres?.[Symbol.asyncDispose]();
		});

		/** How often each instance was asked to. */
		const saidBy = new Map<Instance, number>();

		/** Has an instance write on Discord, through the gateway. */
		async function say(instance: Instance, content: string): Promise<void> {
			const guild = instance === gamma ? "The Bakery" : "The Kitchen";
			const { text, isError } = await mcp.call("send_message", {
				instance: instance.name,
				channel_id: simulator.channel(`${guild}/general`).id,
				content,
			});
			expect(`${isError} ${text}`).toStartWith("false Message sent");
			saidBy.set(instance, (saidBy.get(instance) ?? 0) + 1);
		}

		interface Row {
			request_id: string;
			guild_id: string;
		}

		/** The messages on record in a schema. The gateway asks for guilds on its own account. */
		function rowsIn(schema: string): Promise<Row[]> {
			const quoted = `"${schema.replaceAll('"', '""')}"`;
			return postgres.admin<Row>(`SELECT * FROM ${quoted}.tool_calls WHERE tool = 'send_message' ORDER BY at, id`);
		}

		const schemaOf = ({ name }: Instance) => schemas[name as "alpha" | "beta" | "gamma"];

		/** The rows of an instance, once there are so many, and no more. */
		async function written(instance: Instance, count: number): Promise<Row[]> {
			const rows = await until(`${count} rows of ${instance.name}`, async () => {
				const rows = await rowsIn(schemaOf(instance));
				return rows.length >= count && rows;
			});
			expect(rows).toHaveLength(count);
			return rows;
		}

		/** Under which ids the gateway has called an instance to write, in order. */
		function calledIds(instance: Instance): Promise<string[]> {
			return until("the gateway has logged its calls", () => {
				const ids = gateway.lines
					.filter((line) => line.includes('"message":"MCP tool call finished"'))
					.map((line) => JSON.parse(line))
					.filter((line) => line.instance === instance.name && line.tool === "send_message")
					.map(({ request }) => String(request));
				return ids.length === saidBy.get(instance) && ids;
			});
		}

		/** Notes how it is with some instances. What is given checks that it still is so, and that they serve calls. */
		async function remember(...instances: Instance[]) {
			const known = await Promise.all(
				instances.map(async (instance) => ({
					instance,
					events: instance.storeEvents(),
					rows: await rowsIn(schemaOf(instance)),
				})),
			);
			return async () => {
				for (const one of known) {
					const { instance, events, rows } = one;
					expect(await rowsIn(schemaOf(instance))).toEqual(rows);
					await say(instance, "untouched");
					one.rows = await written(instance, rows.length + 1);
					expect(one.rows.slice(0, -1)).toEqual(rows);
					expect(instance.storeEvents()).toEqual(events);
					expect(await instance.readiness()).toBe("ready");
				}
			};
		}

		const countRows = (instances: readonly Instance[]) =>
			Promise.all(instances.map(async (one) => (await rowsIn(schemaOf(one))).length));

		const dropSchema = (schema: string) => postgres.admin(`DROP SCHEMA "${schema.replaceAll('"', '""')}" CASCADE`);

		test("each serves its calls, and writes them down in its own schema alone", async () => {
			await say(alpha, "one");
			for (const text of ["one", "two"]) await say(beta, text);
			for (const text of ["one", "two", "three"]) await say(gamma, text);
			expect(simulator.channel("The Kitchen/general").transcript()).toBe("alpha: one\nbeta: one\nbeta: two");
			expect(simulator.channel("The Bakery/general").transcript()).toBe("gamma: one\ngamma: two\ngamma: three");
			for (const [instance, count] of [
				[alpha, 1],
				[beta, 2],
				[gamma, 3],
			] as const) {
				const rows = await written(instance, count);
				const guild = instance === gamma ? "The Bakery" : "The Kitchen";
				expect(rows.map(({ request_id }) => request_id)).toEqual(await calledIds(instance));
				for (const { guild_id } of rows) expect(guild_id).toBe(simulator.guild(guild).id);
			}
			const { text } = await mcp.call("list_recent_tool_calls", { instance: "beta", tool: "send_message" });
			expect(text).toStartWith("2 call(s), newest first:");
			for (const id of await calledIds(beta)) expect(text).toContain(id);
		});

		test.each(["SIGTERM", "SIGKILL"] as const)(
			"%s for one and the end of its schema leave the others as they were; started again, it makes the schema anew",
			async (signal) => {
				const [one, ...others] = signal === "SIGTERM" ? [alpha, beta, gamma] : [beta, alpha, gamma];
				const othersAreAsTheyWere = await remember(...others);
				await say(one, `before ${signal}`);
				one.program.kill(signal);
				expect(await one.program.exited).toBe(signal === "SIGTERM" ? 0 : 137);
				// What was answered before it was asked to end is on record.
				const ids = (await rowsIn(schemaOf(one))).map((row) => row.request_id);
				if (signal === "SIGTERM") expect(ids).toEqual(await calledIds(one));
				await othersAreAsTheyWere();

				await dropSchema(schemaOf(one));
				await othersAreAsTheyWere();

				one.start();
				await one.becomes("ready");
				expect(await rowsIn(schemaOf(one))).toEqual([]);
				await say(one, "anew");
				await written(one, 1);
				await othersAreAsTheyWere();
			},
		);

		test("a schema that is dropped under its bot is made anew, with the call that found it gone, and the others see nothing of it", async () => {
			const check = await remember(alpha, beta);
			await dropSchema(schemas.gamma);
			await say(gamma, "into the void");
			await until("the tables are there again", async () => {
				const [found] = await postgres.admin(
					`SELECT 1 FROM pg_tables WHERE schemaname = '${schemas.gamma}' AND tablename = 'tool_calls'`,
				);
				return found !== undefined;
			});
			const [row] = await written(gamma, 1);
			expect(row?.request_id).toBe(String((await calledIds(gamma)).at(-1)));
			await gamma.becomes("ready");
			await check();
		});

		test("of two started at once on one schema one serves, and the other ends with a message that names both; SIGKILL frees the claim at once", async () => {
			const check = await remember(alpha, beta, gamma);
			const settings = { DATABASE_URL: postgres.url, DB_SCHEMA: schemas.shared };
			const pair = await Promise.all([
				startInstance("delta", "The Bakery", settings),
				startInstance("epsilon", "The Bakery", settings),
			]);
			const loser = await Promise.race(
				pair.map(async (one) => {
					await one.program.exited;
					return one;
				}),
			);
			const winner = loser === pair[0] ? pair[1] : pair[0];
			const { code, said } = await endOf(loser.program);
			expect(code).toBe(1);
			const last = said.split("\n").at(-1);
			expect(last).toContain("DB_SCHEMA: the schema");
			expect(last).toContain(schemas.shared);
			expect(last).toContain(`is in use by ${calledItself(winner)}`);
			expect(last).toContain(`this program is ${calledItself(loser)}`);

			await winner.becomes("ready");
			const direct = await connectTo(`${winner.url}/mcp`, token);
			const channel_id = simulator.channel("The Bakery/general").id;
			await direct.expectResult("send_message", { channel_id, content: "the winner" });
			await until("it is on record", async () => {
				return (await rowsIn(schemas.shared)).length === 1;
			});

			winner.program.kill("SIGKILL");
			await winner.program.exited;
			loser.start();
			await loser.becomes("ready");
			expect(loser.storeEvents()).toEqual([opened]);
			expect(await rowsIn(schemas.shared)).toHaveLength(1);
			loser.program.kill("SIGTERM");
			expect(await loser.program.exited).toBe(0);
			await check();
		});

		test("the server killed under them: they serve and say degraded; when it is back they are ready, with every call on record", async () => {
			const all = [alpha, beta, gamma];
			const counts = await countRows(all);
			await postgres.kill();
			await Promise.all(all.map((one) => one.becomes("degraded")));
			await until("list_instances says that all three are not ready", async () => {
				const { text } = await mcp.call("list_instances");
				return text.match(/ \| online, but not ready \(.*?database.*?\) \| /g)?.length === 3;
			});
			for (const one of all) {
				for (const number of [1, 2, 3]) await say(one, `call ${number}`);
				expect(await one.get("/readyz")).toEqual({ status: 200, text: "degraded\n" });
				const metrics = parseMetrics((await one.get("/metrics")).text);
				expect(sampleOf(metrics, "guildhall_bot_store_ready")).toBe(0);
				expect(sampleOf(metrics, "guildhall_bot_audit_queued")).toBeGreaterThanOrEqual(3);
				const { text } = await one.get("/status");
				expect(JSON.parse(text).store.state).toBe("degraded");
				expect(text).not.toContain(password);
				expect(text).not.toContain(encodeURIComponent(password));
			}
			const { text } = await mcp.call("list_recent_tool_calls", { instance: "alpha" });
			expect(text).toStartWith("The bot's database is unavailable at the moment");

			await postgres.start();
			await Promise.all(all.map((one) => one.becomes("ready")));
			for (const [index, one] of all.entries()) {
				const rows = await written(one, (counts[index] ?? 0) + 3);
				expect(rows.slice(-3).map(({ request_id }) => request_id)).toEqual((await calledIds(one)).slice(-3));
			}
		});

		test("a bot that is started before its database serves as degraded, and then is ready, with its first calls on record", async () => {
			await postgres.kill();
			const delta = await startInstance("delta", "The Bakery", { DATABASE_URL: postgres.url, DB_SCHEMA: schemas.late });
			await delta.becomes("degraded");
			const direct = await connectTo(`${delta.url}/mcp`, token);
			const channel_id = simulator.channel("The Bakery/general").id;
			await direct.expectResult("send_message", { channel_id, content: "early" });
			await postgres.start();
			await Promise.all([alpha, beta, gamma, delta].map((one) => one.becomes("ready")));
			await until("the call is on record", async () => {
				return (await rowsIn(schemas.late)).length === 1;
			});
			delta.program.kill("SIGTERM");
			expect(await delta.program.exited).toBe(0);
		});

		test("a password that the server refuses is said, and shown by nobody; the tools are served", async () => {
			const url = new URL(postgres.url);
			url.password = wrongPassword;
			const epsilon = await startInstance("epsilon", "The Bakery", {
				DATABASE_URL: url.href,
				DB_SCHEMA: schemas.wrong,
			});
			await epsilon.becomes("degraded");
			await until("it says so", () => output(epsilon.program).includes("refuses the user name or the password"));
			const direct = await connectTo(`${epsilon.url}/mcp`, token);
			expect((await direct.call("list_guilds")).isError).toBe(false);
			const { text } = await epsilon.get("/status");
			expect(text).toContain("refuses the user name or the password");
			expect(text).not.toContain(wrongPassword);
			epsilon.program.kill("SIGTERM");
			expect(await epsilon.program.exited).toBe(0);
		});

		test.concurrent("the server stopped and continued: they serve and say degraded; then they are ready, with every call on record once", async () => {
			const all = [alpha, beta, gamma];
			const counts = await countRows(all);
			await postgres.stop();
			for (const one of all) for (const number of [1, 2]) await say(one, `stopped ${number}`);
			await Promise.all(all.map((one) => one.becomes("degraded")));
			for (const one of all) await say(one, "stopped 3");
			await postgres.resume();
			await Promise.all(all.map((one) => one.becomes("ready")));
			for (const [index, one] of all.entries()) {
				const rows = await written(one, (counts[index] ?? 0) + 3);
				expect(new Set(rows.slice(-3).map(({ request_id }) => request_id))).toEqual(
					new Set((await calledIds(one)).slice(-3)),
				);
			}
		});
	},
);

test.concurrent("of two bots with one DATA_DIR the second ends with a message that names both, and the first goes on", async () => {
	const settings = { DATA_DIR: join(directory, "shared data") };
	const first = await startInstance("delta", "The Bakery", settings);
	await first.becomes("ready");
	const second = await startInstance("epsilon", "The Bakery", settings);
	const { code, said } = await endOf(second.program);
	expect(code).toBe(1);
	const last = said.split("\n").at(-1);
	expect(last).toContain(`DATA_DIR: ${settings.DATA_DIR}/`);
	expect(last).toContain(`is in use by ${calledItself(first)}`);
	expect(last).toContain(`this program is ${calledItself(second)}`);

	expect(await first.readiness()).toBe("ready");
	const direct = await connectTo(`${first.url}/mcp`, token);
	await direct.call("list_members");
	await until("it writes its calls", async () => {
		const { text } = await direct.call("list_recent_tool_calls");
		return text.includes("| list_members | done |");
	});
	first.program.kill("SIGKILL");
	await first.program.exited;
	second.start();
	await second.becomes("ready");
	expect(second.storeEvents()).toEqual([opened]);
	second.program.kill("SIGTERM");
	expect(await second.program.exited).toBe(0);
});

/** A bot that is to end by itself: how it does, and what it says. */
async function startFaulty(env: Record<string, string>) {
	const folder = mkdtempSync(join(directory, "faulty"));
	writeFileSync(join(folder, "config.toml"), 'bot_name = "Faulty"\n');
	const program = runBot({
		CONFIG_DIR: folder,
		DISCORD_TOKEN: "a-token",
		DISCORD_API_URL: "http://127.0.0.1:1/api",
		MCP_PORT: "0",
		...env,
	});
	return { folder, ...(await endOf(program)) };
}

test.concurrent("a DATA_DIR that cannot be made ends a bot before it listens", async () => {
	const file = join(directory, "a file");
	writeFileSync(file, "");
	const { code, said } = await startFaulty({ DATA_DIR: join(file, "below") });
	expect(code).toBe(1);
	expect(said).toContain(
		`DATA_DIR: cannot create or write the directory ${JSON.stringify(join(file, "below"))} (ENOTDIR)`,
	);
	expect(said).not.toContain("listening");
});

test.concurrent.each<[string, Record<string, string>, string[]]>([
	[
		"a DATABASE_URL without DB_SCHEMA",
		{ DATABASE_URL: `postgres://ada:${wrongPassword}@127.0.0.1/bots` },
		["DB_SCHEMA: is required with DATABASE_URL"],
	],
	[
		"a DATABASE_URL that is none, a schema of PostgreSQL's own and a port that is none",
		{ DATABASE_URL: `mysql://ada:${wrongPassword}@127.0.0.1/bots`, DB_SCHEMA: "pg_catalog", MCP_PORT: "many" },
		[
			"DATABASE_URL: expected a URL such as postgres://",
			`DB_SCHEMA: "pg_catalog" is reserved by PostgreSQL`,
			"MCP_PORT: expected a whole number from 0 to 65535",
		],
	],
	[
		"a password that is not escaped, and no schema",
		{ DATABASE_URL: `postgres://ada:12#${wrongPassword}@127.0.0.1/bots` },
		["DATABASE_URL: expected a URL such as", "DB_SCHEMA: is required"],
	],
])("%s ends a bot, with all faults and without the password", async (_, env, faults) => {
	const { code, said, folder } = await startFaulty(env);
	expect(code).toBe(1);
	expect(said).toStartWith(`${folder} has ${faults.length === 1 ? "1 error" : `${faults.length} errors`}:\n`);
	for (const fault of faults) expect(said).toContain(fault);
});

test("no process has shown a password or a token", () => {
	expect(programs.length).toBeGreaterThan(5);
	for (const program of programs) {
		expect(program.lines).not.toBeEmpty();
		for (const secret of [
			...[password, encodeURIComponent(password), wrongPassword],
			...[token, "a-token"],
			...seed().bots.map(({ username }) => simulator.bot(username).token),
		])
			expect(output(program)).not.toContain(secret);
	}
});
