// The forum tools.

import { expect } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { pagesOf } from "../../support/pages.ts";
import { denyBot, type TestWorld, userNamed, worldTest, writes } from "../../support/world.ts";

function scene(test: TestWorld) {
	const { simulator, guild } = test;
	const { world } = simulator;
	const ada = userNamed({ simulator }, "ada");
	const tag = (name: string, given = {}) => ({
		id: world.state.newId(),
		name,
		moderated: false,
		emoji_id: null,
		emoji_name: null,
		...given,
	});
	const [soup, staff] = [tag("soup", { emoji_name: "🍲" }), tag("staff", { moderated: true })];
	const forum = world.channels.add(guild, {
		name: "recipes",
		type: ChannelType.GuildForum,
		available_tags: [soup, staff],
	});
	const channel_id = forum.id;
	return {
		world,
		guild,
		forum,
		soup,
		staff,
		channel_id,
		call: (tool: string, args = {}) => test.call(tool, { channel_id, ...args }),
		post: (name: string, tags: { id: string }[] = []) =>
			world.threads.add(forum, ada, { name, applied_tags: tags.map(({ id }) => id) }),
		deny: (bits: bigint) => denyBot(test, forum, bits),
	};
}

const named = (text: string) => Array.from(text.matchAll(/^#(\S+) \| ID/gm), ([, name]) => name).join("");

worldTest("a post is a thread with its first message, its tags, and no pings", async (test) => {
	const { world, guild, forum, soup, call } = scene(test);
	await test.heard();
	const { text } = await call("create_thread", {
		name: "Leek soup",
		content: "@everyone, take a leek.",
		tag_ids: [soup.id],
	});
	const [thread] = guild.threads.values();
	expect(text).toBe(
		`Created the post #Leek soup (ID: ${thread?.id}) in #recipes (ID: ${forum.id}): https://discord.com/channels/${guild.id}/${thread?.id}\nNot pinged: @everyone.`,
	);
	expect(thread).toMatchObject({ applied_tags: [soup.id] });
	expect(world.messages.in(thread?.id ?? "")).toMatchObject([
		{ content: "@everyone, take a leek.", mention_everyone: false },
	]);
	const channel_id = thread?.id;
	const answer = { channel_id, content: "And salt." };
	expect((await test.call("send_message", answer)).isError).toBe(false);
	const read = await call("get_recent_messages");
	expect(read.text).toContain("is a forum: its messages are in its posts. Use list_threads to find them.");
});

worldTest("a post pings everyone only if `mentions` and the bot's permissions allow it", async (test) => {
	const { world, guild, deny, call } = scene(test);
	await test.heard();
	const content = "@everyone";
	const given = { name: "x", content, mentions: "everyone" };
	await call("create_thread", given);
	const [thread] = guild.threads.values();
	expect(world.messages.in(thread?.id ?? "")).toMatchObject([{ mention_everyone: true }]);
	await deny(PermissionFlagsBits.MentionEveryone);
	const refused = await call("create_thread", given);
	expect(refused.text).toContain("lacks MENTION_EVERYONE");
});

worldTest("a moderated tag requires MANAGE_THREADS, and a forum can require a tag", async (test) => {
	const { world, forum, soup, staff, deny, call } = scene(test);
	await deny(PermissionFlagsBits.ManageThreads);
	world.channels.edit(forum, { flags: 16 });
	await test.heard();
	const post = async (tag_ids: string[]) => (await call("create_thread", { name: "x", content: "y", tag_ids })).text;
	expect(await post([staff.id])).toContain("lacks MANAGE_THREADS in #recipes");
	expect(writes(test)).toEqual([]);
	expect(await post([])).toContain("(code 40067). Every post of this forum needs a tag; use get_channel to find");
	expect(await post([soup.id])).toStartWith("Created the post");
	const { text } = await call("get_channel");
	expect(text).toStartWith(`#recipes (ID: ${forum.id}), forum\n`);
	expect(text).toContain(
		`\ntags: 2, every post needs at least one\ntag: soup | ID: ${soup.id} | emoji: 🍲\ntag: staff | ID: ${staff.id} | moderated: needs MANAGE_THREADS\n`,
	);
});

worldTest("posts are listed by tag, archived ones page by page, each once", async (test) => {
	const { world, soup, staff, post, call } = scene(test);
	const posts = [..."abcdefgh"].map((name, index) => post(name, [index % 2 === 0 ? soup : staff]));
	for (const [index, thread] of posts.slice(0, 6).entries()) {
		world.threads.edit(thread, { archived: true });
		const at = 1_790_000_000_000 + index * 1000;
		thread.archive_timestamp = new Date(at).toISOString();
	}
	await test.heard();
	const list = async (given: object) => (await call("list_threads", given)).text;
	expect(named(await list({}))).toBe("hg");
	expect(named(await list({ tag_ids: [soup.id] }))).toBe("g");
	expect(await list({ tag_ids: [soup.id] })).toContain(" | tags: soup");
	for (const limit of [1, 2, 3, 4]) {
		const pages = await pagesOf(call, "list_threads", { tag_ids: [soup.id], include_archived: true, limit });
		expect(pages.map(named).join("")).toBe("geca");
	}
});

worldTest("a long archive is searched for a tag in several calls", async (test) => {
	const { world, forum, soup, post, call } = scene(test);
	const posts = Array.from({ length: 520 }, (_, index) => post(`p${index}`, index === 0 ? [soup] : []));
	for (const [index, thread] of posts.entries()) {
		world.threads.edit(thread, { archived: true });
		const at = 1_790_000_000_000 + index * 1000;
		thread.archive_timestamp = new Date(at).toISOString();
	}
	await test.heard();
	const given = { tag_ids: [soup.id], include_archived: true };
	const first = await call("list_threads", given);
	expect(first.text).toStartWith(
		`There is no post with the tag ${soup.id} in #recipes (ID: ${forum.id}) among the threads searched so far.`,
	);
	const before = /^next_before=(\S+)$/m.exec(first.text)?.[1];
	const second = await call("list_threads", { ...given, before });
	expect(named(second.text)).toBe("p0");
	expect(second.text).not.toContain("next_before");
});

worldTest("edit_channel keeps the ids of remaining tags, and reports deleted ones and their use", async (test) => {
	const { forum, soup, staff, post, call } = scene(test);
	post("x", [staff]);
	await test.heard();
	const tags = [
		{ name: "cake", emoji: "🍰" },
		{ name: "Soups", id: soup.id },
	];
	const dry = await call("edit_channel", { tags, dry_run: true });
	expect(dry.text.split("\n").slice(1)).toEqual([
		`Would change #recipes (ID: ${forum.id}):`,
		"tags: 1 new, 1 changed, 1 deleted",
		`deleted tag: staff | ID: ${staff.id} | moderated: needs MANAGE_THREADS | on 1 active post(s)`,
		`changed tag: Soups | ID: ${soup.id} | emoji: 🍲`,
		"new tag: cake | emoji: 🍰",
		"Counts as destructive: it replaces the channel's tags.",
	]);
	expect(forum.available_tags).toEqual([soup, staff]);
	const { text } = await call("edit_channel", { tags });
	const [cake, soups] = forum.available_tags;
	expect(soups).toEqual({ ...soup, name: "Soups" });
	expect(text).toEndWith(`\ntag: cake | ID: ${cake?.id} | emoji: 🍰\ntag: Soups | ID: ${soup.id} | emoji: 🍲`);
});

worldTest("a list of tags that changes nothing or has unknown ids is refused", async (test) => {
	const { soup, forum, call } = scene(test);
	await test.heard();
	const set = async (tags: object[], dry_run = false) => (await call("edit_channel", { tags, dry_run })).text;
	const [a, b] = [{ name: "soup" }, { name: "staff" }];
	expect(await set([a, b])).toContain("Nothing would change");
	expect(await set([a, a])).toContain("two of the tags have the same name");
	const renamed = { id: soup.id, name: "x" };
	expect(await set([renamed, { ...renamed, name: "y" }])).toContain("two of the tags have the same id");
	// The name is free for another tag then.
	expect(await set([renamed, a], true)).toContain("1 new, 1 changed, 1 deleted");
	expect(await set([{ id: "123456789012345678", name: "x" }])).toContain(
		"has no tag 123456789012345678. get_channel shows",
	);
	expect(await set([{ name: "x", emoji: "<:pan:123456789012345678>" }])).toContain(
		"There is no emoji 123456789012345678",
	);
	// The order is a change, too.
	expect(forum.available_tags.map(({ name }) => name)).toEqual(["soup", "staff"]);
	expect(await set([b, a])).toContain("0 new, 0 changed, 0 deleted");
	expect(forum.available_tags.map(({ name }) => name)).toEqual(["staff", "soup"]);
});

worldTest("the tags of a post are set as a whole, by their ids", async (test) => {
	const { soup, staff, post, deny, call } = scene(test);
	const thread = post("x", [soup]);
	await test.heard();
	const edit = async (...ids: string[]) =>
		(await call("edit_thread", { channel_id: undefined, thread_id: thread.id, applied_tag_ids: ids })).text;
	expect(await edit(staff.id, soup.id)).toContain("Changed applied_tag_ids");
	expect(thread.applied_tags).toEqual([staff.id, soup.id]);
	expect(await edit(soup.id, staff.id)).toContain("Nothing would change");
	expect(await edit("123456789012345678")).toContain("has no tag");
	expect(await edit("STAFF")).toContain("applied_tag_ids: soup + staff → staff.");
	expect(await edit(soup.id, "staff")).toContain("Changed applied_tag_ids");
	await deny(PermissionFlagsBits.ManageThreads);
	expect(await edit(soup.id)).toContain("lacks MANAGE_THREADS");
});
