// What Discord's AutoMod does, in the moderation log and as cases.

import { expect, test } from "bun:test";
import { AutoModerationActionType as Action } from "discord.js";
import { until } from "../../../support/until.ts";
import { userNamed } from "../../../support/world.ts";
import { addKeywordRule, advert, staffChannel, startSpam } from "./spam-world.ts";

const block = { type: Action.BlockMessage, metadata: {} };
const timeout = { type: Action.Timeout, metadata: { duration_seconds: 3_600 } };
const evil = "my evil words";

/** Keys of sections, and what the rule does. */
type Setup = Partial<Record<"automod" | "moderation" | "log", object>> & {
	actions?: ("block" | "alert" | "timeout")[];
};

async function startAutomod({ automod = { log: true }, moderation, log = {}, actions = ["block"] }: Setup = {}) {
	const world = await startSpam({}, { moderation: { tell: [], ...moderation }, sections: { automod, log } });
	const { simulator } = world;
	const alert = { type: Action.SendAlertMessage, metadata: { channel_id: simulator.channel(staffChannel).id } };
	const done = actions.map((name) => ({ block, alert, timeout })[name]);
	addKeywordRule(simulator, "No *evil*", done);
	const zoe = simulator.user("zoe");
	return Object.assign(world, {
		/** Zoë does, and may be blocked. */
		say: (text: string) => zoe.say("The Cooks/general", text).catch(() => {}),
		shown: () => world.entries().map(({ embeds }) => JSON.stringify(embeds)),
		buttons: () => JSON.stringify(world.entries()[0]?.components).match(/"label":"[^"]+"/g)?.length,
		cases: () => world.store.sql<{ action: string; reason: string }>`SELECT action, reason FROM cases`,
	});
}

const rows: Record<string, [Setup, entry: readonly string[], buttons: number, cases: number]> = {
	"all actions": [{ actions: ["block", "alert", "timeout"] }, ["Timed out until", "blocked 1", "**Undo**"], 3, 1],
	"a block": [{}, ["AutoMod blocked 1 message."], 2, 0],
	"a block that counts": [{ automod: { log: true, counts: true } }, ["AutoMod blocked 1 message.", '"Case"'], 2, 1],
	"an alert": [{ actions: ["alert"] }, ["What AutoMod reported without blocking it stays."], 2, 0],
};

for (const [what, [setup, entry, buttons, cases]] of Object.entries(rows))
	test(`one entry: ${what}`, async () => {
		await using world = await startAutomod(setup);
		await world.say(evil);
		await until("the entry", () => world.entries().length > 0);
		for (const part of ["AutoMod: No \\\\*evil\\\\*", world.simulator.user("zoe").id, ...entry])
			expect(world.shown()[0]).toContain(part);
		expect(world.buttons()).toBe(buttons);
		const isDone = async () => (await world.store.sql`SELECT id FROM spam_incidents WHERE state = ${"done"}`).length;
		await until("it is stored", async () => (await isDone()) === 1);
		await until("its cases are stored", async () => (await world.cases()).length === cases);
		for (const one of await world.cases())
			expect(one).toMatchObject({ action: "automod", reason: "AutoMod: No *evil*" });
		// What follows is added to the entry.
		const zoe = world.member("zoe");
		world.simulator.world.members.edit(world.guild, zoe, { communication_disabled_until: null });
		await world.say(evil);
		if (what !== "an alert") await until("the entry is up to date", () => world.shown()[0]?.includes("2 messages"));
		expect(world.entries()).toHaveLength(1);
		expect(await world.cases()).toHaveLength(cases);
		const stored = JSON.stringify(await world.store.sql`SELECT * FROM spam_incidents`);
		expect(stored + JSON.stringify(world.logged.messages()) + world.shown().join()).not.toContain("my evil");
	});

test("off, and what the bot itself has found, are no entries", async () => {
	await using off = await startAutomod({ automod: {} });
	await off.say(evil);
	await off.heard();
	expect(off.entries()).toEqual([]);

	await using world = await startAutomod({ actions: ["alert"] });
	const text = `${evil} ${advert}`;
	const zoe = userNamed(world.simulator, "zoe");
	for (const channel of [0, 1, 2]) world.post(zoe, channel, text);
	await world.say(text);
	await until("the entry", () => world.entries().length > 0);
	await world.say(text);
	await world.heard();
	expect(world.shown()).toHaveLength(1);
	expect(world.shown()[0]).toContain('"Spam"');
});

test("with log.evidence the entry shows the text, but not in a channel that everyone sees", async () => {
	const shown = async (isPublic: boolean) => {
		await using world = await startAutomod({ log: { evidence: true } });
		const { simulator, channels } = world;
		const where = isPublic ? (channels[0]?.id ?? "") : simulator.channel(staffChannel).id;
		await world.set({ "moderation.log_channel": where });
		await world.say(evil);
		const { id } = simulator.bot("alpha");
		const entry = () => simulator.world.messages.in(where).find(({ author }) => author.id === id);
		return JSON.stringify((await until("the entry", entry))?.embeds);
	};
	expect(await shown(false)).toContain(evil);
	expect(await shown(true)).not.toContain(evil);
});

test("cases of AutoMod count as warnings only with automod.counts", async () => {
	const escalated = async (counts: boolean) => {
		const moderation = { escalate: ["1 warning in 1d: kick"] };
		await using world = await startAutomod({ automod: { log: true, counts }, moderation, actions: ["timeout"] });
		await world.say(evil);
		await until("the case", async () => (await world.cases()).length > 0);
		return (await world.cases()).map(({ action }) => action);
	};
	expect(await escalated(false)).toEqual(["automod"]);
	expect(await escalated(true)).toEqual(["automod", "kick"]);
});
