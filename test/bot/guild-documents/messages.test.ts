// A season in one document: messages, forum posts and role menus beside roles, channels, an event and a rule.

import { expect, test } from "bun:test";
import type { Message } from "../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../support/test-with.ts";
import { channelNamed, roleNamed, startWorld, type TestWorld, userNamed } from "../../support/world.ts";

const postedTest = testWith(startPosted);

const season = {
	roles: [{ name: "Judge", mentionable: true }, { name: "Player" }, { name: "Guest Star" }],
	categories: [
		{
			name: "Season 5",
			channels: [
				{
					name: "season-rules",
					overwrites: [{ role: "@everyone", deny: ["SEND_MESSAGES"] }],
					messages: [
						{
							key: "intro",
							content: "Welcome, @Guest Star and @Judge! Ask in #season-help. `@Judge` is code.",
							mentions: "roles",
							pin: true,
						},
						{ key: "vote", poll: { question: "Which day?", answers: ["Monday", "Sunday"], duration: "48h" } },
						{
							key: "news",
							content: "Nothing yet.",
							embeds: [{ title: "Dates", description: "Soon", color: "#FF0000" }],
						},
						{ key: "roles", content: "Your roles:", role_menu: { roles: ["Player", "Guest Star"], max: 1 } },
					],
				},
				{
					name: "season-help",
					kind: "forum",
					tags: [{ name: "Rules" }],
					posts: [
						{ name: "How to play", content: "Read #season-rules.", tags: ["Rules"], pin: true },
						{ name: "Questions", content: "Ask here." },
					],
				},
			],
		},
	],
	events: [
		{
			name: "Opening",
			entity_type: "external",
			location: "Here",
			scheduled_start_time: "2999-01-01T18:00:00Z",
			scheduled_end_time: "2999-01-01T20:00:00Z",
		},
	],
	automod: [{ name: "No spam", trigger: "spam", actions: ["block_message"] }],
};

const startSeason = () => startWorld({}, { toml: { features: { moderation: true } } });

async function plan(world: TestWorld, args: Record<string, unknown>) {
	const { text } = await world.call("plan_guild", args);
	return { text, hash: /plan_hash=(\w+)/.exec(text)?.[1] ?? "" };
}

const apply = async (world: TestWorld, plan_hash: string) => (await world.call("apply_guild", { plan_hash })).text;

const messagesIn = (world: TestWorld, name: string): readonly Message[] =>
	world.simulator.world.messages.in(channelNamed(world, name).id);

const executed = ({ simulator }: TestWorld, method: string) =>
	simulator.journal.entries(`${method} /channels/:channel_id/messages${method === "POST" ? "" : "/:message_id"}`)
		.length;

async function startPosted() {
	const world = await startSeason();
	const first = await plan(world, { document: season });
	const job = await apply(world, first.hash);
	const messages = messagesIn(world, "season-rules").filter(({ author, type }) => author.bot && type === 0);
	return { world, first, job, messages, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

test("a member is mentioned by name, unless a role has it, and the plan says who is pinged", async () => {
	await using world = await startSeason();
	const { id } = world.simulator.user("zoe");
	const content = "Hi @zoe, @judge and @nobody. `@zoe` is code.";
	const messages = [
		{ key: "a", content, mentions: "users" },
		{ key: "b", content: "By @zoe." },
	];
	const { text, hash } = await plan(world, {
		document: { channels: [{ name: "hello", messages }], roles: [{ name: "Judge" }] },
	});
	expect(text).toContain("pinged @zoe\n");
	expect(text.match(/pinged/g)).toHaveLength(1);
	expect(await apply(world, hash)).toContain(": done, ");
	const [a, b] = messagesIn(world, "hello");
	expect(a).toMatchObject({
		content: `Hi <@${id}>, <@&${roleNamed(world, "Judge").id}> and @nobody. \`@zoe\` is code.`,
	});
	expect(b?.content).toBe(`By <@${id}>.`);
});

test("a season in one document is posted once, with its mentions, pins, poll, embed and role menu", async () => {
	await using posted = await startPosted();
	const { world, first, job, messages } = posted;
	expect(first.text).toContain("create 14, change 2\n");
	expect(first.text).toContain(
		'+ message #season-rules/intro: content "Welcome, @Guest Star and @Judge! Ask in #season-help. `@Judge` is code.", pinged "@Guest Star, @Judge"\n~ pin #season-rules/intro: pinned true\n+ message #season-rules/vote: poll "Which day?: Monday, Sunday; 2d, one answer"\n',
	);
	expect(first.text).toContain('role_menu "Player, Guest Star"\n');
	expect(first.text).toContain('content "Nothing yet.", embed "Dates description Soon color #FF0000"\n');
	expect(job).toContain(": done, 16 of 16 steps done");

	const [intro, vote, news, menu] = messages;
	const [star, judge, player] = ["Guest Star", "Judge", "Player"].map((name) => roleNamed(world, name).id);
	const forum = channelNamed(world, "season-help").id;
	expect(intro).toMatchObject({
		content: `Welcome, <@&${star}> and <@&${judge}>! Ask in <#${forum}>. \`@Judge\` is code.`,
		mention_roles: [star, judge],
		pinned_at: expect.any(String),
	});
	expect(vote?.poll?.question.text).toBe("Which day?");
	expect(news?.embeds).toMatchObject([{ title: "Dates", color: 0xff0000 }]);
	expect(JSON.stringify(menu?.components)).toContain(`rolemenu:1:0:${player}:n`);
	const posts = [...world.guild.threads.values()].filter((thread) => thread.parent_id === forum);
	expect(posts.map(({ name, flags }) => [name, flags]).sort()).toEqual([
		["How to play", 2],
		["Questions", 0],
	]);

	expect((await plan(world, { document: season })).text).toContain("There is nothing to do.");
	const exported = await world.call("export_guild", { parts: ["messages"] });
	expect(JSON.parse(exported.text).messages).toHaveLength(6);
	expect((await plan(world, { document: exported.text })).text).toContain("There is nothing to do.");
	expect((await world.call("export_guild")).text).not.toContain("Ask here");
});

test("an edited text is one edit, a poll stays, and what someone deleted is posted again only on request", async () => {
	await using posted = await startPosted();
	const { world, messages } = posted;
	const [intro, , news] = messages;
	if (!intro || !news) throw new Error("messages were posted");
	const { channels } = world.simulator.world;
	const change = (...list: object[]) => ({
		document: { messages: list.map((one) => ({ channel: "season-rules", ...one })) },
	});

	const reads = () =>
		world.simulator.requests.list().filter(({ method, path }) => method === "GET" && /\/messages\/\d+$/.test(path));
	const before = reads().length;
	const edited = await plan(world, change({ key: "news", content: "On Sunday, @Judge." }));
	expect(reads().length - before).toBe(1);
	expect(edited.text).toContain(
		': change 1\n~ message #season-rules/news: content "Nothing yet." → "On Sunday, @Judge."\n',
	);
	expect(await apply(world, edited.hash)).toContain(": done, 1 of 1");
	expect(news).toMatchObject({ content: `On Sunday, <@&${roleNamed(world, "Judge").id}>.`, mention_roles: [] });
	expect(executed(world, "PATCH")).toBe(1);

	const spoken = {
		title: "Dates",
		description: `Late ${"x".repeat(1_200)}`,
		fields: [{ name: "Rule\n", value: '"1"' }],
	};
	const embedded = await plan(world, change({ key: "news", content: "On Sunday, @Judge.", embeds: [spoken] }));
	expect(embedded.text).toContain(': change 1\n~ message #season-rules/news: embed "Dates description Late xxx');
	expect(embedded.text).toMatch(/x…"\n/);

	const poll = { question: "Which month?", answers: ["May", "June"] };
	const { text: kept } = await plan(world, change({ key: "vote", poll }));
	expect(kept).toContain("cannot: message #season-rules/vote: Discord cannot change polls;");

	world.simulator.world.messages.remove(channelNamed(world, "season-rules"), intro);
	const gone = await plan(world, { document: season });
	expect(gone.text).toContain("cannot: message #season-rules/intro: someone has deleted it, so it is left alone;");
	expect(gone.text).not.toContain("+ message");
	const again = await plan(world, { plan_hash: gone.hash, changes: { repost: ["intro"] } });
	expect(again.text).toContain("+ message #season-rules/intro: ");
	expect(await apply(world, again.hash)).toContain(": done, ");
	expect(executed(world, "POST")).toBe(5);
	expect((await plan(world, { document: season })).text).toContain("There is nothing to do.");

	// A channel that is made again gets its messages again, except its poll's votes.
	channels.remove(channelNamed(world, "season-rules"));
	expect((await plan(world, { document: season })).text).toContain("+ message #season-rules/vote: ");
});

postedTest("a message of somebody else is never touched", async ({ world, messages }) => {
	Object.assign(messages[2] ?? {}, { author: userNamed(world, "ada") });
	const document = { messages: [{ channel: "season-rules", key: "news", content: "Changed", pin: true }] };
	const { text } = await plan(world, { document });
	expect(text).toContain("cannot 1\ncannot: message #season-rules/news: it is not a message of this bot\n");
});

test("all mistakes are reported at once, and changes correct the kept document", async () => {
	await using world = await startSeason();
	const refused = await plan(world, {
		document: {
			roles: [{ name: "Judge", colour: "#FF0000" }],
			channels: [
				{ name: "help", messages: [{ content: "No key" }, { key: "a" }] },
				{ name: "rest", overwrites: [{ role: "Jury", allow: ["VIEW_CHANNEL"] }] },
			],
		},
	});
	for (const part of [
		"colour: is not a known key",
		'role "Jury": neither',
		"needs a channel, and a key",
		"has no content",
	])
		expect(refused.text).toContain(part);
	expect((await world.call("apply_guild", { plan_hash: refused.hash })).text).toContain("is invalid");
	const corrected = await plan(world, {
		plan_hash: refused.hash,
		changes: {
			roles: [{ name: "Judge", color: "#FF0000" }, { name: "Jury" }],
			messages: [{ channel: "help", key: "a", content: "Hello" }],
		},
	});
	expect(corrected.text).toContain("needs a channel, and a key");
	const whole = await plan(world, { plan_hash: corrected.hash, changes: { messages: null } });
	expect(whole.text).toContain(": create 4\n+ role Judge: color #FF0000\n");
});

test("a document names users by their usernames", async () => {
	await using world = await startSeason();
	const document = {
		roles: [{ name: "Judge" }],
		members: [{ id: "@ada", roles: ["Judge"] }],
		channels: [{ name: "jury", overwrites: [{ member: "@ada", allow: ["VIEW_CHANNEL"] }] }],
	};
	const { text } = await plan(world, { document });
	expect(text).toContain("~ role Judge to 1 member: @ada\n");
	const unknown = await plan(world, { document: { members: [{ id: "@nobody", roles: [] }] } });
	expect(unknown.text).toContain("members.id: The Cooks");
	expect(unknown.text).toContain('has no user "@nobody"');
});

postedTest("send_message and create_thread pin what they post, if the bot may", async ({ world }) => {
	const send = { channel_id: channelNamed(world, "season-rules").id, content: "Now", pin: true };
	expect((await world.call("send_message", send)).text).toContain(", pinned");
	expect(messagesIn(world, "season-rules").find(({ content }) => content === "Now")?.pinned_at).toBeString();
	world.simulator.faults.refuse("PUT /channels/*/messages/pins/*", 30003);
	const full = await world.call("send_message", send);
	expect(full.text).toContain(", but it is not pinned: ");
	const post = { channel_id: channelNamed(world, "season-help").id, name: "News", content: "Now", pin: true };
	await world.call("create_thread", post);
	expect([...world.guild.threads.values()].find(({ name }) => name === "News")?.flags).toBe(2);
});
