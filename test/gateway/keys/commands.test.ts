// --new-key, --keys and --revoke-key, as an operator runs them beside a running gateway.

import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readKeyCommand } from "../../../src/gateway/keys/commands.ts";
import type { StoreValues } from "../../../src/gateway/keys/options.ts";
import { kindOfToken } from "../../../src/gateway/keys/token.ts";
import { ConfigError } from "../../../src/lib/config.ts";
import { clock } from "../../support/clock.ts";
import { createGatewayClient, gatewayToken } from "../../support/gateway.ts";
import { storeEnvOf } from "../../support/gateway-store.ts";
import { listeningUrl, startProgram } from "../../support/program.ts";
import { onBoth } from "../../support/stores.ts";
import { startStubBackend } from "../../support/stub-backend.ts";
import { until } from "../../support/until.ts";

const main = join(import.meta.dir, "../../../src/gateway/main.ts");
const guild = "100000000000000001";
const person = "300000000000000003";
const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const directory = mkdtempSync(join(tmpdir(), "guildhall-keys-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the command to its end. */
async function run(env: Record<string, string>, args: readonly string[], shell = 'exec "$0" "$@"') {
	await using child = Bun.spawn({
		cmd: ["sh", "-c", shell, process.execPath, main, ...args],
		env: { PATH: process.env.PATH ?? "", ...clock, ...env },
		stdin: "ignore",
		stdout: "pipe",
		stderr: "pipe",
	});
	const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
	return { stdout, stderr, code };
}

onBoth((databases) => {
	test("a key is created, used, listed and revoked while the gateway runs", async () => {
		const env = storeEnvOf(await databases.place());
		await using bot = startStubBackend();
		const instances = { INSTANCES: `alpha=${bot.url},beta=${bot.url}` };
		await using gateway = startProgram("src/gateway/main.ts", {
			...env,
			...instances,
			MCP_AUTH_TOKEN: gatewayToken,
			GATEWAY_BIND_ADDR: "127.0.0.1",
			GATEWAY_PORT: "0",
			PATH: process.env.PATH ?? "",
		});
		const url = await listeningUrl(gateway);
		const scope = `--access write --instances alpha --guilds ${guild} --person ${person} --expires 90d`;
		const created = await run({ ...env, ...instances }, ["--new-key", "mods", ...scope.split(" ")]);
		expect(created.stderr).toMatch(
			/Created the key "mods": access write; instances alpha; guilds 100000000000000001; as the Discord user 300000000000000003; expires \d{4}-/,
		);
		expect(created.code).toBe(0);
		const secret = created.stdout.trim();
		expect(kindOfToken(secret)).toBe("key");
		expect(created.stderr).not.toContain(secret);

		const { post } = createGatewayClient(url, secret);
		expect((await post(ping)).status).toBe(200);
		const again = await run(env, ["--new-key", "mods"]);
		expect(again).toMatchObject({ code: 1, stdout: "" });
		expect(again.stderr).toStartWith('There is a key "mods" already.');
		const listed = await until("its use is listed", async () => {
			const { stdout } = await run(env, ["--keys"]);
			return stdout.includes("last used") && stdout;
		});
		expect(listed).toMatch(/^1 key\nmods: access write; instances alpha; .*; created \d.* UTC, last used \d.* UTC\n$/);
		const misspelt = await run(env, ["--revoke-key", "mosd"]);
		expect(misspelt).toMatchObject({ code: 1, stdout: "" });
		expect(misspelt.stderr).toContain("did you mean mods?");
		expect((await post(ping)).status).toBe(200);
		const revoked = await run(env, ["--revoke-key", "mods"]);
		expect(revoked).toMatchObject({ code: 0, stderr: "" });
		expect(revoked.stdout).toStartWith('Revoked the key "mods".');
		await until("it has ended", async () => (await post(ping)).status === 401);
		expect(await run(env, ["--keys"])).toMatchObject({
			code: 0,
			stdout: "No keys. Create one with: bun run gateway --new-key NAME\n",
		});
		expect(gateway.lines.join()).not.toContain(secret.slice(0, 30));
	});
});

test.each(["--keys", "--revoke-key mods", "--grants", "--revoke-grant 1"])(
	"a wrong path is an error for %s, which creates no file",
	async (command) => {
		const file = join(directory, "mistyped.sqlite");
		const answer = await run({ GATEWAY_DATABASE: file }, command.split(" "));
		expect(answer).toMatchObject({ code: 1, stdout: "" });
		expect(answer.stderr).toContain(`GATEWAY_DATABASE: there is no file ${JSON.stringify(file)}`);
		expect(existsSync(file)).toBe(false);
	},
);

test("keys that are created at once in one SQLite file all exist", async () => {
	const env = { GATEWAY_DATABASE: join(directory, "at-once/g.sqlite") };
	const names = ["a", "b", "c", "d"];
	const results = await Promise.all(names.map((name) => run(env, ["--new-key", name])));
	expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
	expect((await run(env, ["--keys"])).stdout).toStartWith("4 keys\na: ");
});

test("a full disk is named, and no key is printed", async () => {
	const GATEWAY_DATABASE = join(directory, "full/g.sqlite");
	const { stdout, stderr, code } = await run(
		{ GATEWAY_DATABASE },
		["--new-key", "mods"],
		// Without the signal, the write fails, as it does on a full disk.
		`ulimit -f 1; trap '' XFSZ; exec "$0" "$@"`,
	);
	expect({ stdout, code }).toEqual({ stdout: "", code: 1 });
	expect(stderr).toStartWith(
		`The gateway's database is unavailable: GATEWAY_DATABASE: the disk of ${GATEWAY_DATABASE} is full`,
	);
});

test("a server that does not answer is named, without its password", async () => {
	const { stderr, code } = await run({ GATEWAY_DATABASE: "postgres://ada:s3cret@127.0.0.1:1/keys" }, ["--keys"]);
	expect(code).toBe(1);
	expect(stderr).toBe("The gateway's database is unavailable: GATEWAY_DATABASE: nothing answers at 127.0.0.1:1\n");
});

describe("a mistake is named before the database is touched", () => {
	const untouched = join(directory, "untouched/g.sqlite");
	/** The message of the ConfigError, without its first line. */
	const issues = (values: StoreValues, env: Record<string, string> = {}) => {
		try {
			readKeyCommand(values, { GATEWAY_DATABASE: untouched, ...env });
			return [];
		} catch (error) {
			if (error instanceof ConfigError) return error.issues;
			throw error;
		}
	};
	const isInvalid = (value: StoreValues, text: string) => [{ "new-key": "mods", ...value }, text] as const;

	test.each<readonly [StoreValues, string]>([
		[
			{ "new-key": "two words" },
			'--new-key: expected a name of 1 to 64 letters, digits, "_", "." and "-", received "two words"',
		],
		[{ keys: true, "revoke-key": "x" }, "--revoke-key: cannot be combined with --keys"],
		[{ keys: true, access: "read" }, "--access: sets the scope of a new key, so it needs --new-key"],
		isInvalid({ access: "wriet" }, '--access: expected read, write, all, received "wriet"; did you mean write?'),
		isInvalid(
			{ guilds: `${guild},12` },
			'--guilds: expected at most 100 guild ids of 17 to 20 digits, separated by commas, received "12"',
		),
		isInvalid(
			{ person: "@hanna" },
			'--person: expected the id of a Discord user, of 17 to 20 digits, received "@hanna"',
		),
		...["0d", "90", "d", "-1d", "1y", "4000d", "999999999w"].map((expires) =>
			isInvalid(
				{ expires },
				`--expires: expected a time of at most 10 years, as a whole number with m, h, d or w, such as 90d, received ${JSON.stringify(expires)}`,
			),
		),
		isInvalid({ instances: "alpha" }, "INSTANCES: is required"),
	])("%j", (values, issue) => {
		expect(issues(values)).toEqual([issue]);
	});

	test("more guilds than a principal can have", () => {
		const guilds = Array.from({ length: 101 }, (_, at) => BigInt(guild) + BigInt(at));
		expect(issues({ "new-key": "mods", guilds: guilds.join() })).toEqual([
			'--guilds: expected at most 100 guild ids of 17 to 20 digits, separated by commas, received "101 ids"',
		]);
	});

	test("an instance that INSTANCES lacks", () => {
		const INSTANCES = "alpha=http://a,beta=http://b";
		expect(issues({ "new-key": "x", instances: "beta, alhpa" }, { INSTANCES })).toEqual([
			'--instances: expected names from INSTANCES, received "alhpa"; did you mean alpha?',
		]);
		// Only when it is needed.
		expect(issues({ "new-key": "x" }, { INSTANCES: "nonsense" })).toEqual([]);
	});

	test("a database that is not set", () => {
		expect(issues({ keys: true }, { GATEWAY_DATABASE: "" })).toEqual([
			"GATEWAY_DATABASE: is required for keys, with the value that the gateway has: the path of an SQLite file, or a URL of PostgreSQL",
		]);
	});

	test("a file below a file, or a directory as a file", async () => {
		const file = join(directory, "file");
		await Bun.write(file, "");
		const below = join(file, "g.sqlite");
		expect(issues({ keys: true }, { GATEWAY_DATABASE: below })).toEqual([
			`GATEWAY_DATABASE: cannot create or write the directory ${JSON.stringify(file)} (EEXIST)`,
		]);
		expect(issues({ keys: true }, { GATEWAY_DATABASE: directory })).toEqual([
			`GATEWAY_DATABASE: expected the path of a file, but ${JSON.stringify(directory)} is none`,
		]);
	});

	test.skipIf(process.getuid?.() === 0)("a directory without write permission (root may write anywhere)", async () => {
		const locked = join(directory, "locked");
		await mkdir(locked);
		await chmod(locked, 0o500);
		expect(issues({ keys: true }, { GATEWAY_DATABASE: join(locked, "g.sqlite") })).toEqual([
			expect.stringMatching(/^GATEWAY_DATABASE: .*EACCES/),
		]);
	});
});

test("a gateway that cannot write its database does not start", async () => {
	const file = join(directory, "no-directory");
	await Bun.write(file, "");
	const { stderr, code } = await run(
		{
			GATEWAY_DATABASE: join(file, "g.sqlite"),
			INSTANCES: "alpha=http://127.0.0.1:1",
			MCP_AUTH_TOKEN: gatewayToken,
			GATEWAY_PORT: "0",
			GATEWAY_BIND_ADDR: "127.0.0.1",
		},
		[],
	);
	expect(code).toBe(1);
	expect(stderr).toContain("GATEWAY_DATABASE: cannot create or write");
});
