// The console with a real bot: the arguments of a call as in its audit log, and approvals.

import { expect, test } from "bun:test";
import { pendingId, readAnswer, startApprovalWorld, token } from "../bot/approval/approval-world.ts";
import { signedIn, signedInPerson } from "../gateway/console/console-client.ts";
import { createGatewayClient, startTestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

async function startWorld(mcp: Record<string, unknown> = {}) {
	const world = await startApprovalWorld({ mcp: () => mcp });
	const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
	const now = () => clock.now;
	const gateway = await startTestGateway(
		{ alpha: world.bot },
		{
			env: { MCP_AUTH_TOKEN: token },
			options: { approvals: { waitMs: 0, pollMs: 1 }, signIn: { clocks: { now, monotonicNow: now } } },
		},
	);
	await until("the bot lists its guilds", async () => {
		await gateway.refresh();
		const client = await signedIn(gateway.url, token);
		const { body } = await client.get<{ bots: { guildCount: number }[] }>("state");
		return body.bots[0]?.guildCount === 1;
	});
	return {
		...world,
		...createGatewayClient(`${gateway.url}/mcp`, token),
		root: () => signedIn(gateway.url, token),
		signedInAs: (name: string) => signedInPerson(gateway.url, world.person(name), clock.now, token),
		async [Symbol.asyncDispose]() {
			await gateway.close();
			await world[Symbol.asyncDispose]();
		},
	};
}

interface Found {
	calls: { arguments: string }[];
}

test("the details of a call are redacted as in the bot's audit log, and are nobody else's", async () => {
	await using world = await startWorld({ approval: "off" });
	const content = "what-ada-wrote-in-confidence";
	const channel_id = world.simulator.channel("The Cooks/staff").id;
	await world.call("send_message", { instance: "alpha", channel_id, content });
	const client = await world.root();
	const calls = await client.get<{ calls: { id: string }[] }>("calls");
	const id = calls.body.calls.at(-1)?.id;
	const query = (request: unknown) => ({ instance: "alpha", request, from: 0, before: 4e12, limit: 10 });
	const { body } = await client.post<Found>("history", query(id));
	expect(body.calls).toContainEqual(
		expect.objectContaining({
			tool: "send_message",
			outcome: "done",
			arguments: JSON.stringify({ channel_id, content: "[28 characters]" }),
		}),
	);
	expect(JSON.stringify(body)).not.toContain(content);
	const ada = await world.signedInAs("ada");
	expect((await ada.post<Found>("history", query(id))).body.calls).toEqual([]);
	// Ada's own call.
	const tried = await ada.post<{ id: string }>("tools/call", {
		name: "list_channels",
		arguments: { guild_id: world.guild.id },
	});
	expect(tried.body).toMatchObject({ isError: false });
	const own = await ada.post<Found>("history", query(tried.body.id));
	const person = world.person("ada").id;
	const hers = { tool: "list_channels", person, client: "Guildhall console" } as never;
	// As the gateway and the bot know it.
	expect(own.body.calls).toMatchObject([hers, hers]);
});

interface Approvals {
	approvals: { id: string; token: string; instance: string }[];
	unavailable: unknown[];
}

test("a call that waits is approved in the console", async () => {
	await using world = await startWorld({ approval_for_root: true });
	const zoe = world.simulator.user("zoe").id;
	const answer = await world.call("ban", { guild_id: world.guild.id, user_ids: [zoe] });
	const id = pendingId(readAnswer(answer as never));
	const root = await world.root();
	const { body } = await root.get<Approvals>("approvals");
	expect(body).toEqual({
		approvals: [
			expect.objectContaining({
				instance: "alpha",
				id,
				tool: "ban",
				mayDeny: true,
				mayApprove: false,
				why: expect.stringContaining("MCP_AUTH_TOKEN"),
			}),
		],
		unavailable: [],
	});
	const [shown] = body.approvals;
	const { token } = shown ?? {};
	const decision = { instance: "alpha", id, token, decision: "approve" };
	expect((await root.post("approvals/decide", decision)).body).toMatchObject({ done: false });
	const stranger = await world.signedInAs("zoe");
	expect((await stranger.get("approvals")).body).toMatchObject({ approvals: [] });
	expect((await stranger.post("approvals/decide", decision)).status).not.toBe(200);
	expect(world.guild.bans.has(zoe)).toBe(false);
	const ada = await world.signedInAs("ada");
	expect((await ada.get("approvals")).body).toMatchObject({ approvals: [{ id, mayApprove: true }] });
	expect((await ada.post("approvals/decide", decision)).body).toMatchObject({
		done: true,
		message: expect.stringContaining('"Ban users" is done'),
	});
	expect(world.guild.bans.has(zoe)).toBe(true);
	const wrong = { ...decision, instance: "gamma" };
	expect((await root.post("approvals/decide", wrong)).status).toBe(404);
});
