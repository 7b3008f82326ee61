// A client at the gateway that cancels or watches a long call, down to the requests that Discord gets.

import { expect } from "bun:test";
import { postTo } from "../support/both-servers.ts";
import { gatewayToken, startTestGateway } from "../support/gateway.ts";
import { testWith } from "../support/test-with.ts";
import { until } from "../support/until.ts";
import { addToBakers, planOf, roleNamed, startWorld, writes } from "../support/world.ts";

const callTest = testWith(async () => {
	const world = await startWorld();
	const { origin } = new URL(world.bot.url);
	const options = { progress: { afterMs: 0, everyMs: 0 } };
	const gateway = await startTestGateway({ alpha: { url: origin } }, { options });
	const send = (message: object, signal?: AbortSignal) => {
		const body = JSON.stringify({ jsonrpc: "2.0", ...message });
		return postTo(`${gateway.url}/mcp`, body, { Authorization: `Bearer ${gatewayToken}` }, signal);
	};
	return {
		world,
		call: (
			name: string,
			args: object,
			{ id = 7, token = undefined as unknown, signal = undefined as AbortSignal | undefined } = {},
		) => send({ id, method: "tools/call", params: { name, arguments: args, _meta: { progressToken: token } } }, signal),
		cancel: () => send({ method: "notifications/cancelled", params: { requestId: 7 } }),
		isIdle: async () => (await (await fetch(`${origin}/metrics`)).text()).includes("calls_in_flight 0\n"),
		[Symbol.asyncDispose]: () => gateway.close().then(() => world[Symbol.asyncDispose]()),
	};
});

/** What comes before the first pause of a response, and what after it. */
async function parts(response: Response) {
	const all = response.body?.pipeThrough(new TextDecoderStream()).values();
	const first = await all?.next();
	return { first: first?.value, rest: async () => (await Array.fromAsync(all ?? [])).join("") };
}

callTest.each([["notifications/cancelled"], ["closing its connection"]])(
	"a bulk change that is cancelled by %s sends nothing more",
	async ({ world, call, cancel, isIdle }, way) => {
		const role_id = roleNamed(world, "Newcomer").id;
		const users = Array.from({ length: 5 }, (_, index) =>
			world.simulator.world.users.add({ username: `new-${index}` }),
		);
		for (const user of users) world.simulator.world.members.add(world.guild, user);
		await world.heard();
		const requests = users.map(({ id }) => `PUT /guilds/${world.guild.id}/members/${id}/roles/${role_id}`);
		const held = world.simulator.faults.stall(requests[1] ?? "");
		const client = new AbortController();
		const args = { guild_id: world.guild.id, role_id, action: "add", user_ids: users.map(({ id }) => id) };
		const answer = call("bulk_role_update", args, { signal: client.signal }).then(
			(response) => response.text(),
			() => "",
		);
		await until("the second request is at Discord", () => held.hits > 0);
		if (way === "notifications/cancelled") await cancel();
		else client.abort();
		expect(await answer).toBe("");
		await until("the bot has ended the call", isIdle);
		held.release();
		expect(await world.expectResult("list_recent_tool_calls", { tool: "bulk_role_update" })).toContain(
			"bulk_role_update",
		);
		expect(writes(world).length).toBeLessThanOrEqual(2);
		expect(requests.slice(0, 2).join()).toStartWith(writes(world).join());
	},
);

callTest("get_job waits for the end with progress, and cancelling it leaves the job alone", async ({ world, call }) => {
	const guild_id = world.guild.id;
	const held = world.simulator.faults.stall(`POST /guilds/${guild_id}/roles`, { after: true, times: 1 });
	const begun = world.call("apply_guild", { plan_hash: await planOf(world, 3) });
	await until("the first role is being created", () => held.hits > 0);
	const job_id = /Job ([0-9a-f]{12})/.exec(await world.expectResult("get_job"))?.[1];
	const args = { guild_id, name: "get_job", arguments: { job_id, wait: true } };
	const client = new AbortController();
	const left = call("use_reading_tool", args, { id: 8, token: "steps", signal: client.signal }).then((response) =>
		response.text(),
	);
	const { first, rest } = await parts(await call("use_reading_tool", args, { token: "steps" }));
	expect(first).toContain('"progressToken":"steps","progress":0,"total":3');
	client.abort();
	expect(left).rejects.toThrow();
	held.release();
	expect(await rest()).toContain(": done, 3 of 3 steps done");
	await begun;
	expect(writes(world)).toHaveLength(3);
});

callTest("a call that waits for the members of a guild reports how many are loaded", async ({ world, call }) => {
	world.simulator.sockets.holdMembers(true);
	const guild = addToBakers(world);
	await world.heard();
	const args = { instance: "alpha", guild_id: guild.id, where: "not bot", reason: "a test", dry_run: true };
	const { first, rest } = await parts(await call("ban", args, { token: 1 }));
	expect(first).toContain(`"progress":1,"total":${guild.members.size}`);
	world.simulator.sockets.holdMembers(false);
	expect(await rest()).toContain("3 of 3 member(s) out of the bot's reach");
});
