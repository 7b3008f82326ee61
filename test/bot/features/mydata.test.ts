// /privacy and /mydata, used as people use them.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { erasePerson } from "../../../src/bot/store/personal-data.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";
import { chatTest, words } from "./chat/running-chat.ts";

const general = "The Cooks/general";

async function startScene(sections: Record<string, unknown> = {}) {
	const world = await startWorld({}, { sections: () => sections });
	const { simulator } = world;
	await world.heard();
	const zoe = simulator.user("zoe");
	const open = async (command: string, name = "zoe") => (await simulator.user(name).run(general, command)).reply();
	return { world, zoe, open, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

const sceneTest = testWith(() => startScene());

test("/privacy names the game server where there is one", async () => {
	await using scene = await startScene({ features: { game: true }, game: {} });
	expect((await scene.open("privacy")).content).toMatch(/\n- \*\*Game server\*\*: its supporters.*, for good\..*\nThe/);
});

sceneTest(
	"/privacy says for how long, by the guild's settings, to everybody and nobody else",
	async ({ world, open }) => {
		expect((await open("privacy")).content).toMatch(/It stays: for good\..*their end: 180 days\..*stay: 90 days\./s);
		await world.call("set_settings", {
			settings: { "keep.cases_days": 30, "keep.reports_days": 7, "keep.calls_days": 400, "log.evidence": true },
		});
		const { content, ephemeral } = await open("privacy");
		expect(content).toMatch(/It stays: 30 days\..*their end: 7 days\..*stay: 90 days\..*\*\*AI chat\*\*: off/s);
		expect(content).toContain("**Messages**: those of the last 24 hours");
		expect([ephemeral, content.length < 2_000, content.includes("Game server")]).toEqual([true, true, false]);
	},
);

sceneTest(
	"a person gets a file, erases, is told what is kept, and how often they may",
	async ({ world, zoe, open }) => {
		await world.call("warn_member", { user_ids: [zoe.id], reason: "was rude", tell: false });
		await world.call("note_member", { user_id: zoe.id, text: "among staff" });
		const reply = await open("mydata");
		expect(reply.ephemeral).toBe(true);
		const got = await (await zoe.press(reply, "Get a file")).reply();
		expect(got.ephemeral).toBe(true);
		const [file] = got.attachments;
		const text = await (await fetch(String(file?.url))).text();
		expect(file?.filename).toBe("mydata.json");
		expect(JSON.parse(text).cases_about_you).toMatchObject([{ reason: "was rude", action: "warn" }]);
		expect(text).not.toContain("among staff");
		using database = new Database(join(world.dataDirectory, "store.sqlite"));
		database.run("INSERT INTO conversation_messages VALUES ('1', NULL, ?, '2', ?, 'user', 'Zoë', ?, 0)", [
			world.guild.id,
			zoe.id,
			"much".repeat(3_000_000),
		]);
		const [large] = (await (await zoe.press(reply, "Get a file")).reply()).attachments;
		const packed = await (await fetch(String(large?.url))).arrayBuffer();
		expect(large?.filename).toBe("mydata.json.gz");
		expect(JSON.parse(new TextDecoder().decode(Bun.gunzipSync(packed))).ai_chat).toHaveLength(1);
		await zoe.press(reply, "AI chat: off for me");
		await until("the button turns", () => reply.buttons.some(({ label }) => label === "AI chat: on for me"));
		for (let times = 1; times <= 3; times++) {
			const again = await open("mydata");
			await zoe.press(again, "Erase my data");
			await until("it asks", () => again.content.includes("cannot be undone"));
			const pressed = await zoe.press(again, "Erase it all");
			if (times < 3) await until("it says what is left", () => again.content.includes("`cases_about_you`: 1"));
			else expect((await pressed.followUp()).content).toContain("Try again in");
		}
	},
);

chatTest("who has AI chat off is not read to the AI: neither questions nor what others continue", async (chat) => {
	const { chatPrivacy, guild, simulator } = chat.feature;
	const zoe = { guild: guild.id, user: simulator.user("zoe").id };
	const answer = await chat.ask("zoe", "my secret", { saying: /secret$/ });
	await chatPrivacy.set(zoe, 1);
	await chat.ask("zoe", "another", { saying: /switched AI chat off for yourself/ });
	await chat.ask("ada", "What was that?", { to: answer, saying: /that\?$/ });
	expect(chat.told()).toEqual(["user: Ada: What was that?"]);
	expect(chat.ai.requests).toHaveLength(2);
	await chatPrivacy.set(zoe, undefined);
	await chat.ask("zoe", "once more", { saying: /once more$/ });
});

chatTest("who erases their data is forgotten in memory, too", async (chat) => {
	const { chatPrivacy, guild, simulator } = chat.feature;
	const answer = await chat.ask("zoe", "my secret", { saying: /secret$/ });
	await chat.noted(answer);
	const person = { guild: guild.id, user: simulator.user("zoe").id };
	chatPrivacy.onErase?.(person);
	await erasePerson(chat.feature.store, person);
	await chat.ask("zoe", "What was that?", { saying: /that\?$/ });
	expect(chat.told()).toEqual(["user: Zoë: What was that?"]);
});

chatTest("an answer ends, and is stored nowhere, when its person's data is erased meanwhile", async (chat) => {
	const { chatPrivacy, guild, simulator, store } = chat.feature;
	chat.ai.answer = () => words(30);
	chat.ai.misbehave("slow-pieces");
	await chat.ask("zoe", "my secret", { saying: "word0" });
	const person = { guild: guild.id, user: simulator.user("zoe").id };
	chatPrivacy.onErase?.(person);
	await erasePerson(store, person);
	await until("the AI request is aborted", () => chat.ai.requests.every(({ outcome }) => outcome === "hung up"));
	chat.ai.behave();
	await chat.noted(await chat.ask("ada", "another question", { saying: words(30) }));
	const stored = await store.sql<{ user_id: string }>`SELECT DISTINCT user_id FROM conversation_messages`;
	expect(stored).toEqual([{ user_id: simulator.user("ada").id }]);
});
