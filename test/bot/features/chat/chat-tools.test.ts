// AI chat with tools, used as people use it.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { AnswerStep } from "../../../../src/simulator/ai/chat-completions.ts";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { until } from "../../../support/until.ts";
import { channelNamed } from "../../../support/world.ts";
import { grant } from "../running-feature.ts";
import { type Asking, askingTest, general } from "./asking.ts";

const staffMessages = { name: "get_recent_messages", arguments: { channel_id: "#staff" } };

/** A newcomer, and a step that times them out. */
async function newcomer({ world, simulator }: Asking) {
	const nora = simulator.world.members.add(world.guild, simulator.world.users.add({ username: "nora" }));
	await world.heard();
	const { id } = nora.user;
	const args = { user_ids: [id], duration: "1h" };
	return { nora, timeout: { calls: [{ name: "use_tool", arguments: { name: "timeout", arguments: args } }] } };
}

/** Ada asks for it, and is shown the plan. */
async function planFor({ ask, withButton, open }: Asking, step: AnswerStep) {
	const asked = await ask("ada", "do it", [step, { text: "Here is the plan." }]);
	const shown = await open("ada", await withButton(asked, "Show to me"));
	return { asked, plan: await shown.followUp() };
}

askingTest("a read runs at once, and its answer is for the asker alone where others may not read it", async (scene) => {
	const { ask, withButton, simulator, results } = scene;
	const ada = simulator.user("ada");
	const asked = await ask("ada", "who talks in staff?", [{ calls: [staffMessages] }, { text: "Nobody but zoe." }]);
	const notice = await withButton(asked, "Show to me");
	expect(notice.content).toBe(`<@${ada.id}>, not everybody here may read the answer, so only you can.`);
	expect(results()[0]).toMatch(/^(get_recent_messages> .*\n?)+$/);
	const reply = await (await scene.open("ada", notice)).reply();
	expect([reply.content, reply.ephemeral]).toEqual(["Nobody but zoe.", true]);
	const refused = await (await simulator.user("zoe").press(notice, "Show to me")).reply();
	expect(refused.content).toBe(`This is for <@${ada.id}> alone.`);
	// The asker's next question knows it, and is answered alone, too; another person's does not.
	const next = await ask("ada", "again?", [{ text: "As I said." }]);
	await withButton(next, "Show to me");
	expect(JSON.stringify(scene.ai.requests.at(-1))).toContain("Nobody but zoe.");
	const other = await ask("zoe", "what did she hear?", [{ text: "No idea." }], general, notice);
	await scene.answer(other, ({ content }) => content === "No idea.");
	expect(JSON.stringify(scene.ai.requests.at(-1))).not.toContain("Nobody but zoe.");
});

askingTest("what everybody in the channel could look up is answered in the channel", async (scene) => {
	const steps = [{ calls: [{ name: "list_channels", arguments: {} }] }, { text: "Two channels." }];
	const asked = await scene.ask("liwei", "which channels are there?", steps);
	expect((await scene.answer(asked, ({ content }) => content !== "")).content).toBe("Two channels.");
	expect(scene.results()[0]).not.toContain("staff");
});

askingTest("a change waits for the press of who asked, and names them and the question", async (scene) => {
	const { simulator, world } = scene;
	const { nora, timeout } = await newcomer(scene);
	const { asked, plan } = await planFor(scene, timeout);
	expect(plan.embeds[0]?.description).toMatch(
		/^\*\*Time members out\*\*\nTime out <@\d+> until <t:\d+:f>\?\n```diff\nduration: "1h"\n```\n-# Only <@\d+> can decide/,
	);
	expect(nora.communication_disabled_until).toBeFalsy();
	const pressed = await simulator.user("ada").press(plan, "Do it");
	await until("it is carried out", () => plan.embeds[0]?.title === "Carried out");
	expect(plan.embeds[0]?.description).toMatch(/Timed out <@\d+> until <t:\d+:f>\.\nCase 1\./);
	expect(nora.communication_disabled_until).toBeTruthy();
	await pressed.acknowledged();
	const link = `https://discord.com/channels/${world.guild.id}/${asked.channel_id}/${asked.id}`;
	expect((await world.call("list_cases")).text).toContain(`through AI chat, ${link}`);
	const reason = `reason: No reason given (for Ada, by AI chat, ${link})`;
	expect((await world.call("get_audit_log")).text).toContain(reason);
	expect((await world.call("list_recent_tool_calls", { tool: "timeout" })).text).toContain(`client: AI chat, ${link}`);
});

askingTest("a plan shows what its sentence leaves out", async (scene) => {
	const args = { user_ids: ["@zoe"], content: "Pay ``` here" };
	const { plan } = await planFor(scene, { calls: [{ name: "send_private_message", arguments: args }] });
	expect(plan.embeds[0]?.description).toContain('?\n```diff\ncontent: "Pay ˋˋˋ here"\n```\n-# Only');
});

askingTest("a plan that would do something else is shown again", async (scene) => {
	const { simulator, world } = scene;
	const { nora, timeout } = await newcomer(scene);
	const { plan } = await planFor(scene, timeout);
	simulator.world.members.remove(world.guild, nora);
	await world.heard();
	await simulator.user("ada").press(plan, "Do it");
	await until("it is shown again", () => plan.embeds[0]?.description?.startsWith("What this would do has changed"));
	expect([plan.embeds[0]?.title, plan.buttons]).toEqual(["The plan: nothing is done yet", []]);
});

askingTest("who has no rights of moderators plans nothing, and does not press for others", async (scene) => {
	const { ask, answer, simulator, world, results } = scene;
	const { nora, timeout } = await newcomer(scene);
	const asked = await ask("liwei", "time out nora", [timeout, { text: "I cannot." }]);
	expect((await answer(asked, ({ content }) => content !== "")).content).toBe("I cannot.");
	expect(results()[0]).toContain("the person who asks has no right to do that");
	const names = JSON.stringify(Object(scene.ai.requests[0]?.body).tools);
	expect(names).toContain('"search_messages"');
	expect(names).not.toContain('"use_tool"');
	expect(names).not.toContain('"list_cases"');
	// In a channel where all have the asker's rights, the plan stands in the channel.
	grant(simulator, "Staff", PermissionFlagsBits.Administrator);
	await world.heard();
	const inStaff = await ask("jose.garcia", "time out nora", [timeout, { text: "The plan." }], "The Cooks/staff");
	const plan = await scene.withButton(inStaff, "Do it");
	const refused = await (await simulator.user("ada").press(plan, "Do it")).followUp();
	expect(refused.content).toContain("alone");
	await simulator.user("jose.garcia").press(plan, "Cancel");
	await until("it is cancelled", () => plan.embeds[0]?.title?.startsWith("Cancelled"));
	expect(nora.communication_disabled_until).toBeFalsy();
});

askingTest(
	"what approval covers goes to the approvers after the press",
	{
		config: { mcp: { approval: "write" } },
		settings: (simulator) => ({ "approval.channel": simulator.channel("The Cooks/staff").id }),
	},
	async (scene) => {
		const { simulator } = scene;
		const { nora, timeout } = await newcomer(scene);
		const { plan } = await planFor(scene, timeout);
		expect(plan.embeds[0]?.description).toContain("needs an approval, too");
		await simulator.user("ada").press(plan, "Do it");
		await until("it waits for an approval", () =>
			plan.embeds[0]?.description?.includes("It waits for an approval in <#"),
		);
		expect(plan.embeds[0]?.title).toBe("Carried out: 0 of 1 · 1 waiting for approval");
		expect(nora.communication_disabled_until).toBeFalsy();
	},
);

askingTest(
	"what would need an approval is not planned where there is no channel for approvals",
	{ config: { mcp: { approval: "write" } } },
	async (scene) => {
		const { timeout } = await newcomer(scene);
		const asked = await scene.ask("ada", "Time nora out", [timeout, { text: "It cannot be done." }]);
		await scene.withButton(asked, "Show to me");
		expect(scene.results().join()).toContain("no channel for approvals");
	},
);

/** Calls of the tool that the arguments are for, through use_tool. */
const use = (name: string, args: object) => ({ calls: [{ name: "use_tool", arguments: { name, arguments: args } }] });
const ended = (plan: Pick<Message, "embeds">) =>
	until("it is carried out", () => plan.embeds.find(({ title = "" }) => /^(Carried out|Ausgeführt)/.test(title)));

askingTest("the title counts calls that failed or have no known outcome", async (scene) => {
	const { simulator } = scene;
	const { nora, timeout } = await newcomer(scene);
	const user_ids = [nora.user.id];
	const calls = [timeout, use("set_nickname", { user_ids, nickname: "N" }), use("kick", { user_ids })];
	const { plan } = await planFor(scene, { calls: calls.flatMap((one) => one.calls) });
	simulator.faults.drop("PATCH /guilds/:guild_id/members/:user_id", { when: "after", times: 1 });
	simulator.faults.refuse("DELETE /guilds/:guild_id/members/:user_id", 50013);
	await simulator.user("ada").press(plan, "Do it");
	expect((await ended(plan)).title).toBe("Carried out: 1 of 3 · 1 failed · 1 with unknown outcome");
});

askingTest("a plan and its result are in one language", async (scene) => {
	const { simulator, world } = scene;
	simulator.world.guilds.edit(world.guild, { preferred_locale: "de" });
	const { timeout } = await newcomer(scene);
	const asked = await scene.ask("ada", "do it", [timeout, { text: "Here." }]);
	const shown = await simulator.user("ada").press(await scene.withButton(asked, "Mir zeigen"), "Mir zeigen");
	const plan = await shown.followUp();
	expect(plan.embeds[0]?.title).toBe("Der Plan: Noch ist nichts geschehen");
	await simulator.user("ada").press(plan, "Ausführen");
	expect(await ended(plan)).toMatchObject({ title: "Ausgeführt", description: expect.stringMatching(/bis <t:\d+:f>/) });
});

askingTest("plans of a guild show their steps, and are carried out as they were shown", async (scene) => {
	const { simulator, world } = scene;
	const { guild } = world;
	const document = {
		categories: [{ name: "Talk", channels: [{ name: "general", topic: "New" }] }],
		roles: [{ name: "A" }],
	};
	const { text } = await world.call("plan_guild", { document });
	const plan_hash = /plan_hash=(\w+)/.exec(text)?.[1];
	// Then it is no longer the plan of the hash.
	simulator.world.channels.edit(channelNamed(world, "general"), { topic: "Changed" });
	await world.heard();
	const { plan } = await planFor(scene, use("apply_guild", { plan_hash }));
	expect(plan.embeds[0]?.description).toStartWith(
		"**Carry out a plan**\nChange the server as the plan says?\n```diff\ncreate 1, change 1\n+ role A\n~ channel #general: topic Changed → New\n",
	);
	expect(plan.embeds[0]?.description).not.toMatch(/hash|Nothing was changed/);
	await simulator.user("ada").press(plan, "Do it");
	expect((await ended(plan)).title).toBe("Carried out");
	expect(channelNamed(world, "general")).toMatchObject({ topic: "New" });
	const undo = use("undo_actions", { user_id: "@ada", after: "1h", delete_created: true });
	// Nothing is planned that the person may not do, or that would do nothing.
	const refusedFor = async (who: string) => {
		await scene.withButton(await scene.ask(who, "undo it", [undo, { text: "No." }]), "Show to me");
		expect(scene.results()[0]).not.toContain("Planned");
		return scene.results()[0];
	};
	grant(simulator, "Staff", PermissionFlagsBits.Administrator);
	await world.heard();
	expect(await refusedFor("jose.garcia")).toContain("You rank below @alpha");
	const { plan: undoing } = await planFor(scene, undo);
	expect(undoing.embeds[0]?.description).toContain("topic New → Changed\n- role A\n");
	await simulator.user("ada").press(undoing, "Do it");
	expect((await ended(undoing)).title).toBe("Carried out");
	expect([channelNamed(world, "general"), [...guild.roles.values()].some(({ name }) => name === "A")]).toMatchObject([
		{ topic: "Changed" },
		false,
	]);
	expect(await refusedFor("ada")).toContain("There is nothing to do.");
});

askingTest("/ask answers the person alone, with the plan", async (scene) => {
	const { ai, simulator } = scene;
	const { nora, timeout } = await newcomer(scene);
	ai.script = [timeout, { text: "The plan." }];
	const used = await simulator.user("ada").run(general, "ask", { question: "time out nora" });
	const reply = await used.reply();
	expect([reply.content, reply.ephemeral]).toEqual(["The plan.", true]);
	const plan = await used.followUp();
	await simulator.user("ada").press(plan, "Do it");
	await until("nora is timed out", () => nora.communication_disabled_until);
});

askingTest("a conversation is forgotten on request, and a thread remembers what all said", async (scene) => {
	const { ask, answer, ai } = scene;
	const first = await ask("ada", "my secret is 42", [{ text: "I see." }]);
	await answer(first, ({ content }) => content === "I see.");
	const forgetting = await ask("ada", "forget this", []);
	await answer(forgetting, ({ content }) => content === "I have forgotten this conversation.");
	const next = await ask("ada", "what is it?", [{ text: "No idea." }]);
	await answer(next, ({ content }) => content === "No idea.");
	expect(JSON.stringify(ai.requests.at(-1))).not.toContain("secret is 42");
});

askingTest("messages of people who have AI chat off do not reach the model", async (scene) => {
	const { ask, answer, simulator, results } = scene;
	const zoe = simulator.user("zoe");
	await zoe.say(general, "my secret is 42");
	await simulator.user("mona_lisa").say(general, "mine is 43");
	const panel = await (await zoe.run(general, "mydata")).reply();
	await zoe.press(panel, "AI chat: off for me");
	await until("it is off", () => panel.buttons.some(({ label }) => label === "AI chat: on for me"));
	const read = { name: "get_recent_messages", arguments: { channel_id: "#general" } };
	const asked = await ask("liwei", "what are the secrets?", [{ calls: [read] }, { text: "43." }]);
	await answer(asked, ({ content }) => content === "43.");
	expect(results()[0]).toContain("mine is 43");
	expect(results()[0]).toContain("[hidden: this person does not want AI to read it]");
	expect(results()[0]).not.toContain("secret is 42");
});
