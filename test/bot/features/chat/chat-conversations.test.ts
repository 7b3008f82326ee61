// Which conversation a message continues, also after restarts, kills and database outages.

import { describe, expect, test } from "bun:test";
import type { Store } from "../../../../src/bot/store/store.ts";
import { StoreUnavailable } from "../../../../src/bot/store/unavailable.ts";
import { onBoth } from "../../../support/stores.ts";
import { until } from "../../../support/until.ts";
import { withSql } from "../running-feature.ts";
import { type ChatSetup, chatTest, general, startChat, words } from "./running-chat.ts";

const quoted = "I am a simulated AI. The last I heard was: ";
/** A store that refuses statements while `away` is true. They are added to `refused`, as JSON text. */
const withOutages =
	(database: { readonly away: boolean; readonly refused?: string[] }) =>
	(store: Store): Store =>
		withSql(store, (...statement) => {
			if (!database.away) return store.sql(...statement);
			database.refused?.push(JSON.stringify(statement));
			return Promise.reject(new StoreUnavailable("it is away"));
		});

describe("conversations", () => {
	chatTest("of two people in one channel are separate", async (chat) => {
		for (const turn of [1, 2, 3]) {
			const asked = await Promise.all(
				["ada", "zoe"].map((person) => chat.write(person, `${chat.mention} ${person} ${turn}`)),
			);
			await Promise.all(asked.map((one) => chat.reply(one, new RegExp(`${turn}$`))));
		}
		const last = (person: string) =>
			chat.told(chat.ai.requests.findLast(({ messages }) => messages.at(-1)?.content.startsWith(person)));
		for (const [person, name] of [
			["ada", "Ada"],
			["zoe", "Zoë"],
		] as const)
			expect(last(name)).toEqual(
				[1, 2, 3].flatMap((turn) => {
					const said = `${name}: ${person} ${turn}`;
					return turn === 3 ? [`user: ${said}`] : [`user: ${said}`, `assistant: ${quoted}${said}`];
				}),
			);
	});

	chatTest("continue at the message that anyone replies to", async (chat) => {
		chat.ai.answer = (messages) => `re ${messages.at(-1)?.content}`;
		const one = await chat.ask("ada", "one");
		const two = await chat.ask("ada", "two", { to: one, saying: /two$/ });
		await chat.ask("ada", "three", { to: two, saying: /three$/ });
		await chat.ask("zoe", "other", { to: one, saying: /other$/ });
		expect(chat.told()).toEqual(["user: Ada: one", "assistant: re Ada: one", "user: Zoë: other"]);
		// Ada's own conversation continues at her latest message.
		await chat.ask("ada", "four", { saying: /four$/ });
		expect(chat.told()).toEqual([
			...["user: Ada: one", "assistant: re Ada: one"],
			...["user: Ada: two", "assistant: re Ada: two"],
			...["user: Ada: three", "assistant: re Ada: three"],
			"user: Ada: four",
		]);
	});

	chatTest("continue even before the response to the bot's own message arrives", async (chat) => {
		const { faults } = chat.feature.simulator;
		const held = faults.stall("POST /channels/:channel_id/messages", { after: true, times: 1, actor: chat.botId });
		const first = await chat.ask("ada", "one");
		const replied = await chat.write("zoe", "two", { to: first });
		// Requests to one channel are sent one after the other.
		await until("the AI is asked", () => chat.ai.requests.length === 2);
		held.release();
		await chat.reply(replied, /two$/);
		expect(chat.told()).toEqual(["user: Ada: one", "user: Zoë: two"]);
	});

	test("start anew for a mention after half an hour, or in another channel", async () => {
		let now = Date.UTC(2026, 0, 1);
		await using chat = await startChat({ timing: { now: () => now } });
		const first = await chat.ask("ada", "one");
		await chat.noted(first);
		now += 31 * 60_000;
		await chat.ask("ada", "two");
		expect(chat.told()).toEqual(["user: Ada: two"]);
		await chat.ask("ada", "three", { channel: await chat.newChannel() });
		expect(chat.told()).toEqual(["user: Ada: three"]);
		await chat.ask("ada", "four", { to: first });
		expect(chat.told()).toHaveLength(3);
	});

	test("do not keep an answer that was deleted while it was written", async () => {
		await using chat = await startChat({ settings: () => ({ features: { chat: true }, chat: { keep_days: 0 } }) });
		chat.ai.answer = () => "secret word after word after word";
		chat.ai.misbehave("slow-pieces");
		const asked = await chat.write("ada", `${chat.mention} one`);
		const answer = await chat.reply(asked, /^secret/);
		await chat.as("ada", `DELETE /channels/${asked.channel_id}/messages/${answer.id}`);
		await until("the AI request is aborted", () => chat.ai.requests.every(({ outcome }) => outcome === "hung up"));
		chat.ai.behave();
		await chat.ask("ada", "two", { saying: /^secret/ });
		expect(chat.told()).toEqual(["user: Ada: two"]);
	});

	chatTest("do not include replies to other messages of the bot", async (chat) => {
		const { id } = chat.feature.simulator.channel(general);
		await chat.as("alpha", `POST /channels/${id}/messages`, { content: "An alert of another kind" });
		const alert = await until("the alert", () => chat.written().at(-1));
		await chat.write("ada", "I will see to it", { to: { ...alert } });
		await chat.ask("zoe", "Hi");
		expect(chat.ai.requests).toHaveLength(1);
	});
});

test("during an outage conversations continue in memory, and are stored afterwards", async () => {
	const database = { away: false, refused: [] as string[] };
	await using chat = await startChat({ store: withOutages(database) });
	database.away = true;
	const one = await chat.ask("ada", "one", { saying: /one$/ });
	// It begins to store the answer before it has ended.
	const content = JSON.stringify(one.content);
	await until("the bot knows that its answer is sent", () =>
		database.refused.some((text) => text.includes(one.id) && text.includes(content)),
	);
	await chat.ask("zoe", "two", { to: one, saying: /two$/ });
	await chat.ask("ada", "three", { saying: /three$/ });
	expect(chat.told(chat.ai.requests[1])).toHaveLength(3);
	expect(chat.told()).toHaveLength(3);
	database.away = false;
	await chat.noted(one);
});

chatTest("a shutdown ends an answer with a note, and tells those who wait", async (chat) => {
	chat.ai.answer = () => words(30);
	chat.ai.misbehave("slow-pieces");
	const asked = await chat.write("ada", `${chat.mention} one`);
	await chat.reply(asked, "word0");
	const waiting = await chat.write("ada", `${chat.mention} two`);
	await chat.write("zoe", `${chat.mention} marker`);
	await until("zoe is answered", () => chat.written().length === 2);
	await chat.feature.stop();
	await chat.reply(asked, "word0\n-# I am being restarted: the answer ends here.");
	await chat.reply(waiting, /^I am being restarted\. Please/);
	chat.ai.behave();
	await chat.feature.start();
	await chat.ask("ada", "three");
	expect(chat.told()).toEqual([...["user: Ada: one", "assistant: word0"], "user: Ada: three"]);
});

onBoth((databases) => {
	const start = async (options: Partial<ChatSetup> = {}) => startChat({ place: await databases.place(), ...options });

	describe("conversations", () => {
		test("continue after a restart and after a kill", async () => {
			await using chat = await start();
			const one = [`user: Ada: one`, `assistant: ${quoted}Ada: one`];
			const two = [`user: Ada: two`, `assistant: ${quoted}Ada: two`];
			const first = await chat.ask("ada", "one", { saying: /one$/ });
			await chat.noted(first);
			await chat.feature.stop();
			await chat.feature.start();
			const second = await chat.ask("ada", "two", { saying: /two$/ });
			expect(chat.told()).toEqual([...one, "user: Ada: two"]);
			await chat.ask("zoe", "too", { to: first, saying: /too$/ });
			expect(chat.told()).toEqual([...one, "user: Zoë: too"]);
			await chat.noted(second);
			await chat.feature.kill();
			await chat.feature.start();
			await chat.ask("ada", "three", { saying: /three$/ });
			expect(chat.told()).toEqual([...one, ...two, "user: Ada: three"]);
			await chat.ask("zoe", "four", { to: first, saying: /four$/ });
			expect(chat.told()).toEqual([...one, "user: Zoë: four"]);
		});

		test("lose deleted messages", async () => {
			await using chat = await start();
			const asked = await chat.write("ada", `${chat.mention} secret one`);
			const first = await chat.reply(asked, /one$/);
			await chat.noted(first);
			await chat.as("ada", `DELETE /channels/${asked.channel_id}/messages/${asked.id}`);
			const { sql } = chat.feature.store;
			const kept = () => sql`SELECT 1 FROM conversation_messages WHERE content LIKE '%secret%' AND role = 'user'`;
			await until("it is gone", async () => (await kept()).length === 0);
			await chat.ask("ada", "two", { to: first, saying: /two$/ });
			expect(chat.told()).toEqual(["user: Ada: two"]);
		});

		test("are deleted with their channel and its threads, even during an outage", async () => {
			const database = { away: false };
			await using chat = await start({ store: withOutages(database) });
			const kept = () =>
				chat.feature.store.sql<{ content: string }>`SELECT content FROM conversation_messages WHERE role = 'user'`;
			const channel = await chat.newChannel();
			const opener = await chat.write("ada", "a thread", { channel });
			const thread = await chat.as("ada", `POST /channels/${channel}/messages/${opener.id}/threads`, { name: "talk" });
			for (const given of [{ channel }, { channel: thread.id }, {}])
				await chat.noted(await chat.ask("ada", "one", { ...given, saying: /one$/ }));
			expect(await kept()).toHaveLength(3);
			database.away = true;
			await chat.as("ada", `DELETE /channels/${channel}`);
			// Discord sends events in order.
			await chat.ask("ada", "two", { saying: /two$/ });
			database.away = false;
			await until("the rest is there", async () => {
				const contents = (await kept()).map(({ content }) => content);
				return contents.sort().join() === "one,two";
			});
		});

		test("are only in memory with keep_days 0", async () => {
			await using chat = await start({ settings: () => ({ features: { chat: true }, chat: { keep_days: 0 } }) });
			await chat.ask("ada", "two", { saying: /two$/ });
			const three = await chat.ask("ada", "three", { saying: /three$/ });
			await chat.ask("ada", "four", { to: three, saying: /four$/ });
			expect(chat.told()).toHaveLength(5);
			expect(await chat.feature.store.sql`SELECT 1 FROM conversation_messages`).toEqual([]);
		});
	});

	test("a row that the database refuses is not sent again", async () => {
		let isBroken = true;
		let statements = 0;
		await using chat = await start({
			store: (store) =>
				withSql(store, (...statement) => {
					if (!isBroken || !statement[0].join("").includes("INSERT INTO conversation_messages"))
						return store.sql(...statement);
					statements += 1;
					return Promise.reject(new RangeError("it does not take that"));
				}),
		});
		const one = await chat.write("ada", `${chat.mention} one`);
		await chat.reply(one, /one$/);
		await until("it was refused", () => statements > 0);
		isBroken = false;
		const two = await chat.ask("zoe", "two", { saying: /two$/ });
		await chat.noted(two);
		const rows = await chat.feature.store.sql`
			SELECT 1 FROM conversation_messages WHERE message_id = ${one.id}`;
		expect(rows).toHaveLength(0);
	});

	test("a conversation continues after a kill during an answer", async () => {
		await using chat = await start();
		chat.ai.misbehave("slow-pieces");
		const asked = await chat.write("ada", `${chat.mention} one`);
		const half = await chat.reply(asked, "I");
		await chat.noted(half);
		await chat.feature.kill();
		chat.ai.behave();
		await chat.feature.start();
		await chat.ask("ada", "two", { to: half });
		expect(chat.told()).toEqual([...["user: Ada: one", "assistant: I", "user: Ada: two"]]);
	});
});
