// The poll tools.

import { expect, test } from "bun:test";
import { pagesOf } from "../../support/pages.ts";
import { blindSeed, channelNamed, linked, type TestWorld, userNamed, worldTest, writes } from "../../support/world.ts";
import { adaIn, startScene } from "../tool-rows/scene.ts";

const lunch = { question: "Lunch?", answers: [{ text: "Soup", emoji: "🍲" }, { text: "Bread" }] };

async function ask(world: TestWorld, args: object = {}) {
	const channel_id = channelNamed(world, "general").id;
	const { text } = await world.call("create_poll", { channel_id, ...lunch, ...args });
	const id = /\(ID: (\d+)\)/.exec(text)?.[1] ?? "";
	const message = world.simulator.world.messages.get(channel_id, id);
	return { text, message, where: { channel_id, message_id: id }, said: { id, channel_id } };
}

worldTest("a poll is sent with its answers, for a day by default", async (world) => {
	const { text, message } = await ask(world);
	const expiry = message?.poll?.expiry ?? "";
	const shown = expiry.replace(/\.\d+Z$/, "Z");
	expect(text).toBe(
		`Poll sent (ID: ${message?.id}) to ${linked(world, channelNamed(world, "general"), message?.id)}\npoll: Lunch? | answer 1, 0 vote(s): 🍲 Soup | answer 2, 0 vote(s): Bread | poll open until: ${shown}`,
	);
	const hours = (at = "") => Math.round((Date.parse(at) - Date.now()) / 3.6e6);
	expect(hours(expiry)).toBe(24);
	const long = await ask(world, { duration: "32d", allow_multiselect: true });
	expect(hours(long.message?.poll?.expiry)).toBe(768);
	expect(long.text).toContain("| several answers allowed |");
});

worldTest("answers may be plain texts", async (world) => {
	const { text } = await ask(world, { answers: ["Soup", { text: "Bread" }] });
	expect(text).toContain("| answer 1, 0 vote(s): Soup | answer 2, 0 vote(s): Bread |");
});

test("an answer takes the guild's emoji, but no unknown or foreign one", async () => {
	await using scene = await startScene();
	const { world, guild, other } = scene;
	const { emojis } = world.simulator.world;
	const ada = adaIn(world);
	const [own, foreign] = [guild, other].map((one) => emojis.add(one, ada, { name: "pan" }));
	const withEmoji = (id = "") => ask(world, { answers: [{ text: "x", emoji: id }, { text: "y" }] });
	const polls = () => writes(world).filter((one) => one.endsWith("/messages"));
	for (const id of ["123456789012345678", foreign?.id])
		expect((await withEmoji(id)).text).toStartWith(
			`There is no emoji ${id} in the guild ${guild.id}. list_emojis lists its emoji.\n`,
		);
	expect(polls()).toEqual([]);
	expect((await withEmoji(own?.id)).text).toContain(`<:pan:${own?.id}> x`);
});

worldTest("a poll pings nobody", async (world) => {
	const { message } = await ask(world, { question: "@everyone?" });
	expect(message).toMatchObject({ mentions: [], mention_everyone: false });
	const [entry] = world.simulator.journal.entries();
	expect(entry?.body).toMatchObject({ allowed_mentions: { parse: [] } });
});

worldTest("votes are counted where messages are read, until the poll is ended", async (world) => {
	const { where, said } = await ask(world);
	const { simulator } = world;
	await simulator.user("ada").vote(said, "Soup");
	await simulator.user("zoe").vote(said, "Soup");
	const read = async () => (await world.call("get_message", where)).text;
	expect(await read()).toMatch(
		/\| poll: Lunch\? \| answer 1, 2 vote\(s\): 🍲 Soup \| answer 2, 0 vote\(s\): Bread \| poll open until: \S+Z$/,
	);
	const { text } = await world.call("end_poll", where);
	expect(text).toMatch(
		/^Ended the poll \d+ in #general \(ID: \d+\) \| poll: Lunch\? \| answer 1, 2 vote\(s\): 🍲 Soup \| .* \| poll ended: \S+Z$/,
	);
	expect(await read()).toContain("| poll ended: ");
	const { text: latest } = await world.call("get_recent_messages", { channel_id: where.channel_id, limit: 1 });
	expect(latest).toContain("| kind: PollResult | embed: poll_question_text: Lunch?");
});

worldTest("only the bot's own poll is ended, and only once", async (world) => {
	const { simulator } = world;
	const { where } = await ask(world);
	expect((await world.call("end_poll", where)).isError).toBe(false);
	const again = await world.call("end_poll", where);
	expect(again.text).toContain("Poll expired (code 520001)");
	const { channel } = simulator.channel(where.channel_id);
	const ada = userNamed({ simulator }, "ada");
	const hers = simulator.world.polls.add(channel, ada, {
		question: { text: "?" },
		answers: [{ answer_id: 1, poll_media: { text: "!" } }],
		expiry: new Date(Date.now() + 60_000).toISOString(),
	});
	const before = simulator.journal.entries().length;
	const other = await world.call("end_poll", { ...where, message_id: hers.id });
	expect(other.text).toContain("is by @ada");
	const { text } = await world.call("send_message", { channel_id: where.channel_id, content: "no poll" });
	const message_id = /\d{17,}/.exec(text)?.[0];
	const none = await world.call("end_poll", { ...where, message_id });
	expect(none.text).toContain("has no poll");
	expect(simulator.journal.entries()).toHaveLength(before + 1);
	expect(hers.poll.ended).toBe(false);
});

worldTest("voters are listed page by page, by id", async (world) => {
	const { where, said } = await ask(world);
	const names = ["zoe", "ada", "liwei"];
	for (const name of names) await world.simulator.user(name).vote(said, 1);
	const all = await world.call("get_poll_voters", where);
	expect(
		all.text
			.split("\n")
			.slice(1)
			.map((line) => line.replace(/, ID: \d+/g, "")),
	).toEqual(["answer 1 (Soup): Ada (@ada), Zoë 🍞 (@zoe), 李伟 (@liwei)", "answer 2 (Bread): nobody"]);
	const pages = await pagesOf(world.call, "get_poll_voters", { ...where, answer_id: 1, limit: 2 });
	const seen = pages.map((page) => page.match(/@\w+(?=\) \|)/gm));
	expect(seen).toEqual([["@ada", "@zoe"], ["@liwei"]]);
	const none = await world.call("get_poll_voters", { ...where, answer_id: 2 });
	expect(none.text).toBe(`Nobody has voted for answer 2 (Bread) of the poll ${said.id}.`);
	const wrong = await world.call("get_poll_voters", { ...where, answer_id: 3 });
	expect(wrong.text).toContain("has no answer 3. Its answers are 1, 2;");
});

worldTest(
	"a poll that Discord hides from the bot is reported as possibly hidden",
	{ seed: blindSeed },
	async (world) => {
		const { simulator } = world;
		const { channel, id } = simulator.channel("general");
		const ada = userNamed({ simulator }, "ada");
		const hers = simulator.world.polls.add(channel, ada, {
			question: { text: "secret?" },
			answers: [{ answer_id: 1, poll_media: { text: "!" } }],
			expiry: new Date(Date.now() + 60_000).toISOString(),
		});
		const { text } = await world.call("get_poll_voters", { channel_id: id, message_id: hers.id, answer_id: 1 });
		expect(text).toContain("has no poll");
		expect(text).toContain("Message Content Intent");
		expect(text).not.toContain("secret?");
	},
);
