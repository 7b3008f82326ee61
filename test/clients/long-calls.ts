// The official SDKs, with calls that take long: they see progress, and what a person cancels reaches Discord no more.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { gatewayToken, startTestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { startWorld, type TestWorld, writes } from "../support/world.ts";
import { type ConnectWithKey, textOf, type Watching } from "./client.ts";

async function planOf(world: TestWorld, count: number) {
	const roles = Array.from({ length: count }, (_, index) => ({ name: `made-${index}` }));
	return /plan_hash=(\w+)/.exec((await world.call("plan_guild", { document: { roles } })).text)?.[1];
}

test.each([
	["version 1", "sdk-v1.ts", "connectWithKey"],
	["version 2, with sessions", "sdk-v2.ts", "sessionWithKey"],
	["version 2", "sdk-v2.ts", "connectWithKey"],
])("SDK %s: a job's steps are progress, and cancelling the call ends the job", async (_, file, name) => {
	const connect: ConnectWithKey = (await import(join(import.meta.dir, file)))[name];
	await using world = await startWorld();
	const options = { progress: { afterMs: 0, everyMs: 0 } };
	await using gateway = await startTestGateway({ alpha: { url: new URL(world.bot.url).origin } }, { options });
	const call = await connect(`${gateway.url}/mcp`, gatewayToken);
	const guild_id = world.guild.id;
	const steps = `POST /guilds/${guild_id}/roles`;
	const reports: unknown[] = [];
	const onprogress: Watching["onprogress"] = ({ progress, total }) => reports.push(`${progress} of ${total}`);
	const never = new AbortController().signal;

	const slow = world.simulator.faults.stall(steps, { after: true, times: 1 });
	const done = call("apply_guild", { guild_id, plan_hash: await planOf(world, 2) }, { signal: never, onprogress });
	await until("there is progress", () => reports.length > 0);
	slow.release();
	expect(textOf(await done)).toContain(": done, 2 of 2 steps done");
	expect(reports).toContain("0 of 2");

	const before = writes(world).length;
	const held = world.simulator.faults.stall(steps, { after: true, times: 1 });
	const person = new AbortController();
	const plan_hash = await planOf(world, 5);
	const cancelled = call("apply_guild", { guild_id, plan_hash }, { signal: person.signal, onprogress });
	await until("the first role is being created", () => held.hits > 0);
	person.abort();
	expect(cancelled).rejects.toThrow();
	const job = async (text: string) => (await world.call("get_job")).text.includes(text);
	await until("the job is being cancelled", () => job("being cancelled"));
	held.release();
	await until("the job has ended", () => job(": cancelled, 1 of 3 "));
	expect(writes(world)).toHaveLength(before + 1);
});
