// Every tool that changes something, through approval: its call is posted, changes nothing, and runs once after Approve,
// also if time passes until then.

import { afterAll, beforeAll, expect, setSystemTime, test } from "bun:test";
import { tools } from "../../../src/bot/tools/index.ts";
import { until } from "../../support/until.ts";
import { addToBakers, startWorld, type TestWorld } from "../../support/world.ts";
import type { Scene } from "../tool-rows/scene.ts";
import { executions, settle, writing } from "../tool-scene.ts";
import { staffChannel, titleOf } from "./approval-world.ts";

const planned = new Set(tools.filter(({ needs }) => needs.isPlanned).map(({ name }) => name));
const titles = new Map(tools.map(({ name, listing }) => [name, listing.title]));
const passedMs = 90_000;
let world: TestWorld;
let offsetMs = 0;
let channel: string;

beforeAll(async () => {
	world = await startWorld(
		{},
		{
			toml: { mcp: { toolsets: "all", approval: "write", approval_for_root: true } },
			settings: (simulator) => ({ "approval.channel": simulator.channel(staffChannel).id }),
		},
	);
	const { simulator } = world;
	channel = simulator.channel(staffChannel).id;
	addToBakers(world);
	await world.heard();
});

afterAll(async () => {
	setSystemTime();
	await world[Symbol.asyncDispose]();
});

test.each(writing)("%s", async (name, row) => {
	const { simulator, guild } = world;
	const other = simulator.guild("The Bakers");
	const scene: Scene = { world, guild, other };
	const act = row.act(scene);
	await settle(scene);
	const posts = () =>
		simulator.world.messages.in(channel).filter((message) => titleOf(message) === `Approve: ${titles.get(name)}?`);
	const answer = world.call(name, act.args);
	const [post] = await until("it is posted", () => {
		const found = posts();
		return found.length > 0 && found;
	});
	if (!post) throw new Error("it was posted");
	const quoted = post.embeds[0]?.description?.split("\n").filter((line) => line.startsWith("> "));
	// Of a plan people read their own text, not the models'.
	expect(quoted?.length ?? 0).toBeGreaterThan(planned.has(name) ? 0 : -1);
	expect(quoted?.filter((line) => /^> Would|\bID: /.test(line))).toEqual([]);
	expect(act.done()).toBe(false);
	expect(executions(scene, act)).toBe(0);

	offsetMs += passedMs;
	setSystemTime(new Date(performance.timeOrigin + performance.now() + offsetMs));
	const pressed = await simulator.user("ada").press(post, "Approve");
	expect((await pressed.reply()).content).toContain(`"${titles.get(name)}" is done`);
	expect((await answer).isError).toBe(false);
	await until("it is done", act.done);
	expect(executions(scene, act)).toBe(1);
	await until("its message says so", () => titleOf(simulator.world.messages.get(channel, post.id)).endsWith("done"));
});
