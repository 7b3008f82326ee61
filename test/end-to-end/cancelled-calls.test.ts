// A client at the gateway that cancels or watches a long call, down to the requests that Discord gets.

import { expect, test } from "bun:test";
import { postTo } from "../support/both-servers.ts";
import { gatewayToken, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { addToBakers, roleNamed, startWorld, type TestWorld, writes } from "../support/world.ts";

const anyTime = { progress: { afterMs: 0, everyMs: 0 } };

async function start() {
	const world = await startWorld();
	const gateway = await startTestGateway({ alpha: { url: new URL(world.bot.url).origin } }, { options: anyTime });
	return { world, gateway, [Symbol.asyncDispose]: () => gateway.close().then(() => world[Symbol.asyncDispose]()) };
}

function send({ url }: TestGateway, method: string, params: object, more: { id?: number; signal?: AbortSignal } = {}) {
	const body = JSON.stringify({ jsonrpc: "2.0", id: more.id, method, params });
	return postTo(`${url}/mcp`, body, { Authorization: `Bearer ${gatewayToken}` }, more.signal);
}

/** What clients do when a person cancels call 7. */
const ways: [string, (gateway: TestGateway, client: AbortController) => unknown][] = [
	["notifications/cancelled", (gateway) => send(gateway, "notifications/cancelled", { requestId: 7 })],
	["closing its connection", (_, client) => client.abort()],
];

const isIdle = async ({ bot }: TestWorld) =>
	(await fetch(`${new URL(bot.url).origin}/metrics`).then((response) => response.text())).includes(
		"calls_in_flight 0\n",
	);

const planOf = async (world: TestWorld, count: number) => {
	const roles = Array.from({ length: count }, (_, index) => ({ name: `made-${index}` }));
	return /plan_hash=(\w+)/.exec((await world.call("plan_guild", { document: { roles } })).text)?.[1];
};

/** What comes before the first pause of a response, and after it. */
async function parts({ body }: Response) {
	const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
	const { value: first } = (await reader?.read()) ?? {};
	const rest = async () => {
		let text = "";
		for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
		return text;
	};
	return { first, rest };
}

test.each(ways)("a bulk change that is cancelled by %s sends nothing more", async (_, cancel) => {
	await using started = await start();
	const { world, gateway } = started;
	const role = roleNamed(world, "Newcomer");
	const users = Array.from({ length: 5 }, (_, index) => world.simulator.world.users.add({ username: `new-${index}` }));
	for (const user of users) world.simulator.world.members.add(world.guild, user);
	await world.heard();
	const requests = users.map(({ id }) => `PUT /guilds/${world.guild.id}/members/${id}/roles/${role.id}`);
	const held = world.simulator.faults.stall(requests[1] ?? "");
	const client = new AbortController();
	const args = { guild_id: world.guild.id, role_id: role.id, action: "add", user_ids: users.map(({ id }) => id) };
	const params = { name: "bulk_role_update", arguments: args };
	const answer = send(gateway, "tools/call", params, { id: 7, signal: client.signal })
		.then((response) => response.text())
		.catch(() => "");
	await until("the second request is at Discord", () => held.hits > 0);
	await cancel(gateway, client);
	expect(await answer).toBe("");
	await until("the bot has ended the call", () => isIdle(world));
	held.release();
	const { text } = await world.call("list_recent_tool_calls", { tool: "bulk_role_update" });
	expect(text).toContain("bulk_role_update");
	expect(writes(world).length).toBeLessThanOrEqual(2);
	expect(requests.slice(0, 2).join()).toStartWith(writes(world).join());
});

test.each(ways)("a job whose waiting call is cancelled by %s ends after its running step", async (_, cancel) => {
	await using started = await start();
	const { world, gateway } = started;
	const plan_hash = await planOf(world, 4);
	const held = world.simulator.faults.stall(`POST /guilds/${world.guild.id}/roles`, { after: true });
	const client = new AbortController();
	const params = { name: "apply_guild", arguments: { guild_id: world.guild.id, plan_hash } };
	const answer = send(gateway, "tools/call", params, { id: 7, signal: client.signal })
		.then((response) => response.text())
		.catch(() => "");
	await until("the first role is being created", () => held.hits > 0);
	await cancel(gateway, client);
	expect(await answer).toBe("");
	await until("the job is being cancelled", async () => (await world.call("get_job")).text.includes("being cancelled"));
	held.release();
	await until("the job has ended", async () => (await world.call("get_job")).text.includes(": cancelled, 1 of 4"));
	expect(writes(world)).toHaveLength(1);
});

test("get_job waits for the end with progress, and cancelling it leaves the job alone", async () => {
	await using started = await start();
	const { world, gateway } = started;
	const plan_hash = await planOf(world, 3);
	const roles = `POST /guilds/${world.guild.id}/roles`;
	const held = world.simulator.faults.stall(roles, { after: true, times: 1 });
	const begun = world.call("apply_guild", { plan_hash });
	await until("the first role is being created", () => held.hits > 0);
	const job_id = /Job ([0-9a-f]{12})/.exec((await world.call("get_job")).text)?.[1];
	const wait = (id: number, signal?: AbortSignal) =>
		send(
			gateway,
			"tools/call",
			{
				name: "use_reading_tool",
				arguments: { guild_id: world.guild.id, name: "get_job", arguments: { job_id, wait: true } },
				_meta: { progressToken: "steps" },
			},
			{ id, ...(signal && { signal }) },
		);
	const client = new AbortController();
	const left = wait(8, client.signal).then((response) => response.text());
	const response = await wait(9);
	const { first, rest } = await parts(response);
	expect(first).toContain('"progressToken":"steps","progress":0,"total":3');
	client.abort();
	expect(left).rejects.toThrow();
	held.release();
	expect(await rest()).toContain(": done, 3 of 3 steps done");
	await begun;
	expect(writes(world)).toHaveLength(3);
});

test("a call that waits for the members of a guild reports how many are loaded", async () => {
	await using started = await start();
	const { world, gateway } = started;
	world.simulator.sockets.holdMembers(true);
	const guild = addToBakers(world);
	await world.heard();
	const args = { instance: "alpha", guild_id: guild.id, where: "not bot", reason: "a test", dry_run: true };
	const params = { name: "ban", arguments: args, _meta: { progressToken: 1 } };
	const { first, rest } = await parts(await send(gateway, "tools/call", params, { id: 1 }));
	expect(first).toContain(`"progress":1,"total":${guild.members.size}`);
	world.simulator.sockets.holdMembers(false);
	expect(await rest()).toContain("3 of 3 member(s) out of the bot's reach");
});
