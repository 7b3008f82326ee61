// The script that makes a role for each bot, on a real server: what the roles may do, and what they may not.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { project } from "../support/documents.ts";
import { type Postgres, password, postgresMissing, startPostgres } from "../support/postgres.ts";
import { openStore } from "../support/stores.ts";

const script = join(project, "docker/kubernetes/postgres/bot-roles.sh");
const missing = postgresMissing ?? (Bun.which("psql") ? undefined : "psql is not installed");
if (missing) console.warn(`the roles of bots are not tried: ${missing}`);

describe.skipIf(missing !== undefined)("bot-roles.sh", () => {
	let postgres: Postgres;
	beforeAll(async () => {
		postgres = await startPostgres();
		await postgres.admin("CREATE DATABASE guildhall");
	});
	afterAll(() => postgres?.[Symbol.asyncDispose]());

	/** Runs it as the image does, but for the way to the server. */
	function run(roles: string, cwd = project) {
		const { exitCode, stderr } = Bun.spawnSync([script], {
			cwd,
			env: {
				PATH: process.env.PATH,
				BOT_ROLES: roles,
				POSTGRES_USER: "postgres",
				POSTGRES_DB: "guildhall",
				PGHOST: "127.0.0.1",
				PGPORT: String(postgres.port),
				PGPASSWORD: password,
			},
		});
		return { exitCode, said: stderr.toString() };
	}
	const fine = { exitCode: 0, said: "" };
	const urlOf = (name: string, secret: string) => `postgres://${name}:${secret}@127.0.0.1:${postgres.port}/guildhall`;
	/** A statement as this role. */
	async function as(name: string, secret: string, text: string) {
		await using sql = new SQL({ url: urlOf(name, secret), max: 1 });
		return [...(await sql.unsafe(text))];
	}
	const settings = (name: string, secret: string) => ({
		settings: { databaseUrl: urlOf(name, secret), schema: name, directory: "/none" },
	});

	test("a bot works in its own schema, and gets at no other", async () => {
		expect(run("alpha=a1 my-bot=b1")).toEqual(fine);
		for (const [name, secret] of [
			["alpha", "a1"],
			["my-bot", "b1"],
		] as const) {
			await using opened = await openStore(settings(name, secret));
			expect(opened.store.state).toBe("ready");
			await opened.store.sql`INSERT INTO things (id, big) VALUES (${name}, 1)`;
			expect(await as(name, secret, `SELECT id FROM "${name}".things`)).toEqual([{ id: name }]);
		}
		for (const statement of [
			'SELECT id FROM "my-bot".things',
			"INSERT INTO \"my-bot\".things (id, big) VALUES ('x', 1)",
			'CREATE TABLE "my-bot".more (id TEXT)',
			"CREATE TABLE public.more (id TEXT)",
			"CREATE TEMP TABLE more (id TEXT)",
			"CREATE SCHEMA more",
			"CREATE ROLE more",
			'DROP SCHEMA "my-bot" CASCADE',
			"ALTER ROLE \"my-bot\" PASSWORD 'x'",
			'SET ROLE "my-bot"',
			"COPY (SELECT 1) TO PROGRAM 'true'",
		])
			await expect(as("alpha", "a1", statement).then(() => `${statement} is carried out`, String)).resolves.toMatch(
				/permission denied|must be owner|superuser/,
			);
		await expect(as("alpha", "b1", "SELECT 1")).rejects.toThrow("password");
	});

	test("on a volume that is older it hands over what is there, and a new password counts", async () => {
		const admin = { settings: { ...settings("beta", "").settings } };
		admin.settings.databaseUrl = postgres.url.replace(/postgres$/, "guildhall");
		{
			await using before = await openStore(admin);
			await before.store.sql`INSERT INTO things (id, big) VALUES ('old', 1)`;
		}
		expect(run("beta=old")).toEqual(fine);
		// It runs while the bot does.
		await using opened = await openStore(settings("beta", "old"));
		expect(opened.store.state).toBe("ready");
		expect(run("alpha=a1 my-bot=b1 beta=new")).toEqual(fine);
		expect(await opened.store.sql`SELECT id FROM things`).toEqual([{ id: "old" }]);
		expect(await as("beta", "new", "SELECT 1 AS one")).toEqual([{ one: 1 }]);
		await expect(as("beta", "old", "SELECT 1")).rejects.toThrow("password");
		expect(
			await postgres.admin(
				"SELECT 1 FROM pg_roles WHERE rolname IN ('alpha', 'beta', 'my-bot') AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication)",
			),
		).toEqual([]);
	});

	test("a password may hold what shells, SQL and patterns for files read otherwise", async () => {
		const directory = mkdtempSync(join(tmpdir(), "guildhall-roles-"));
		try {
			const secret = (star: string) => `g${star}'"$x=%;--&<|`;
			writeFileSync(join(directory, `gamma=${secret("lob")}`), "");
			expect(run(`gamma=${secret("*")}`, directory)).toEqual(fine);
			const encoded = encodeURIComponent(secret("*"));
			expect(await as("gamma", encoded, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
		} finally {
			rmSync(directory, { recursive: true, force: true });
		}
	});

	test.each([
		["", /BOT_ROLES: is not set/],
		["gamma", /expected name=password/],
		["gamma=", /expected name=password/],
		["=x", /expected name=password/],
		// As it stands in the example.
		["gamma=<openssl rand -hex 32>", /expected name=password/],
		["postgres=x", /postgres is the administrator/],
	])("%j is refused", (roles, why) => {
		const { exitCode, said } = run(roles);
		expect(exitCode).not.toBe(0);
		expect(said).toMatch(why);
	});
});
