// 500 people join and write while two moderators use every command, within Discord's rate limits.

import { expect, test } from "bun:test";
import { stopsHarm } from "../../../src/discord/rest/request-pacing.ts";
import { realisticLimits } from "../../../src/simulator/rest/rate-limits.ts";
import type { Account } from "../../../src/simulator/world/state/entities.ts";
import { until } from "../../support/until.ts";
import { roleNamed } from "../../support/world.ts";
import { freshName } from "../tool-rows/scene.ts";
import { type ActionRow, actionRows, type Made } from "./action-rows.ts";
import { type ActionScene, offered, startActionScene } from "./action-world.ts";
import { frontEnds } from "./front-ends.ts";

const people = 500;
/** As many as commands of people without permissions run at once. */
const waves = 100;

/** A guild in which whoever joins gets a role and a greeting, with a channel for each person of a wave. */
async function startGuild() {
	const scene = await startActionScene({
		// The global limit is Discord's. Those of routes are higher than they are taken for, so that the test is short.
		rateLimits: { ...realisticLimits, each: { requests: 30, perMs: 2_000 } },
		requestsPerSecond: 50,
		// Longer than Discord's 3 s, in which a slow machine does not do all of this.
		timing: { acknowledgeMs: 60_000 },
		settings: (simulator) => ({
			features: { moderation: true },
			welcome: { channel: simulator.channel("The Cooks/general").id },
			join_role: { role: roleNamed(simulator, "Newcomer").id },
		}),
	});
	const { world, guild } = scene;
	const channels = Array.from({ length: waves }, () =>
		world.simulator.world.channels.add(guild, { name: freshName() }),
	);
	await scene.settle();
	return { ...scene, channels };
}

type Crowded = Awaited<ReturnType<typeof startGuild>>;

/** People join and ask for help, a hundred at a time, until everybody has or `isOver` is true. */
async function flood(scene: Crowded, isOver: () => boolean): Promise<void> {
	const { world, guild, channels } = scene;
	const { users, members, messages } = world.simulator.world;
	const replies = () => world.simulator.journal.entries("POST /channels/:channel_id/messages").length;
	for (let wave = 0; wave < people / waves; wave++) {
		const before = replies();
		for (const channel of channels) {
			const user = users.add({ username: freshName() });
			members.add(guild, user);
			messages.add(channel, user, { content: "hello" });
			messages.add(channel, user, { content: "!m help" });
		}
		await until("most of them are answered", () => isOver() || replies() - before > waves / 2);
	}
}

/** A moderator uses each command once, one after another. Returns what became of each. */
async function moderate(scene: ActionScene, person: Account) {
	const outcomes: { name: string; made: Made; text: string }[] = [];
	for (const [name, row] of Object.entries(actionRows)) {
		if (row.isGuildWide) continue;
		const made = await row.make(scene, 1);
		const action = offered.actions.find((one) => one.name === row.action);
		if (!action) throw new Error(`there is no action ${row.action}`);
		const order = {
			action,
			tool: row.tool,
			args: made.args,
			...(row.typed && { typed: row.typed }),
			...(row.isSilent && { isElsewhere: true as const }),
		};
		const slash = frontEnds.find((frontEnd) => frontEnd.name === "slash command");
		// Throws if the bot does not respond.
		const answer = await slash?.give(scene, person, order);
		outcomes.push({ name, made, text: answer?.text ?? "" });
	}
	return outcomes;
}

const wanted = (row: ActionRow | undefined) => row?.recordedAs ?? "";

test("500 people join and write while two moderators use every command: no command is lost, and bans come first", async () => {
	await using scene = await startGuild();
	const { simulator } = scene.world;
	const moderators = [scene.newPerson(), scene.newPerson()];
	await scene.world.heard();
	let isOver = false;
	const flooding = flood(scene, () => isOver);
	await until("the bot is busy", () => simulator.requests.list().length > waves / 4);
	const begin = simulator.journal.entries().length;

	const outcomes = await Promise.all(moderators.map((person) => moderate(scene, person)));
	const entries = simulator.journal.entries().slice(begin);
	isOver = true;
	await flooding;

	for (const { name, made, text } of outcomes.flat())
		expect({ name, text, isDone: made.done() }).toMatchObject({ isDone: true });
	const failed = simulator.interactions.list().filter(({ state }) => state === "failed");
	expect(failed).toEqual([]);
	const cases = scene.newCases();
	for (const [index, { user }] of moderators.entries()) {
		const own = cases.filter(({ moderator_id }) => moderator_id === user.id);
		expect([index, own.map(({ state }) => state)]).toEqual([index, own.map(() => "done")]);
		expect(own.map(({ action }) => action)).toEqual(outcomes[index]?.map(({ name }) => wanted(actionRows[name])) ?? []);
	}
	// Others waited: while the moderators worked, the bot did not only work for them.
	const bans = entries.filter(({ method, path, body }) => stopsHarm({ method, fullRoute: path, body } as never));
	expect(bans.length).toBeGreaterThanOrEqual(6);
	const last = entries.findLastIndex(({ route }) => route.startsWith("POST /channels/:channel_id/messages"));
	expect(last).toBeGreaterThan(entries.indexOf(bans[0] as never));
	// Its rate limits refused hardly anything. Without pacing it is 130. Greetings are refused while a moderator has locked their channel.
	expect(simulator.requests.list().filter(({ status }) => status === 429).length).toBeLessThan(10);
}, 300_000);
