// Approval through the gateway: a call waits for people in Discord, holds nothing meanwhile, and gets its result.

import { expect, test } from "bun:test";
import { readConfig } from "../../src/gateway/config/config.ts";
import { startGateway } from "../../src/gateway/gateway.ts";
import {
	pendingId,
	readAnswer,
	startApprovalWorld,
	titleOf,
	token,
} from "../bot/approval/approval-world.ts";
import { connect } from "../support/backend-client.ts";
import { postTo } from "../support/both-servers.ts";
import { recordLog } from "../support/log.ts";
import { until } from "../support/until.ts";

async function start(waitMs: number) {
	await using stack = new AsyncDisposableStack();
	const world = stack.use(
		await startApprovalWorld({ mcp: () => ({ approval_for_root: true }) }),
	);
	const gateway = await startGateway(
		readConfig({
			INSTANCES: `alpha=${new URL(world.bot.url).origin}`,
			MCP_AUTH_TOKEN: token,
			GATEWAY_PORT: "0",
			GATEWAY_BIND_ADDR: "127.0.0.1",
			DEFAULT_INSTANCE: "alpha",
			// One call at a time: waiting takes no place.
			MAX_IN_FLIGHT: "1",
		}),
		recordLog().log,
		{ connect, approvals: { waitMs, pollMs: 5 } },
	);
	stack.defer(() => gateway.close());
	const owned = stack.move();
	return {
		world,
		async call(name: string, args: object) {
			const params = { name, arguments: args };
			const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
			const response = await postTo(gateway.url, JSON.stringify(body));
			const [, data = "{}"] = /^data: (.*)$/m.exec(await response.text()) ?? [];
			return readAnswer(JSON.parse(data));
		},
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
	const other = await call("get_member", { user_id: id });
	expect(other.isError).toBe(false);
	await world.press("ada", "Approve");
	expect(await banned).toMatchObject({
		isError: false,
		pending: undefined,
		text: expect.stringContaining("Banned"),
	});
});

test("a call that is denied gets an error", async () => {
	await using given = await start(60_000);
	const { world, call } = given;
	const banned = call("ban", { user_ids: [world.simulator.user("zoe").id] });
	await until("it is posted", () => world.posts().length === 1);
	await world.press("ada", "Deny");
	expect(await banned).toMatchObject({
		isError: true,
		text: expect.stringContaining("denied the request"),
	});
});

test("a call that nobody decides on in time gets the id for get_approval", async () => {
	await using given = await start(20);
	const { world, call } = given;
	const { id } = world.simulator.user("zoe");
	const approval_id = pendingId(await call("ban", { user_ids: [id] }));
	expect(titleOf(world.posts()[0])).toBe("Approve ban?");
	await world.press("ada", "Approve");
	const { text } = await call("get_approval", { approval_id });
	expect(text).toContain(" | done | ");
	expect(text).toContain("Banned");
});
