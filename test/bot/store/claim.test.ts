// The claim: one instance per schema or directory, as long as its process runs.

import { expect, test } from "bun:test";
import { createPostgres } from "../../../src/lib/store/postgres.ts";
import { type Program, startProgram } from "../../support/program.ts";
import { onBoth, onOwnPostgres, openStore, type Place } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

/** An instance in a process of its own. */
function startInstance({ settings }: Place, name: string): Program {
	return startProgram("test/bot/store/instance.fixture.ts", {
		NAME: name,
		DATA_DIR: settings.directory,
		...(settings.databaseUrl && { DATABASE_URL: settings.databaseUrl }),
		...(settings.schema && { DB_SCHEMA: settings.schema }),
	});
}

function claimed(instance: Program): Promise<true> {
	return instance.line((line) => line.includes('{"claimed":') || undefined);
}

function failure(instance: Program): Promise<string> {
	return instance.line((line) => /^\{"failed":"(.*)"\}$/.exec(line)?.[1]);
}

async function rowsOf(place: Place, name: string): Promise<number> {
	const rows = await place.look(`SELECT id FROM things WHERE id LIKE '${name} %'`);
	return rows.length;
}

onBoth((databases, kind) => {
	const variable = kind === "SQLite" ? "DATA_DIR" : "DB_SCHEMA";

	test("a second instance is refused with both names and a next step", async () => {
		const place = await databases.place();
		await using first = await openStore(place);
		await using second = await openStore(place, { instance: "Beta (pid 2 on there)" });
		const { message } = await second.store.failed;
		expect(message).toStartWith(`${variable}: `);
		expect(message).toContain(place.shown);
		expect(message).toContain("is in use by Alpha (pid 1 on here)");
		expect(message).toContain("this program is Beta (pid 2 on there)");
		expect(message).toContain(`a ${variable} of its own`);
		expect(second.store.state).toBe("degraded");
		expect(first.store.state).toBe("ready");
		expect(await first.store.sql`SELECT id FROM things`).toEqual([]);
	});

	test("of two instances that start at once on a new database one wins, and migrates", async () => {
		const place = await databases.place();
		const start = (instance: string) => openStore(place, { instance });
		const [beta, gamma] = await Promise.all([start("Beta"), start("Gamma")]);
		const betaWon = beta.store.state === "ready";
		const [winner, loser] = betaWon ? [beta, gamma] : [gamma, beta];
		const [won, lost] = betaWon ? ["Beta", "Gamma"] : ["Gamma", "Beta"];
		const { message } = await loser.store.failed;
		expect(message).toContain(`in use by ${won}`);
		expect(message).toContain(`this program is ${lost}`);
		expect(winner.store.reason).toBeUndefined();
		await winner.store.sql`INSERT INTO things (id) VALUES (${"a"})`;
		expect(await place.look("SELECT number FROM migrations")).toHaveLength(1);
		await winner.store.close();
		await loser.store.close();
	});

	test("a released claim is free at once", async () => {
		const place = await databases.place();
		for (let round = 0; round < 5; round++) {
			const opened = await openStore(place, { instance: `round ${round}` });
			expect(opened.store.reason).toBeUndefined();
			await opened.store.close();
		}
	});

	test("SIGKILL frees the claim", async () => {
		const place = await databases.place();
		await using first = startInstance(place, "first");
		await claimed(first);
		first.kill("SIGKILL");
		await first.exited;
		await using next = await openStore(place);
		expect(next.store.reason).toBeUndefined();
		expect(await rowsOf(place, "first")).toBeGreaterThan(0);
	});

	test("a stopped instance keeps its claim", async () => {
		const place = await databases.place();
		await using first = startInstance(place, "first");
		await claimed(first);
		first.kill("SIGSTOP");
		await using second = await openStore(place);
		expect((await second.store.failed).message).toContain("in use by first");
		const before = await rowsOf(place, "first");
		first.kill("SIGCONT");
		await until("it writes again", async () => {
			return (await rowsOf(place, "first")) > before;
		});
	});

	test("other programs can read meanwhile", async () => {
		const place = await databases.place();
		await using opened = await openStore(place);
		await opened.store.transaction(async (sql) => {
			await sql`INSERT INTO things (id) VALUES (${"a"})`;
			expect(await place.look("SELECT id FROM things")).toEqual([]);
		});
		expect(await place.look("SELECT id FROM things")).toEqual([{ id: "a" }]);
	});
});

onOwnPostgres((databases) => {
	const dropConnection = (schema: string, name: string) =>
		databases.postgres.admin(
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '% ${name} %' AND '${schema}' <> ''`,
		);

	test("the claim of an earlier connection of the same process is taken over", async () => {
		const { settings, shown } = await databases.place();
		const variables = { url: "DATABASE_URL", schema: "DB_SCHEMA" };
		const database = createPostgres(
			{ url: settings.databaseUrl ?? "", schema: shown, variables },
			{ instance: "Alpha", claims: true },
		);
		const never = new AbortController().signal;
		const first = await database.open(never);
		const second = await database.open(never);
		expect(await first.lost).toBeString();
		await first.close();
		await second.close();
	});

	test("an instance whose connection was terminated claims again", async () => {
		const place = await databases.place();
		await using opened = await openStore(place);
		const { since } = opened.store;
		await dropConnection(place.shown, "Alpha");
		await until("it has noticed", () => opened.store.since !== since);
		await until("it is back", () => opened.store.state === "ready");
		await opened.store.sql`INSERT INTO things (id) VALUES (${"a"})`;
		await using second = await openStore(place, { instance: "Beta" });
		expect((await second.store.failed).message).toContain("in use by Alpha");
	});

	test("an instance that was stopped while another took the claim writes nothing more, and exits", async () => {
		const place = await databases.place();
		await using first = startInstance(place, "first");
		await claimed(first);
		first.kill("SIGSTOP");
		await dropConnection(place.shown, "first");
		await using second = await openStore(place);
		expect(second.store.reason).toBeUndefined();
		const before = await rowsOf(place, "first");
		expect(before).toBeGreaterThan(0);
		first.kill("SIGCONT");
		expect(await failure(first)).toContain("in use by Alpha (pid 1 on here)");
		expect(await first.exited).toBe(3);
		expect(await rowsOf(place, "first")).toBe(before);
		expect(second.store.state).toBe("ready");
	});

	test("after a restart of the server each instance has its claim again", async () => {
		const places = [await databases.place(), await databases.place()];
		const opened = await Promise.all(places.map((place) => openStore(place)));
		await databases.postgres.kill();
		await until("they have noticed", () => opened.every(({ store }) => store.state !== "ready"));
		await databases.postgres.start();
		for (const { store } of opened) {
			await until("it is back", () => store.state === "ready");
			await store.sql`INSERT INTO things (id) VALUES (${"after"})`;
			await store.close();
		}
	});

	test("a dropped schema is created again", async () => {
		const place = await databases.place();
		await using opened = await openStore(place);
		await databases.postgres.admin(`DROP SCHEMA "${place.shown}" CASCADE`);
		const failed = opened.store.sql`INSERT INTO things (id) VALUES (${"a"})`;
		expect(await failed.catch((error) => error)).toMatchObject({
			name: "StoreUnavailable",
			reason: expect.stringContaining(`DB_SCHEMA: the schema "${place.shown}"`),
		});
		await until("it is back", () => opened.store.state === "ready");
		await opened.store.sql`INSERT INTO things (id) VALUES (${"a"})`;
	});
});
