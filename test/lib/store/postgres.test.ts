// A connection to PostgreSQL that the program drops itself.

import { expect, test } from "bun:test";
import { createPostgres } from "../../../src/lib/store/postgres.ts";
import { onPostgres } from "../../support/stores.ts";

onPostgres((databases) => {
	test("is lost for the reason for which it was dropped", async () => {
		const { settings } = await databases.place();
		const place = {
			url: settings.databaseUrl ?? "",
			schema: settings.schema ?? "",
			variables: { url: "DATABASE_URL", schema: "DB_SCHEMA" },
		};
		const session = await createPostgres(place, { instance: "Alpha", claims: true }).open(new AbortController().signal);
		session.lose("it does not respond");
		expect(await session.lost).toBe("it does not respond");
		await session.close();
	});
});
