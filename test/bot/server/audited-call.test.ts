// One entry of the bot's audit log for the gateway's console, with a real bot.

import { expect, test } from "bun:test";
import { isObject } from "../../../src/lib/json.ts";
import type { Principal } from "../../../src/lib/principal.ts";
import { startApprovalWorld } from "../approval/approval-world.ts";

const method = "guildhall/audited-call";

test("the operator sees any call, redacted; a person only their own; nobody else any", async () => {
	await using world = await startApprovalWorld({ mcp: () => ({ approval: "off" }) });
	const mona = { ...world.person("mona_lisa"), signedIn: true };
	const ada = { ...world.person("ada"), signedIn: true };
	const named = (person: typeof mona): Principal => ({
		id: `grant:${person.id}`,
		name: "Claude",
		access: "all",
		person,
	});
	const secret = "what-ada-wrote-in-confidence";
	const channel_id = world.simulator.channel("The Cooks/staff").id;
	await world.call(named(ada), "send_message", { channel_id, content: secret }, "request-1");
	const at = Date.parse(world.posts().at(-1)?.timestamp ?? "");
	const find = async (principal: Principal | undefined, request = "request-1", time = at) => {
		const { result, error } = await world.ask(principal, method, { request, at: time });
		return isObject(result) ? result.call : error;
	};
	const shown = {
		at: expect.any(Number),
		tool: "send_message",
		guild: world.guild.id,
		outcome: "done",
		milliseconds: expect.any(Number),
		client: expect.any(String),
		key: `grant:${ada.id}`,
		person: ada.id,
		arguments: expect.stringContaining(channel_id),
	};
	expect(await find(undefined)).toEqual(shown);
	expect(JSON.stringify(await find(undefined))).not.toContain(secret);
	expect(await find(named(ada))).toEqual(shown);
	expect(await find(named(mona))).toBeNull();
	expect(await find(undefined, "request-2")).toBeNull();
	expect(await find(undefined, "request-1", at - 600_000)).toBeNull();
	const bare = { id: "key:k", name: "k", access: "all" as const };
	expect(await find(bare)).toMatchObject({ code: -32601 });
	const key = { ...bare, person: { ...ada, signedIn: false } };
	expect(await find(key)).toMatchObject({ code: -32601 });
	for (const params of [{}, { request: 1, at }, { request: "x", at: "now" }])
		expect(await world.ask(undefined, method, params)).toMatchObject({ error: { code: -32602 } });
});
