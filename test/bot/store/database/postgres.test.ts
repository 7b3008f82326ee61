// A connection to PostgreSQL that the bot drops itself.

import { expect, test } from "bun:test";
import { createPostgres } from "../../../../src/bot/store/database/postgres.ts";
import { onPostgres } from "../../../support/stores.ts";

onPostgres((databases) => {
	test("is lost for the reason for which it was dropped", async () => {
		const { settings } = await databases.place();
		const session = await createPostgres({
			...{ url: settings.databaseUrl ?? "", schema: settings.schema ?? "" },
			...{ instance: "Alpha", nonce: "01234567" },
		}).open(new AbortController().signal);
		session.lose("it does not respond");
		expect(await session.lost).toBe("it does not respond");
		await session.close();
	});
});
