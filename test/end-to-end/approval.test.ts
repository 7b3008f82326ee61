// Approval through the gateway: a call waits for people in Discord, holds nothing meanwhile, and gets its result.

import { expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/gateway/config/config.ts";
import { startGateway } from "../../src/gateway/gateway.ts";
import { createKey, revokeKey } from "../../src/gateway/keys/keys.ts";
import {
	buttonsOf,
	fieldsOf,
	pendingId,
	readAnswer,
	startApprovalWorld,
	titleOf,
	token,
} from "../bot/approval/approval-world.ts";
import { postTo } from "../support/both-servers.ts";
import { databaseDirectory } from "../support/database-directory.ts";
import { openGatewayStore } from "../support/gateway-store.ts";
import { recordLog } from "../support/log.ts";
import { until } from "../support/until.ts";

async function start(waitMs: number) {
	await using stack = new AsyncDisposableStack();
	const directory = mkdtempSync(join(databaseDirectory, "guildhall-approval-"));
	const world = stack.use(await startApprovalWorld({ mcp: () => ({ approval_for_root: true, approval_self: true }) }));
	const gateway = await startGateway(
		readConfig({
			INSTANCES: `alpha=${new URL(world.bot.url).origin}`,
			MCP_AUTH_TOKEN: token,
			GATEWAY_PORT: "0",
			GATEWAY_BIND_ADDR: "127.0.0.1",
			DEFAULT_INSTANCE: "alpha",
			// One call at a time: waiting takes no place.
			MAX_IN_FLIGHT: "1",
			GATEWAY_DATABASE: join(directory, "store.sqlite"),
		}),
		recordLog().log,
		{ approvals: { waitMs, pollMs: 5 } },
	);
	stack.defer(() => gateway.close());
	// As the command line beside a running gateway.
	const { store } = stack.use(openGatewayStore({ settings: { databaseUrl: undefined, schema: undefined, directory } }));
	const owned = stack.move();
	const ask = async (method: string, params: object, headers?: Record<string, string>) => {
		const body = { jsonrpc: "2.0", id: 1, method, params };
		const text = JSON.stringify(body);
		const response = await postTo(gateway.url, text, headers);
		const answer = await response.text();
		const [, data = "{}"] = /^data: (.*)$/m.exec(answer) ?? [];
		return JSON.parse(data);
	};
	return {
		world,
		store,
		ask,
		call: async (name: string, args: object, headers?: Record<string, string>) =>
			readAnswer(await ask("tools/call", { name, arguments: args }, headers)),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

test("a call that is approved in time gets its result", async () => {
	await using given = await start(60_000);
	const { world, call } = given;
	const { id } = world.simulator.user("zoe");
	const banned = call("ban", { user_ids: [id] });
	await until("it is posted", () => world.posts().length === 1);
	// The only place for calls is free.
	const other = await call("get_member", { user_ids: id });
	expect(other.isError).toBe(false);
	await world.press("ada", "Approve");
	expect(await banned).toMatchObject({ isError: false, pending: undefined, text: expect.stringContaining("Banned") });
});

test("a call that is denied gets an error", async () => {
	await using given = await start(60_000);
	const { world, call } = given;
	const banned = call("ban", { user_ids: [world.simulator.user("zoe").id] });
	await until("it is posted", () => world.posts().length === 1);
	await world.press("ada", "Deny");
	expect(await banned).toMatchObject({ isError: true, text: expect.stringContaining("denied the request") });
});

test("a call that nobody decides on in time gets the id for get_approval", async () => {
	await using given = await start(20);
	const { world, call } = given;
	const { id } = world.simulator.user("zoe");
	const approval_id = pendingId(await call("ban", { user_ids: [id] }));
	expect(titleOf(world.posts()[0])).toBe("Approve: Ban users?");
	await world.press("ada", "Approve");
	const { text } = await call("get_approval", { approval_id });
	expect(text).toContain(" | done | ");
	expect(text).toContain("Banned");
});

/** Creates the key "desk" for Ada, and returns the header with its token. */
async function deskOf({ world, store }: Awaited<ReturnType<typeof start>>) {
	const person = world.simulator.user("ada").id;
	const secret = await createKey(store, "desk", { access: "all", person });
	return { Authorization: `Bearer ${secret}` };
}

test("a request and Discord's audit log name the member and the client of a key", async () => {
	await using given = await start(20);
	const { world, ask, call } = given;
	const desk = await deskOf(given);
	const connectAs = (name: string) =>
		ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } }, desk);
	await connectAs("Claude Code");
	const { id } = world.simulator.user("ada");
	const target = world.simulator.user("zoe");
	await call("kick", { user_ids: [target.id] }, desk);
	const [first] = world.posts();
	expect(fieldsOf(first)).toMatchObject({ Client: "Claude Code" });
	expect(fieldsOf(first).For).toBe(`<@${id}>, with the key desk`);
	await world.press("ada", "Approve");
	const entry = world.guild.auditLog.at(-1);
	expect(entry?.reason).toEndWith("(for Ada, by Claude Code, approved by Ada)");

	// Their calls cannot be told apart.
	await connectAs("Cursor");
	await call("ban", { user_ids: [target.id] }, desk);
	expect(fieldsOf(world.posts().at(-1)).Client).toBe("Cursor or Claude Code");
});

test("a request of a key that is revoked is withdrawn, and a new key of its name does not see it", async () => {
	await using given = await start(20);
	const { world, store, call } = given;
	const desk = await deskOf(given);
	const { id } = world.simulator.user("zoe");
	const approval_id = pendingId(await call("ban", { user_ids: [id] }, desk));
	const { text } = await call("get_approval", { approval_id }, desk);
	expect(text).toContain(" | pending | ");
	await revokeKey(store, "desk");
	const shown = await world.shown("withdrawn, not run");
	expect(buttonsOf(shown)).toEqual(["Details"]);
	expect(world.guild.bans.has(id)).toBe(false);

	const again = await deskOf(given);
	const list = await call("list_approvals", {}, again);
	expect(list.text).toBe("No call of yours needed approval.");
});
