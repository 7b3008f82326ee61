// What AI chat remembers: whose conversation a message belongs to, after a restart and without a database as well.

import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../../../src/bot/store/database/db-error.ts";
import type { Store } from "../../../../src/bot/store/store.ts";
import { onBoth } from "../../../support/stores.ts";
import { until } from "../../../support/until.ts";
import {
	type ChatStageOptions,
	general,
	startChatStage,
	words,
} from "./chat-stage.ts";

const quoted = "I am a simulated AI. The last I heard was: ";
/** A store that says so while its database is away. */
const withOutages =
	(database: { readonly away: boolean }) =>
	(store: Store): Store => ({
		...store,
		opened: store.opened,
		sql: (...statement) =>
			database.away
				? Promise.reject(new StoreUnavailable("it is away"))
				: store.sql(...statement),
	});

describe("conversations", () => {
	test("of two people at once in one channel are kept apart", async () => {
		await using chat = await startChatStage();
		for (const turn of [1, 2, 3]) {
			const asked = await Promise.all(
				["ada", "zoe"].map((person) =>
					chat.write(person, `${chat.mention} ${person} ${turn}`),
				),
			);
			await Promise.all(
				asked.map((one) => chat.reply(one, new RegExp(`${turn}$`))),
			);
		}
		const last = (person: string) =>
			chat.told(
				chat.ai.requests.findLast(({ messages }) =>
					messages.at(-1)?.content.startsWith(person),
				),
			);
		for (const [person, name] of [
			["ada", "Ada"],
			["zoe", "Zoë"],
		] as const)
			expect(last(name)).toEqual(
				[1, 2, 3].flatMap((turn) => {
					const said = `${name}: ${person} ${turn}`;
					return turn === 3
						? [`user: ${said}`]
						: [`user: ${said}`, `assistant: ${quoted}${said}`];
				}),
			);
	});

	test("go on with a reply from just that message, whoever replies", async () => {
		await using chat = await startChatStage();
		chat.ai.answer = (messages) => `re ${messages.at(-1)?.content}`;
		const one = await chat.reply(
			await chat.write("ada", `${chat.mention} one`),
		);
		const two = await chat.reply(
			await chat.write("ada", "two", { to: one }),
			/two$/,
		);
		await chat.reply(await chat.write("ada", "three", { to: two }), /three$/);
		await chat.reply(await chat.write("zoe", "other", { to: one }), /other$/);
		expect(chat.told()).toEqual([
			"user: Ada: one",
			"assistant: re Ada: one",
			"user: Zoë: other",
		]);
		// Ada's own went on where she was.
		await chat.reply(await chat.write("ada", `${chat.mention} four`), /four$/);
		expect(chat.told()).toEqual([
			...["user: Ada: one", "assistant: re Ada: one"],
			...["user: Ada: two", "assistant: re Ada: two"],
			...["user: Ada: three", "assistant: re Ada: three"],
			"user: Ada: four",
		]);
	});

	test("can be replied to before Discord has told the bot that its answer is there", async () => {
		await using chat = await startChatStage();
		const { faults } = chat.stage.simulator;
		const held = faults.stall("POST /channels/:channel_id/messages", {
			...{ after: true, times: 1, actor: chat.botId },
		});
		const first = await chat.reply(
			await chat.write("ada", `${chat.mention} one`),
		);
		const replied = await chat.write("zoe", "two", { to: first });
		// What the bot sends to one channel waits for what it has sent before.
		await until("the AI is asked", () => chat.ai.requests.length === 2);
		held.release();
		await chat.reply(replied, /two$/);
		expect(chat.told()).toEqual(["user: Ada: one", "user: Zoë: two"]);
	});

	test("begin anew after half an hour without a reply, and in another channel", async () => {
		let now = Date.UTC(2026, 0, 1);
		await using chat = await startChatStage({ timing: { now: () => now } });
		const first = await chat.reply(
			await chat.write("ada", `${chat.mention} one`),
		);
		await chat.noted(first);
		now += 31 * 60_000;
		await chat.reply(await chat.write("ada", `${chat.mention} two`));
		expect(chat.told()).toEqual(["user: Ada: two"]);
		await chat.reply(
			await chat.write("ada", `${chat.mention} three`, {
				channel: await chat.newChannel(),
			}),
		);
		expect(chat.told()).toEqual(["user: Ada: three"]);
		await chat.reply(await chat.write("ada", "four", { to: first }));
		expect(chat.told()).toHaveLength(3);
	});

	test("are not remembered of a message that was deleted while it grew", async () => {
		await using chat = await startChatStage({
			settings: () => ({
				features: { chat: true },
				chat: { keep_days: 0 },
			}),
		});
		chat.ai.answer = () => "secret word after word after word";
		chat.ai.misbehave("slow-pieces");
		const asked = await chat.write("ada", `${chat.mention} one`);
		const answer = await chat.reply(asked, /^secret/);
		await chat.as(
			"ada",
			`DELETE /channels/${asked.channel_id}/messages/${answer.id}`,
		);
		await until("the provider is hung up on", () =>
			chat.ai.requests.every(({ outcome }) => outcome === "hung up"),
		);
		chat.ai.behave();
		await chat.reply(await chat.write("ada", `${chat.mention} two`), /^secret/);
		expect(chat.told()).toEqual(["user: Ada: two"]);
	});

	test("replies to what is none of chat's are left alone", async () => {
		await using chat = await startChatStage();
		const { id } = chat.stage.simulator.channel(general);
		await chat.as("alpha", `POST /channels/${id}/messages`, {
			content: "An alert of another kind",
		});
		const alert = await until("the alert", () => chat.written().at(-1));
		await chat.write("ada", "I will see to it", { to: { ...alert } });
		await chat.reply(await chat.write("zoe", `${chat.mention} Hi`));
		expect(chat.ai.requests).toHaveLength(1);
	});
});

test("while the database is away conversations go on in memory, and are in the store when it is back", async () => {
	const database = { away: false };
	await using chat = await startChatStage({
		store: withOutages(database),
	});
	database.away = true;
	const one = await chat.reply(
		await chat.write("ada", `${chat.mention} one`),
		/one$/,
	);
	await chat.reply(await chat.write("zoe", "two", { to: one }), /two$/);
	await chat.reply(await chat.write("ada", `${chat.mention} three`), /three$/);
	expect(chat.told(chat.ai.requests[1])).toHaveLength(3);
	expect(chat.told()).toHaveLength(3);
	database.away = false;
	await chat.noted(one);
});

test("the bot's end ends an answer with what there is of it, and says so to those who wait", async () => {
	await using chat = await startChatStage();
	chat.ai.answer = () => words(30);
	chat.ai.misbehave("slow-pieces");
	const asked = await chat.write("ada", `${chat.mention} one`);
	await chat.reply(asked, "word0");
	const waiting = await chat.write("ada", `${chat.mention} two`);
	await chat.write("zoe", `${chat.mention} marker`);
	await until("zoe is answered", () => chat.written().length === 2);
	await chat.stage.stop();
	await chat.reply(
		asked,
		"word0\n-# I am being restarted: the answer ends here.",
	);
	await chat.reply(waiting, /^I am being restarted\. Please/);
	chat.ai.behave();
	await chat.stage.start();
	await chat.reply(await chat.write("ada", `${chat.mention} three`));
	expect(chat.told()).toEqual([
		...["user: Ada: one", "assistant: word0"],
		"user: Ada: three",
	]);
});

onBoth((databases) => {
	const start = async (options: Partial<ChatStageOptions> = {}) =>
		startChatStage({ place: await databases.place(), ...options });

	describe("conversations", () => {
		test("go on after a restart, and after a kill", async () => {
			await using chat = await start();
			const one = [`user: Ada: one`, `assistant: ${quoted}Ada: one`];
			const two = [`user: Ada: two`, `assistant: ${quoted}Ada: two`];
			const first = await chat.reply(
				await chat.write("ada", `${chat.mention} one`),
				/one$/,
			);
			await chat.noted(first);
			await chat.stage.stop();
			await chat.stage.start();
			const second = await chat.reply(
				await chat.write("ada", `${chat.mention} two`),
				/two$/,
			);
			expect(chat.told()).toEqual([...one, "user: Ada: two"]);
			await chat.reply(await chat.write("zoe", "too", { to: first }), /too$/);
			expect(chat.told()).toEqual([...one, "user: Zoë: too"]);
			await chat.noted(second);
			await chat.stage.kill();
			await chat.stage.start();
			await chat.reply(
				await chat.write("ada", `${chat.mention} three`),
				/three$/,
			);
			expect(chat.told()).toEqual([...one, ...two, "user: Ada: three"]);
			await chat.reply(await chat.write("zoe", "four", { to: first }), /four$/);
			expect(chat.told()).toEqual([...one, "user: Zoë: four"]);
		});

		test("of long ago are deleted, also where chat is off", async () => {
			let now = Date.UTC(2026, 0, 1);
			let isOn = true;
			await using chat = await start({
				settings: () => ({ features: { chat: isOn } }),
				timing: { now: () => now },
			});
			const kept = () =>
				chat.stage.store.sql`SELECT content FROM conversation_messages`;
			const restartAfter = async (days: number) => {
				await chat.stage.stop();
				now += days * 86_400_000;
				await chat.stage.start();
			};
			for (const isOnLater of [true, false]) {
				await chat.noted(
					await chat.reply(await chat.write("ada", `${chat.mention} one`)),
				);
				isOn = isOnLater;
				await restartAfter(29);
				expect(await kept()).toHaveLength(2);
				await restartAfter(2);
				await until("they are gone", async () => (await kept()).length === 0);
			}
		});

		test("are forgotten as far as their messages are deleted", async () => {
			await using chat = await start();
			const asked = await chat.write("ada", `${chat.mention} secret one`);
			const first = await chat.reply(asked, /one$/);
			await chat.noted(first);
			await chat.as(
				"ada",
				`DELETE /channels/${asked.channel_id}/messages/${asked.id}`,
			);
			await until(
				"it is gone",
				async () =>
					(
						await chat.stage.store
							.sql`SELECT 1 FROM conversation_messages WHERE content LIKE '%secret%' AND role = 'user'`
					).length === 0,
			);
			await chat.reply(await chat.write("ada", "two", { to: first }), /two$/);
			expect(chat.told()).toEqual(["user: Ada: two"]);
		});

		test("go with their channel and its threads, also while the database is away", async () => {
			const database = { away: false };
			await using chat = await start({ store: withOutages(database) });
			const kept = () =>
				chat.stage.store.sql<{
					content: string;
				}>`SELECT content FROM conversation_messages WHERE role = 'user'`;
			const channel = await chat.newChannel();
			const opener = await chat.write("ada", "a thread", { channel });
			const thread = await chat.as(
				"ada",
				`POST /channels/${channel}/messages/${opener.id}/threads`,
				{ name: "talk" },
			);
			for (const given of [{ channel }, { channel: thread.id }, {}])
				await chat.noted(
					await chat.reply(
						await chat.write("ada", `${chat.mention} one`, given),
						/one$/,
					),
				);
			expect(await kept()).toHaveLength(3);
			database.away = true;
			await chat.as("ada", `DELETE /channels/${channel}`);
			// Discord tells of things in their order.
			await chat.reply(await chat.write("ada", `${chat.mention} two`), /two$/);
			database.away = false;
			await until("the rest is there", async () => {
				const contents = (await kept()).map(({ content }) => content);
				return contents.sort().join() === "one,two";
			});
		});

		test("stay in memory alone where nothing is to be kept, and what was kept is deleted", async () => {
			let keep_days = 30;
			await using chat = await start({
				settings: () => ({ features: { chat: true }, chat: { keep_days } }),
			});
			const kept = () =>
				chat.stage.store.sql`SELECT content FROM conversation_messages`;
			await chat.noted(
				await chat.reply(await chat.write("ada", `${chat.mention} one`)),
			);
			expect(await kept()).toHaveLength(2);
			await chat.stage.stop();
			keep_days = 0;
			await chat.stage.start();
			await until("they are gone", async () => (await kept()).length === 0);
			await chat.reply(await chat.write("ada", `${chat.mention} two`), /two$/);
			const three = await chat.reply(
				await chat.write("ada", `${chat.mention} three`),
				/three$/,
			);
			await chat.reply(await chat.write("ada", "four", { to: three }), /four$/);
			expect(chat.told()).toHaveLength(5);
			expect(await kept()).toEqual([]);
		});
	});

	test("what the database refuses is not offered to it again", async () => {
		let isBroken = true;
		let statements = 0;
		await using chat = await start({
			store: (store) => ({
				...store,
				opened: store.opened,
				sql: (...statement) => {
					if (!isBroken || !statement[0].join("").includes("INSERT"))
						return store.sql(...statement);
					statements += 1;
					return Promise.reject(new RangeError("it does not take that"));
				},
			}),
		});
		const one = await chat.write("ada", `${chat.mention} one`);
		await chat.reply(one, /one$/);
		await until("it was refused", () => statements > 0);
		isBroken = false;
		const two = await chat.reply(
			await chat.write("zoe", `${chat.mention} two`),
			/two$/,
		);
		await chat.noted(two);
		const rows = await chat.stage.store.sql`
			SELECT 1 FROM conversation_messages WHERE message_id = ${one.id}`;
		expect(rows).toHaveLength(0);
	});

	test("a kill in the middle of an answer leaves a conversation that can be gone on with", async () => {
		await using chat = await start();
		chat.ai.misbehave("slow-pieces");
		const asked = await chat.write("ada", `${chat.mention} one`);
		const half = await chat.reply(asked, "I");
		await chat.noted(half);
		await chat.stage.kill();
		chat.ai.behave();
		await chat.stage.start();
		await chat.reply(await chat.write("ada", "two", { to: half }));
		expect(chat.told()).toEqual([
			...["user: Ada: one", "assistant: I", "user: Ada: two"],
		]);
	});
});
