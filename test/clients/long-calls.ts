// The official SDKs, with calls that take long: they see progress, and what a person cancels reaches Discord no more.

import { expect, test } from "bun:test";
import { gatewayToken, startTestGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { planOf, startWorld, writes } from "../support/world.ts";
import { type ConnectWithKey, textOf, type Watching } from "./client.ts";

test.each([
	["version 1", "sdk-v1.ts", "connectWithKey"],
	["version 2, with sessions", "sdk-v2.ts", "sessionWithKey"],
	["version 2", "sdk-v2.ts", "connectWithKey"],
])("SDK %s: a job's steps are progress, and cancelling the call ends the job", async (_, file, name) => {
	const connect: ConnectWithKey = (await import(`./${file}`))[name];
	await using world = await startWorld();
	const options = { progress: { afterMs: 0, everyMs: 0 } };
	await using gateway = await startTestGateway({ alpha: { url: new URL(world.bot.url).origin } }, { options });
	const call = await connect(`${gateway.url}/mcp`, gatewayToken);
	const guild_id = world.guild.id;
	const reports: unknown[] = [];
	const onprogress: Watching["onprogress"] = ({ progress, total }) => reports.push(`${progress} of ${total}`);
	/** Up to its first step, which the bot sends and Discord does not answer yet. */
	const begin = async (steps: number, signal = new AbortController().signal) => {
		const held = world.simulator.faults.stall(`POST /guilds/${guild_id}/roles`, { after: true, times: 1 });
		const done = call("apply_guild", { guild_id, plan_hash: await planOf(world, steps) }, { signal, onprogress });
		await until("the first role is being created", () => held.hits > 0);
		return { done, held };
	};
	const watched = await begin(2);
	await until("there is progress", () => reports.includes("0 of 2"));
	watched.held.release();
	expect(textOf(await watched.done)).toContain(": done, 2 of 2 steps done");

	const before = writes(world).length;
	const person = new AbortController();
	const cancelled = await begin(5, person.signal);
	person.abort();
	expect(cancelled.done).rejects.toThrow();
	const shows = (text: string) => async () => (await world.expectResult("get_job")).includes(text);
	await until("the job is being cancelled", shows("being cancelled"));
	cancelled.held.release();
	await until("the job has ended", shows(": cancelled, 1 of 3 "));
	expect(writes(world)).toHaveLength(before + 1);
});
