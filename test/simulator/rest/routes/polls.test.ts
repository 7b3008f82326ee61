// Polls: creating and ending them, votes and events.

import { expect } from "bun:test";
import { GatewayIntentBits as Intent, PermissionFlagsBits } from "discord.js";
import { until } from "../../../support/until.ts";
import { connect, testWith } from "../../support.ts";

const soupOrBread = {
	question: { text: "Lunch?" },
	answers: [{ poll_media: { text: "Soup", emoji: { name: "🍲" } } }, { poll_media: { text: "Bread" } }],
};

const test = testWith(({ world, alpha, channel: { id } }) => {
	const messages = `/channels/${id}/messages`;
	return {
		messages,
		polls: `/channels/${id}/polls`,
		ask: async (poll: object = soupOrBread) => {
			const answer = await alpha("POST", messages, { poll });
			return answer.json<{ id: string; channel_id: string }>();
		},
		last: () => world.messages.in(id).at(-1),
	};
});

test("discord.js creates and ends a poll and people vote, with events", async ({ guild, channel, last, simulator }) => {
	await using bot = await connect(simulator, "alpha", [Intent.Guilds, Intent.GuildMessages, Intent.GuildMessagePolls]);
	const found = await bot.client.channels.fetch(channel.id);
	if (!found?.isSendable()) throw new Error("expected a text channel");
	const asked = await found.send({
		poll: {
			question: { text: "Lunch?" },
			answers: [{ text: "Soup", emoji: "🍲" }, { text: "Bread" }],
			duration: 2,
			allowMultiselect: true,
		},
	});
	const inTwoHours = Date.now() + 2 * 3_600_000;
	expect(Math.abs((asked.poll?.expiresTimestamp ?? 0) - inTwoHours)).toBeLessThan(60_000);
	expect(asked.poll?.answers.map(({ id, text }) => [id, text])).toEqual([
		[1, "Soup"],
		[2, "Bread"],
	]);
	const ada = simulator.user("ada");
	await ada.vote({ id: asked.id, channel_id: channel.id }, "Soup", "Bread");
	const vote = { user_id: ada.id, guild_id: guild.id, channel_id: channel.id, message_id: asked.id };
	expect(await bot.event("MESSAGE_POLL_VOTE_ADD")).toEqual({ ...vote, answer_id: 1 });
	await ada.vote({ id: asked.id, channel_id: channel.id }, 2);
	expect(await bot.event("MESSAGE_POLL_VOTE_REMOVE")).toEqual({ ...vote, answer_id: 1 });
	const ended = await asked.poll?.end();
	expect(ended?.poll?.resultsFinalized).toBe(true);
	expect(ended?.poll?.answers.map(({ voteCount }) => voteCount)).toEqual([0, 1]);
	expect(await bot.event("MESSAGE_UPDATE", ({ id }) => id === asked.id)).toMatchObject({
		edited_timestamp: null,
		poll: { results: { is_finalized: true, answer_counts: [{ id: 2, count: 1, me_voted: false }] } },
	});
	expect(last()).toMatchObject({
		type: 46,
		author: { username: "alpha" },
		message_reference: { message_id: asked.id },
		embeds: [
			{
				type: "poll_result",
				fields: [
					{ name: "poll_question_text", value: "Lunch?" },
					{ name: "victor_answer_votes", value: "1" },
					{ name: "total_votes", value: "1" },
					{ name: "victor_answer_id", value: "2" },
					{ name: "victor_answer_text", value: "Bread" },
				],
			},
		],
	});
});

test("a poll ends at its expiry, without a winner if votes are equal", async ({ channel, ada, last, simulator }) => {
	const message = simulator.world.polls.add(channel, ada, {
		question: { text: "Now?" },
		answers: [1, 2].map((answer_id) => ({ answer_id, poll_media: { text: `${answer_id}` } })),
		expiry: new Date(Date.now() + 50).toISOString(),
	});
	await until("the poll has ended", () => message.poll.ended);
	await expect(simulator.user("zoe").vote(message, 1)).rejects.toThrow();
	const [embed] = last()?.embeds ?? [];
	expect(embed?.fields).toMatchObject([
		{ name: "poll_question_text" },
		{ name: "victor_answer_votes", value: "0" },
		{ name: "total_votes", value: "0" },
	]);
});

test("a person votes once unless the poll is multiselect, and bots cannot vote", async (given) => {
	const { channel, ask, simulator } = given;
	const asked = await ask();
	const votes = () => simulator.world.messages.get(channel.id, asked.id)?.poll?.votes;
	const ada = simulator.user("ada");
	await expect(ada.vote(asked, 1, 2)).rejects.toThrow("one answer");
	await expect(ada.vote(asked, "Cake")).rejects.toThrow("no answer Cake");
	await ada.vote(asked, 1);
	await ada.vote(asked, 2);
	expect(votes()).toEqual(
		new Map([
			[1, []],
			[2, [ada.id]],
		]),
	);
	await ada.vote(asked);
	expect(votes()?.get(2)).toEqual([]);
	await expect(simulator.bot("alpha").vote(asked, 1)).rejects.toThrow("bot");
	await expect(simulator.user("bob_the_baker").vote(asked, 1)).rejects.toThrow("with a poll that the user can see");
});

test("voters are listed in pages, ordered by id", async ({ alpha, polls, ask, simulator }) => {
	const asked = await ask();
	const names = ["zoe", "ada", "liwei"];
	for (const name of names) await simulator.user(name).vote(asked, 1);
	const page = async (query: string, answer: string | number = 1) => {
		const path = `${polls}/${asked.id}/answers/${answer}?${query}`;
		const { users } = (await alpha("GET", path)).json<{ users?: { username: string }[] }>();
		return users?.map(({ username }) => username);
	};
	expect(await page("")).toEqual(["ada", "zoe", "liwei"]);
	expect(await page("limit=2")).toEqual(["ada", "zoe"]);
	const { id } = simulator.user("zoe");
	expect(await page(`after=${id}`)).toEqual(["liwei"]);
	expect(await page("", 2)).toEqual([]);
	for (const answer of [3, "x"]) expect(await page("", answer)).toBeUndefined();
	expect(await page("limit=101")).toBeUndefined();
});

test("only its author can end a poll, once, and nobody can edit it", async (given) => {
	const { alpha, channel, messages, polls, ask, simulator, as } = given;
	const asked = await ask();
	const end = `${polls}/${asked.id}/expire`;
	const jose = as("jose.garcia");
	expect((await jose("POST", end)).code).toBe(50005);
	const edit = await alpha("PATCH", `${messages}/${asked.id}`, { content: "x" });
	expect(edit.code).toBe(520003);
	expect((await alpha("POST", end)).status).toBe(200);
	expect((await alpha("POST", end)).code).toBe(520001);
	const said = await simulator.user("ada").say(channel.id, "hi");
	expect((await alpha("POST", `${polls}/${said.id}/expire`)).code).toBe(520006);
});

test("invalid polls and emoji are refused, and polls need SEND_POLLS", async (given) => {
	const { alpha, ada, guild, channel, messages, simulator, deny } = given;
	const post = (poll: object) => alpha("POST", messages, { poll: { ...soupOrBread, ...poll } });
	const answer = (poll_media: object) => ({ answers: [{ poll_media }] });
	expect((await post({ question: { text: "x".repeat(301) } })).faults).toEqual({
		"poll.question.text": "BASE_TYPE_BAD_LENGTH",
	});
	expect((await post(answer({ text: "x".repeat(56) }))).faults).toEqual({
		"poll.answers.0.poll_media.text": "BASE_TYPE_BAD_LENGTH",
	});
	for (const [poll, path] of [
		[{ answers: [] }, "poll.answers"],
		[{ duration: 769 }, "poll.duration"],
		[{ duration: 0 }, "poll.duration"],
	] as const)
		expect(Object.keys((await post(poll)).faults)).toEqual([path]);
	const soup = simulator.world.emojis.add(guild, ada, { name: "soup" });
	expect((await post(answer({ text: "x", emoji: { id: soup.id } }))).json()).toMatchObject({
		poll: { answers: [{ poll_media: { text: "x", emoji: { id: soup.id, name: "soup" } } }] },
	});
	for (const emoji of [{ id: "1" }, { name: "soup" }])
		expect((await post(answer({ text: "x", emoji }))).code).toBe(520004);
	deny(channel, PermissionFlagsBits.SendPolls);
	expect((await post({})).code).toBe(50013);
});

test("without message content others' polls are left out", async ({ channel, ada, messages, ask, simulator, as }) => {
	const { user: blind } = simulator.world.users.addBot({ username: "blind", privilegedIntents: [] });
	simulator.world.members.add(simulator.guild("The Cooks"), blind, { botPermissions: PermissionFlagsBits.SendPolls });
	await ask();
	const own = simulator.world.polls.add(channel, blind, {
		question: { text: "Mine?" },
		answers: [{ answer_id: 1, poll_media: { text: "yes" } }],
		expiry: new Date(Date.now() + 60_000).toISOString(),
	});
	expect(own.author).not.toBe(ada);
	const call = as("blind");
	const seen = (await call("GET", messages)).json<{ poll?: object }[]>();
	expect(seen.map((message) => "poll" in message)).toEqual([true, false]);
});
