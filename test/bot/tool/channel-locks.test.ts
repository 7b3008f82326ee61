// What is stored of a lock, and said of it, when Discord refuses a part of it.

import { expect, test } from "bun:test";
import { DiscordAPIError } from "discord.js";
import type { ChannelLockRow } from "../../../src/bot/store/tables/channel-locks.ts";
import { createLocks } from "../../../src/bot/tool/channel-locks.ts";
import { ToolError } from "../../../src/lib/tool-error.ts";
import { recordLog } from "../../support/log.ts";

const rows = ["5", "6"].map(
	(target_id): ChannelLockRow => ({
		guild_id: "9",
		channel_id: "1",
		target_id,
		target_type: 0,
		locked_at: 1,
		allows: "0",
		denies: "0",
		allowed: "0",
		existed: 0,
	}),
);

/** Locks a channel; the second change fails with `error`. Resolves with the error, and the statements that ran. */
async function lockUntil(error: Error) {
	const statements: string[] = [];
	const sql = async (strings: TemplateStringsArray) => {
		statements.push(strings.join("?").trim().split(" ", 1).join());
		return [];
	};
	const locks = createLocks({ sql }, recordLog().log);
	const thrown = await locks
		.begin(rows, async ({ target_id }) => {
			if (target_id === "6") throw error;
		})
		.catch((caught: unknown) => caught);
	return { thrown, statements };
}

test("a lock that Discord refuses in part says how to undo it, and stays stored", async () => {
	const { thrown, statements } = await lockUntil(
		new DiscordAPIError(
			{ code: 50013, message: "Missing Permissions" },
			...([50013, 403, "PUT", "/channels/1/permissions/6", {}] as const),
		),
	);
	expect(thrown).toBeInstanceOf(ToolError);
	expect((thrown as Error).message).toEndWith(
		" The channel 1 may be locked, completely or in part: lock_channel with unlock = true restores its earlier permissions.",
	);
	expect(statements).toEqual(["INSERT"]);
});

test("a bug is no refusal", async () => {
	const bug = new TypeError("a bug");
	expect((await lockUntil(bug)).thrown).toBe(bug);
});
