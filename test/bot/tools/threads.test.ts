// The thread tools, and channel tools in threads.

import { expect } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { JsonObject } from "../../../src/lib/json.ts";
import type { NewThread } from "../../../src/simulator/world/messages/threads.ts";
import { pagesOf } from "../../support/pages.ts";
import { channelNamed, denyBot, type TestWorld, userNamed, worldTest, writes } from "../../support/world.ts";

function scene(test: TestWorld) {
	const { simulator, guild } = test;
	const { world } = simulator;
	const [ada, alpha] = [userNamed(test, "ada"), userNamed(test, "alpha")];
	const general = channelNamed(test, "general");
	const deny = (bits: bigint) => denyBot(test, general, bits);
	return {
		world,
		guild,
		ada,
		alpha,
		general,
		deny,
		call: test.call,
		start: (name: string, given: Partial<NewThread> = {}, by = ada) =>
			world.threads.add(general, by, { name, ...given }),
	};
}

const named = (text: string) => Array.from(text.matchAll(/^#(\S+) \| ID/gm), ([, name]) => name).join("");

worldTest("a thread starts by itself, privately, or with a first message that pings nobody", async (test) => {
	const { world, guild, ada, general, call } = scene(test);
	const channel_id = general.id;
	const hidden = await call("create_thread", { channel_id, name: "hush", private: true });
	const [secret] = guild.threads.values();
	expect(hidden.text).toBe(
		`Created the private thread #hush (ID: ${secret?.id}) in #general (ID: ${channel_id}): https://discord.com/channels/${guild.id}/${secret?.id}`,
	);
	expect(secret?.type).toBe(ChannelType.PrivateThread);
	world.channels.edit(general, { default_auto_archive_duration: 10_080 });
	await test.heard();
	const content = `@everyone <@${ada.id}>`;
	const open = await call("create_thread", { channel_id, name: "soup", content, reason: "dinner" });
	// Of messages no audit log tells.
	const entries = test.simulator.journal.entries().slice(-2);
	expect(entries.map(({ reason }) => reason)).toEqual(["dinner", undefined]);
	const thread = [...guild.threads.values()][1];
	const [message] = world.messages.in(thread?.id ?? "");
	expect(message).toMatchObject({ content, mention_everyone: false, mentions: [] });
	expect(open.text).toBe(
		`Created the thread #soup (ID: ${thread?.id}) in #general (ID: ${channel_id}), with the message ${message?.id}: https://discord.com/channels/${guild.id}/${thread?.id}/${message?.id}\nNot pinged: @everyone, @ada.`,
	);
	expect(thread).toMatchObject({ type: ChannelType.PublicThread, auto_archive_duration: 10_080 });
});

worldTest("impossible threads are refused before anything is sent", async (test) => {
	const { world, guild, general, call } = scene(test);
	const news = world.channels.add(guild, { name: "news", type: ChannelType.GuildAnnouncement });
	const forum = world.channels.add(guild, { name: "recipes", type: ChannelType.GuildForum });
	await test.heard();
	const create = async (given: object) => (await call("create_thread", { name: "soup", ...given })).text;
	const message_id = "123456789012345678";
	expect(await create({ channel_id: general.id, message_id, private: true })).toContain(
		"visible to all who see the message",
	);
	expect(await create({ channel_id: news.id, private: true })).toContain(
		"announcement channels have no private threads",
	);
	expect(await create({ channel_id: forum.id, message_id, private: true })).toContain(
		"message_id: forum posts do not have this; private: forum posts do not have this; content: is required, because a post begins with a message",
	);
	expect(await create({ channel_id: general.id, tag_ids: [message_id] })).toContain(
		"tag_ids: only forum posts have tags",
	);
	const lounge = channelNamed(test, "Lounge").id;
	expect(await create({ channel_id: lounge })).toContain("cannot have threads");
	expect(writes(test)).toEqual([]);
	expect(await create({ channel_id: news.id })).toStartWith("Created");
	const [thread] = guild.threads.values();
	expect(thread?.type).toBe(ChannelType.AnnouncementThread);
});

worldTest("if the first message fails, the error names the created thread", async (test) => {
	const { guild, general, call } = scene(test);
	const channel_id = general.id;
	const given = { channel_id, name: "soup", content: "hot" };
	const { faults } = test.simulator;
	faults.refuse("POST /channels/*/messages", 50013);
	const refused = await call("create_thread", given);
	const [thread] = guild.threads.values();
	expect(refused.isError).toBe(true);
	expect(refused.text).toStartWith(
		`Created the thread #soup (ID: ${thread?.id}) in #general (ID: ${channel_id}), but its first message was not sent: Discord API error: Missing Permissions (code 50013).`,
	);
	faults.clear();
	// Sent again with its nonce, and refused.
	faults.fail("POST /channels/*/messages", 500, { executed: true, times: 1 });
	faults.refuse("POST /channels/*/messages", 50013);
	const lost = await call("create_thread", given);
	expect(lost.text).toContain(", but its first message was not sent: ");
	expect(lost.text).toContain("whether it took effect is unknown");
	faults.clear();
	faults.refuse("POST /channels/*/threads", 50013);
	const none = await call("create_thread", given);
	expect(none.text).toStartWith("Discord API error: Missing Permissions");
	expect(guild.threads.size).toBe(2);
});

worldTest("private threads and first messages require permissions of their own", async (test) => {
	const { general, deny, call } = scene(test);
	const { CreatePrivateThreads, SendMessagesInThreads } = PermissionFlagsBits;
	await deny(CreatePrivateThreads | SendMessagesInThreads);
	const create = async (given: object) =>
		(await call("create_thread", { channel_id: general.id, name: "soup", ...given })).text;
	expect(await create({ private: true })).toContain("lacks CREATE_PRIVATE_THREADS");
	expect(await create({ content: "x" })).toContain("lacks SEND_MESSAGES_IN_THREADS");
	expect(await create({})).toStartWith("Created the thread #soup");
});

worldTest("active and archived threads are listed page by page, each once", async (test) => {
	const { world, general, start, call } = scene(test);
	const type = ChannelType.PrivateThread;
	const kinds = { c: { type }, e: { type } } as Record<string, object>;
	const threads = [..."abcdef"].map((name) => start(name, kinds[name] ?? {}));
	for (const [index, thread] of threads.slice(0, 4).entries()) {
		world.threads.edit(thread, { archived: true });
		const at = 1_790_000_000_000 + index * 1000;
		thread.archive_timestamp = new Date(at).toISOString();
	}
	const channel_id = general.id;
	const whole = await call("list_threads", { channel_id, include_archived: true });
	expect(named(whole.text)).toBe("fedcba");
	expect(whole.text).toContain(`#c | ID: ${threads[2]?.id} | private | `);
	expect(whole.text).not.toContain("next_before");
	for (const limit of [1, 2, 3, 5]) {
		const seen = (await pagesOf(call, "list_threads", { channel_id, include_archived: true, limit })).map(named);
		for (const { length } of seen) expect(length).toBeLessThanOrEqual(limit);
		expect(seen.join("")).toBe("fedcba");
	}
	const active = await call("list_threads", {});
	expect(active.text).toStartWith(`2 active thread(s) in the guild ${test.guild.id}, the newest first, times in UTC:`);
	expect(active.text).toContain(` | in: #general (ID: ${channel_id}) | `);
});

worldTest("threads are found by part of their name, and posts show their tags by name", async (test) => {
	const { world, guild, ada, general, start, call } = scene(test);
	const channel_id = general.id;
	const archived = start("crème-brûlée");
	start("leek");
	world.threads.edit(archived, { archived: true });
	const id = world.state.newId();
	const forum = world.channels.add(guild, {
		name: "recipes",
		type: ChannelType.GuildForum,
		available_tags: [{ id, name: "so|up", moderated: false, emoji_id: null, emoji_name: null }],
	});
	world.threads.add(forum, ada, { name: "leek-soup", applied_tags: [id] });
	await test.heard();
	const list = async (given: JsonObject) => (await call("list_threads", given)).text;
	const sweet = { channel_id, query: "CREME", include_archived: true };
	expect(named(await list(sweet))).toBe("crème-brûlée");
	expect(await list(sweet)).toStartWith(`1 thread(s) with "CREME" in the name in #general (ID: ${channel_id}),`);
	const everywhere = await list({ query: ["LEEK", "brulee"] });
	expect(named(everywhere)).toBe("leek-soupleek");
	expect(everywhere).toContain(` | in: #recipes (ID: ${forum.id}) | `);
	expect(everywhere).toContain(`Z by Ada (@ada, ID: ${ada.id}) | tags: so\\|up`);
	expect(named(await list({ channel_id: forum.id, tag_ids: ["SO|UP"] }))).toBe("leek-soup");
	expect(await list({ channel_id: forum.id, tag_ids: ["a\nb"] })).toContain(
		"has no tag a\\nb. get_channel shows its tags.",
	);
	expect(await list({ query: "x" })).toBe(`There is no active thread with "x" in the name in the guild ${guild.id}.`);
	expect(await list({ tag_ids: [id] })).toContain("tag_ids: expected only together with the channel_id of a forum");
});

worldTest("without MANAGE_THREADS a note says that archived private threads are not listed", async (test) => {
	const { world, general, start, deny, call } = scene(test);
	const hidden = start("hush", { type: ChannelType.PrivateThread });
	const open = start("open");
	for (const thread of [hidden, open]) world.threads.edit(thread, { archived: true });
	await deny(PermissionFlagsBits.ManageThreads);
	const { text } = await call("list_threads", { channel_id: general.id, include_archived: true });
	expect(named(text)).toBe("open");
	expect(text).toContain("that requires MANAGE_THREADS");
	const guildWide = await call("list_threads", { include_archived: true });
	expect(guildWide.text).toContain("only together with channel_id");
});

worldTest("an empty list is a sentence, and a name cannot forge a line", async (test) => {
	const { general, start, call } = scene(test);
	const channel_id = general.id;
	const none = await call("list_threads", { channel_id });
	expect(none.text).toBe(`There is no active thread in #general (ID: ${channel_id}).`);
	start("a\n#b | ID: 123456789012345678");
	const { text } = await call("list_threads", { channel_id });
	expect(text.split("\n")).toHaveLength(2);
	expect(text).toContain("#a\\n#b \\| ID\\: 123456789012345678 | ID: ");
});

worldTest("edit_thread changes the given fields that differ, and names them", async (test) => {
	const { start, call } = scene(test);
	const thread = start("soup");
	const edit = async (given: object) => (await call("edit_thread", { thread_id: thread.id, ...given })).text;
	await test.heard();
	expect(await edit({ name: "stew", locked: false, slowmode: "5s" })).toBe(
		`Changed name, slowmode of #stew (ID: ${thread.id}): name: soup → stew, slowmode: 0s → 5s.`,
	);
	expect(thread).toMatchObject({ name: "stew", rate_limit_per_user: 5 });
	expect(await edit({ name: "stew" })).toContain("Nothing would change");
	expect(await edit({})).toContain("expected at least one of these");
	expect(await edit({ auto_archive: "1h", archived: true })).toContain("Changed archived, auto_archive");
	expect(await edit({ name: "soup" })).toContain("edit_thread with archived = false reopens it");
	expect(await edit({ name: "soup", archived: false })).toContain("Changed name, archived of #soup");
	expect(await edit({ applied_tag_ids: ["123456789012345678"] })).toContain("only forum posts have tags");
	expect(await edit({ invitable: false })).toContain("invitable: only private threads have this");
	const hidden = start("hush", { type: ChannelType.PrivateThread });
	await test.heard();
	const hush = { thread_id: hidden.id, invitable: false };
	expect((await call("edit_thread", hush)).text).toBe(
		`Changed invitable of #hush (ID: ${hidden.id}): invitable: true → false.`,
	);
	expect(hidden.invitable).toBe(false);
	expect((await call("edit_thread", hush)).text).toContain("Nothing would change");
});

worldTest("without MANAGE_THREADS the bot edits its own threads, and reopens others'", async (test) => {
	const { world, alpha, start, deny, call } = scene(test);
	const own = start("own", {}, alpha);
	const other = start("other");
	const closed = start("closed");
	world.threads.edit(closed, { archived: true });
	await deny(PermissionFlagsBits.ManageThreads);
	const edit = async (thread_id: string, given: object) => (await call("edit_thread", { thread_id, ...given })).text;
	const lacks = "lacks MANAGE_THREADS in #";
	expect(await edit(own.id, { archived: true })).toStartWith("Changed");
	expect(await edit(other.id, { archived: true })).toContain(lacks);
	expect(await edit(own.id, { locked: false })).toContain(lacks);
	expect(await edit(closed.id, { archived: false })).toStartWith("Changed");
	expect(closed.archived).toBe(false);
	expect(test.simulator.journal.entries()).toHaveLength(2);
});

worldTest("an uncached thread is found, and a hidden one is not", async (test) => {
	const { world, start, deny, call, general } = scene(test);
	await deny(PermissionFlagsBits.ViewChannel);
	const old = start("old");
	world.threads.edit(old, { archived: true });
	world.channels.edit(general, { permission_overwrites: [] });
	await deny(PermissionFlagsBits.ManageThreads);
	const hidden = start("hush", { type: ChannelType.PrivateThread });
	await test.heard();
	const shown = await call("get_channel", { channel_id: old.id });
	expect(shown.text).toStartWith(`#old (ID: ${old.id}), thread`);
	expect(shown.text).toContain("archived: yes");
	const unseen = await call("get_channel", { channel_id: hidden.id });
	expect(unseen.text).toStartWith(`There is no channel ${hidden.id}`);
	const channel = await call("edit_thread", { thread_id: general.id, name: "x" });
	expect(channel.text).toContain("is not a thread. Use list_threads");
});

worldTest("tools for channels work in threads", async (test) => {
	const { world, ada, start, call } = scene(test);
	const thread = start("soup");
	const channel_id = thread.id;
	const said = world.messages.add(thread, ada, { content: "hot?" });
	await test.heard();
	const sent = await call("send_message", { channel_id, content: "very" });
	const id = /ID: (\d+)/.exec(sent.text)?.[1];
	expect(world.messages.get(thread.id, id ?? "")?.content).toBe("very");
	const read = await call("get_recent_messages", { channel_id });
	expect(read.text).toStartWith(
		`2 message(s) in #soup (ID: ${thread.id}) in #general (ID: ${thread.parent_id}), newest first`,
	);
	const message_id = said.id;
	await call("add_reaction", { channel_id, message_id, emoji: "🍲" });
	expect(said.reactions).toHaveLength(1);
	await call("pin_message", { channel_id, message_id });
	expect(said.pinned_at).not.toBeNull();
	const pins = await call("list_pins", { channel_id });
	expect(pins.text).toContain(`| ID: ${said.id} | text: hot?`);
	const found = await call("search_messages", { channel_ids: [channel_id], text: "hot" });
	expect(found.text).toContain(`| ID: ${said.id} | pinned | text: hot?`);
	await call("delete_messages", { channel_id, count: 1 });
	expect(world.messages.in(thread.id).at(-1)?.type).not.toBe(6);
});

worldTest("writing in a thread requires SEND_MESSAGES_IN_THREADS", async (test) => {
	const { start, deny, call } = scene(test);
	const thread = start("soup");
	await deny(PermissionFlagsBits.SendMessagesInThreads);
	const send = () => call("send_message", { channel_id: thread.id, content: "x" });
	expect((await send()).text).toContain("lacks SEND_MESSAGES_IN_THREADS in #soup");
	await deny(PermissionFlagsBits.SendMessages);
	expect((await send()).isError).toBe(false);
});

worldTest("an archived thread is unarchived by a message, and accepts no reaction before", async (test) => {
	const { world, ada, start, call } = scene(test);
	const thread = start("soup");
	const { id } = world.messages.add(thread, ada, { content: "hot?" });
	world.threads.edit(thread, { archived: true });
	await test.heard();
	const channel_id = thread.id;
	const react = () => call("add_reaction", { channel_id, message_id: id, emoji: "🍲" });
	expect((await react()).text).toContain("(code 50083). The thread is archived; edit_thread");
	await call("send_message", { channel_id, content: "very" });
	expect(thread.archived).toBe(false);
	expect((await react()).isError).toBe(false);
});

worldTest.each([
	["send_message", { content: "x" }],
	["get_recent_messages", {}],
	["add_reaction", { message_id: "123456789012345678", emoji: "🍲" }],
	["pin_message", { message_id: "123456789012345678" }],
	["search_messages", { channel_ids: "it" }],
])("%s refuses another guild's thread, archived or not", async (test, tool, args) => {
	const { world, ada, alpha, call } = scene(test);
	const bakers = test.simulator.guild("The Bakers");
	world.members.add(bakers, alpha, { botPermissions: PermissionFlagsBits.ManageThreads });
	const there = world.channels.add(bakers, { name: "ovens" });
	const active = world.threads.add(there, ada, { name: "active" });
	const archived = world.threads.add(there, ada, { name: "archived" });
	world.threads.edit(archived, { archived: true });
	await test.heard();
	for (const { id } of [active, archived]) {
		const { text } = await call(tool, "channel_ids" in args ? { channel_ids: [id] } : { channel_id: id, ...args });
		expect(text).toStartWith(`There is no channel ${id} in the guild`);
	}
	expect(writes(test)).toEqual([]);
});

worldTest("a message that a thread started from shows the thread", async (test) => {
	const { world, general, ada, start, call } = scene(test);
	const message = world.messages.add(general, ada, { content: "who cooks?" });
	const thread = start("soup", { message });
	world.messages.add(thread, ada, { content: "me" });
	await test.heard();
	const place = { channel_id: general.id, message_id: message.id };
	const { text } = await call("get_message", place);
	expect(text).toContain(`| thread: #soup (ID: ${thread.id}, 1 message(s))`);
	const again = await call("create_thread", { ...place, name: "stew" });
	expect(again.text).toContain("(code 160004). The message has a thread already");
});

worldTest(
	"the first message of a thread shows the message it started from, a pin notice the pinned one",
	async (test) => {
		const { world, general, ada, start, call } = scene(test);
		const message = world.messages.add(general, ada, {
			content: "who cooks?",
			embeds: [{ type: "rich", title: "Menu" }],
		});
		const thread = start("soup", { message });
		const reply = world.messages.add(thread, ada, { content: "me" });
		world.messages.pin(thread, reply, ada);
		await test.heard();
		const channel_id = thread.id;
		const started = `| kind: ThreadStarterMessage | thread started from: ${message.id} by @ada (ID: ${ada.id}) | text: who cooks? | embed: Menu`;
		const [starter] = world.messages.in(thread.id);
		const calls: [string, object][] = [
			["get_recent_messages", {}],
			["get_message", { message_id: starter?.id }],
		];
		for (const [tool, args] of calls) expect((await call(tool, { channel_id, ...args })).text).toContain(started);
		const { text } = await call("get_recent_messages", { channel_id, limit: 1 });
		expect(text).toContain(`| kind: ChannelPinnedMessage | pinned message: ${reply.id}\n`);
		world.messages.remove(general, message);
		expect((await call("get_recent_messages", { channel_id })).text).toContain(
			`| thread started from: ${message.id}, deleted`,
		);
	},
);

worldTest("members of a thread are counted up to 50", async (test) => {
	const { world, start, call } = scene(test);
	const thread = start("soup");
	for (const [count, shown] of [
		[49, "49"],
		[51, "50+"],
	] as const) {
		while (thread.members.size < count)
			world.threads.join(thread, world.users.add({ username: `cook${thread.members.size}` }));
		const { text } = await call("list_threads");
		expect(text).toContain(`| 0 message(s), ${shown} member(s) |`);
	}
});

worldTest("delete_messages skips what nobody can delete in a thread, and names it", async (test) => {
	const { world, general, ada, start, deny, call } = scene(test);
	const message = world.messages.add(general, ada, { content: "who cooks?" });
	const thread = start("soup", { message });
	const [starter] = world.messages.in(thread.id);
	const said = Array.from({ length: 120 }, (_, index) => world.messages.add(thread, ada, { content: `${index}` }).id);
	await test.heard();
	const channel_id = thread.id;
	const remove = async (args: object) => (await call("delete_messages", { channel_id, ...args })).text;
	const skipped = `1 skipped, since nobody can delete Discord's notices in a thread: ${starter?.id}`;
	const message_ids = [starter?.id, said[0], said.at(-1)];
	await deny(PermissionFlagsBits.ReadMessageHistory);
	expect(await remove({ message_ids })).toContain("lacks READ_MESSAGE_HISTORY");
	await deny(0n);
	for (const dry_run of [true, false]) {
		const text = await remove({ message_ids, dry_run });
		expect(text).toMatch(/^(Would delete|Deleted) 2 message\(s\) from #soup/m);
		expect(text).toContain(skipped);
	}
	expect(await remove({ count: 100 })).toStartWith("Deleted 100 message(s)");
	expect(await remove({ count: 100 })).toStartWith("Deleted 18 message(s)");
	const last = await remove({ count: 100 });
	expect(last).toStartWith("No message in #soup");
	expect(last).toContain(skipped);
	expect(world.messages.in(thread.id)).toMatchObject([{ type: 21 }]);
	const one = await call("delete_messages", { channel_id, message_ids: [starter?.id] });
	expect(one.text).toStartWith("Discord does not allow deleting messages of the type ThreadStarterMessage");
	expect(test.simulator.requests.list().filter(({ status }) => Number(status) >= 400)).toEqual([]);
});

worldTest("a channel is deleted with its threads", async (test) => {
	const { guild, general, start, call } = scene(test);
	const thread = start("soup");
	await test.heard();
	await call("delete_channel", { channel_id: general.id });
	expect(guild.threads.size).toBe(0);
	const { text } = await call("get_channel", { channel_id: thread.id });
	expect(text).toStartWith(`There is no channel ${thread.id}`);
});
