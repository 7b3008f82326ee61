// Threads and forums: starting, listing, editing and deleting, members and events.

import { expect } from "bun:test";
import {
	AuditLogEvent,
	ChannelType,
	type ForumChannel,
	PermissionFlagsBits,
	type TextChannel,
	ThreadAutoArchiveDuration,
} from "discord.js";
import { present, until } from "../../../support/until.ts";
import { connect, testWith } from "../../support.ts";

const { CreatePublicThreads, ManageThreads, SendMessages, SendMessagesInThreads, ViewChannel } = PermissionFlagsBits;

const test = testWith(({ world, guild, channel, ada, user, as }) => ({
	general: channel,
	mona: user("mona_lisa"),
	zoe: user("zoe"),
	threads: `/channels/${channel.id}/threads`,
	asMona: as("mona_lisa"),
	asZoe: as("zoe"),
	write: (content: string) => world.messages.add(channel, ada, { content }),
	start: (name = "soup") => world.threads.add(channel, ada, { name }),
	forum: (given = {}) => world.channels.add(guild, { name: "recipes", type: ChannelType.GuildForum, ...given }),
}));

async function textChannel(bot: Awaited<ReturnType<typeof connect>>, id: string): Promise<TextChannel> {
	const found = await bot.client.channels.fetch(id);
	if (found?.type !== ChannelType.GuildText) throw new Error("expected a text channel");
	return found;
}

test("discord.js starts a thread from a message, edits and deletes it, with events and audit log entries", async (given) => {
	const { world, guild, general, write, simulator } = given;
	await using bot = await connect(simulator);
	const message = write("who cooks?");
	const channel = await textChannel(bot, general.id);
	const thread = await channel.threads.create({
		name: "soup",
		startMessage: message.id,
		autoArchiveDuration: ThreadAutoArchiveDuration.OneHour,
		reason: "why not",
	});
	expect(thread).toMatchObject({
		id: message.id,
		type: ChannelType.PublicThread,
		parentId: general.id,
		ownerId: simulator.bot("alpha").id,
		autoArchiveDuration: 60,
		archived: false,
	});
	expect(await bot.event("THREAD_CREATE")).toMatchObject({
		id: thread.id,
		newly_created: true,
		member: { user_id: simulator.bot("alpha").id },
	});
	expect(await bot.event("MESSAGE_UPDATE", ({ id }) => id === message.id)).toMatchObject({
		flags: 32,
		thread: { id: thread.id, name: "soup" },
	});
	expect(world.messages.in(thread.id)).toMatchObject([{ type: 21, message_reference: { message_id: message.id } }]);

	await thread.edit({ name: "stew", locked: true, reason: "changed" });
	expect(await bot.event("THREAD_UPDATE")).toMatchObject({ name: "stew" });
	await thread.delete("enough");
	expect(await bot.event("THREAD_DELETE")).toEqual({
		id: thread.id,
		guild_id: guild.id,
		parent_id: general.id,
		type: ChannelType.PublicThread,
	});
	expect(guild.threads.size).toBe(0);
	expect(world.channels.has(thread.id)).toBe(false);
	expect(world.messages.in(thread.id)).toEqual([]);
	expect(message.flags).toBe(0);
	const { ThreadCreate, ThreadUpdate, ThreadDelete } = AuditLogEvent;
	expect(guild.auditLog.slice(-3)).toMatchObject([
		{ action_type: ThreadCreate, target_id: thread.id, reason: "why not" },
		{
			action_type: ThreadUpdate,
			changes: [
				{ key: "name", old_value: "soup", new_value: "stew" },
				{ key: "locked", old_value: false, new_value: true },
			],
			reason: "changed",
		},
		{ action_type: ThreadDelete, target_id: thread.id, reason: "enough" },
	]);
});

test("a new public thread has a system message in its channel, a private one has none", async (given) => {
	const { world, general, threads, alpha } = given;
	const made = await alpha("POST", threads, { name: "soup", type: 11 });
	expect(made.status).toBe(201);
	const { id } = made.json<{ id: string }>();
	expect(world.messages.in(general.id)).toMatchObject([
		{ type: 18, content: "soup", message_reference: { channel_id: id } },
	]);
	// Without a type it is a private one.
	const hidden = await alpha("POST", threads, { name: "salt" });
	expect(hidden.json()).toMatchObject({ type: 12, thread_metadata: { invitable: true } });
	expect(world.messages.in(general.id)).toHaveLength(1);
});

test("a message has one thread, and only text channels have threads", async (given) => {
	const { world, guild, general, threads, alpha, write, start, simulator } = given;
	const message = write("once");
	const from = `/channels/${general.id}/messages/${message.id}/threads`;
	expect((await alpha("POST", from, { name: "a" })).status).toBe(201);
	expect((await alpha("POST", from, { name: "b" })).code).toBe(160004);
	const fields = { name: "", auto_archive_duration: 61 };
	expect((await alpha("POST", threads, fields)).faults).toEqual({
		name: "BASE_TYPE_BAD_LENGTH",
		auto_archive_duration: "BASE_TYPE_CHOICES",
	});
	world.channels.edit(general, { default_auto_archive_duration: 60 });
	const started = await alpha("POST", threads, { name: "a", type: 11 });
	// The channel's default is for Discord's own clients.
	expect(started.json()).toMatchObject({ thread_metadata: { auto_archive_duration: 1440 } });
	const inside = `/channels/${start().id}/threads`;
	expect((await alpha("POST", inside, { name: "a" })).code).toBe(50024);
	const { id } = simulator.channel("The Cooks/Lounge");
	const voice = `/channels/${id}/threads`;
	expect((await alpha("POST", voice, { name: "a" })).code).toBe(50024);
	const news = world.channels.add(guild, { name: "news", type: ChannelType.GuildAnnouncement });
	const announced = `/channels/${news.id}/threads`;
	const type = (given: number) => alpha("POST", announced, { name: "a", type: given });
	expect((await type(12)).code).toBe(50024);
	expect((await type(10)).status).toBe(201);
});

test("starting a thread needs the permission for its type", async ({ general, threads, asZoe, deny, guild }) => {
	deny(general, CreatePublicThreads, guild.id);
	const start = (type: number) => asZoe("POST", threads, { name: "a", type });
	expect((await start(11)).code).toBe(50013);
	expect((await start(12)).status).toBe(201);
	deny(general, PermissionFlagsBits.CreatePrivateThreads, guild.id);
	expect((await start(12)).code).toBe(50013);
	expect((await start(11)).status).toBe(201);
});

test("sending in a thread needs SEND_MESSAGES_IN_THREADS and joins it", async (given) => {
	const { general, asZoe, zoe, deny, start, guild } = given;
	const thread = start();
	const messages = `/channels/${thread.id}/messages`;
	deny(general, SendMessagesInThreads, guild.id);
	expect((await asZoe("POST", messages, { content: "1" })).code).toBe(50013);
	deny(general, SendMessages, guild.id);
	const said = await asZoe("POST", messages, { content: "2" });
	expect(said.status).toBe(200);
	expect(thread.members.has(zoe.id)).toBe(true);
	expect(thread).toMatchObject({ message_count: 1, total_message_sent: 1 });
	const { id } = said.json<{ id: string }>();
	expect(thread.last_message_id).toBe(id);
	await asZoe("DELETE", `${messages}/${id}`);
	expect(thread).toMatchObject({ message_count: 0, total_message_sent: 1 });
});

test("a private thread is visible to its members and with MANAGE_THREADS", async (given) => {
	const { world, guild, general, ada, mona, asMona, asZoe, deny, alpha, simulator, user } = given;
	await using bot = await connect(simulator);
	const type = ChannelType.PrivateThread;
	deny(general, ManageThreads);
	const thread = world.threads.add(general, ada, { name: "hush", type });
	const path = `/channels/${thread.id}`;
	expect((await asZoe("GET", path)).code).toBe(50001);
	expect((await alpha("GET", path)).code).toBe(50001);
	world.threads.join(thread, mona);
	expect((await asMona("GET", path)).json()).toMatchObject({ member_count: 2, member: { user_id: mona.id } });
	const active = await asZoe("GET", `/guilds/${guild.id}/threads/active`);
	expect(active.json()).toMatchObject({ threads: [], members: [] });
	expect(world.guilds.serializeFor(guild, mona).threads).toHaveLength(1);
	world.messages.add(thread, mona, { content: "unheard" });
	world.threads.join(thread, user("alpha"));
	expect(await bot.event("THREAD_CREATE")).toMatchObject({ id: thread.id });
	world.messages.add(thread, mona, { content: "heard" });
	await bot.event("MESSAGE_CREATE", ({ content }) => content === "heard");
	expect(bot.events.some(({ d }) => d?.content === "unheard")).toBe(false);
});

test("an archived thread allows only deleting, and sending reopens it", async ({ world, ada, alpha, asZoe, start }) => {
	const thread = start();
	const message = world.messages.add(thread, ada, { content: "1" });
	const path = `/channels/${thread.id}`;
	const emoji = encodeURIComponent("👍");
	const at = `${path}/messages/${message.id}`;
	await alpha("PATCH", path, { archived: true });
	const attempts = [
		await alpha("PUT", `${at}/reactions/${emoji}/@me`),
		await alpha("PUT", `${path}/messages/pins/${message.id}`),
		await alpha("PUT", `${path}/thread-members/@me`),
		await alpha("PATCH", path, { name: "changed" }),
	];
	expect(attempts.map(({ code }) => code)).toEqual([50083, 50083, 50083, 50083]);
	expect((await alpha("DELETE", at)).status).toBe(204);
	await asZoe("POST", `${path}/messages`, { content: "awake" });
	expect(thread.archived).toBe(false);
	const both = { archived: true, locked: true };
	expect((await alpha("PATCH", path, both)).status).toBe(200);
	const refused = await asZoe("POST", `${path}/messages`, { content: "?" });
	expect(refused.code).toBe(160005);
	expect((await asZoe("PATCH", path, { archived: false })).code).toBe(50013);
	await alpha("POST", `${path}/messages`, { content: "open" });
	expect(thread).toMatchObject({ archived: false, locked: true });
});

test("the owner renames and archives a thread; locking and slow mode need MANAGE_THREADS", async (given) => {
	const { world, general, zoe, asZoe, asMona } = given;
	const thread = world.threads.add(general, zoe, { name: "mine" });
	const path = `/channels/${thread.id}`;
	expect((await asMona("PATCH", path, { name: "ours" })).code).toBe(50013);
	expect((await asZoe("PATCH", path, { name: "ours" })).status).toBe(200);
	expect((await asZoe("PATCH", path, { locked: true })).code).toBe(50013);
	const slow = { rate_limit_per_user: 5 };
	expect((await asZoe("PATCH", path, slow)).code).toBe(50013);
	expect((await asZoe("PATCH", path, { archived: true })).status).toBe(200);
	// Anyone who may write there may open it.
	expect((await asMona("PATCH", path, { archived: false })).status).toBe(200);
	expect((await asZoe("DELETE", path)).code).toBe(50013);
});

test("active threads are listed newest first, archived ones in pages by archive time", async (given) => {
	const { world, guild, general, ada, alpha, asZoe, start, as } = given;
	const all = ["a", "b", "c", "d"].map(start);
	const archive = (index: number, at: number) => {
		const thread = present(all[index]);
		world.threads.edit(thread, { archived: true });
		thread.archive_timestamp = new Date(1_790_000_000_000 + at).toISOString();
	};
	const list = async (path: string, who = alpha) => {
		const { threads, has_more } = (await who("GET", path)).json<{ threads: { name: string }[]; has_more: boolean }>();
		return [threads.map(({ name }) => name).join(""), has_more];
	};
	const active = `/guilds/${guild.id}/threads/active`;
	expect(await list(active)).toEqual(["dcba", false]);
	archive(0, 3);
	archive(1, 2);
	archive(2, 1);
	const archived = `/channels/${general.id}/threads/archived`;
	expect(await list(active)).toEqual(["d", false]);
	expect(await list(`${archived}/public`)).toEqual(["abc", false]);
	expect(await list(`${archived}/public?limit=2`)).toEqual(["ab", true]);
	const before = encodeURIComponent(String(all[1]?.archive_timestamp));
	expect(await list(`${archived}/public?before=${before}`)).toEqual(["c", false]);
	expect((await alpha("GET", `${archived}/public?limit=1`)).status).toBe(400);

	const type = ChannelType.PrivateThread;
	const hidden = world.threads.add(general, ada, { name: "h", type });
	world.threads.edit(hidden, { archived: true });
	expect(await list(`${archived}/private`)).toEqual(["h", false]);
	expect((await asZoe("GET", `${archived}/private`)).code).toBe(50013);
	const joined = `/channels/${general.id}/users/@me/threads/archived/private`;
	expect(await list(joined)).toEqual(["", false]);
	expect(await list(joined, as("ada"))).toEqual(["h", false]);
});

test("thread members join, are added, leave and are removed, with events", async (given) => {
	const { world, guild, mona, zoe, alpha, asZoe, asMona } = given;
	const { start, member, simulator } = given;
	await using bot = await connect(simulator);
	const thread = start();
	const members = `/channels/${thread.id}/thread-members`;
	const ids = async () =>
		(await alpha("GET", members))
			.json<{ user_id: string }[]>()
			.map(({ user_id }) => user_id)
			.sort();
	expect((await asZoe("PUT", `${members}/@me`)).status).toBe(204);
	expect((await asZoe("PUT", `${members}/${mona.id}`)).status).toBe(204);
	expect(
		await bot.event("THREAD_MEMBERS_UPDATE", (data) => JSON.stringify(data.added_members).includes(mona.id)),
	).toMatchObject({ id: thread.id, member_count: 3 });
	expect(await ids()).toEqual([thread.owner_id, zoe.id, mona.id].sort());
	const one = await alpha("GET", `${members}/${mona.id}?with_member=true`);
	expect(one.json()).toMatchObject({ user_id: mona.id, member: { user: { username: "mona_lisa" } } });
	expect((await asMona("DELETE", `${members}/${zoe.id}`)).code).toBe(50013);
	expect((await alpha("DELETE", `${members}/${zoe.id}`)).status).toBe(204);
	expect((await asMona("DELETE", `${members}/@me`)).status).toBe(204);
	await bot.event("THREAD_MEMBERS_UPDATE", (data) => JSON.stringify(data.removed_member_ids).includes(mona.id));
	expect(await ids()).toEqual([thread.owner_id]);
	expect((await alpha("GET", `${members}/${zoe.id}`)).code).toBe(10007);
	world.threads.join(thread, zoe);
	world.members.remove(guild, member("zoe"));
	expect(await ids()).toEqual([thread.owner_id]);
});

test("the first message of a thread has the message it started from, and a pin notice only its id", async (given) => {
	const { world, general, guild, alpha, ada, write, simulator } = given;
	await using bot = await connect(simulator);
	const message = write("who cooks?");
	const thread = world.threads.add(general, ada, { name: "soup", message });
	const starter = {
		type: 21,
		content: "",
		author: { username: "ada" },
		message_reference: { type: 0, guild_id: guild.id, channel_id: general.id, message_id: message.id },
		referenced_message: { id: message.id, content: "who cooks?" },
	};
	const read = async (id: string) => (await alpha("GET", `/channels/${id}/messages`)).json<object[]>();
	expect(await read(thread.id)).toMatchObject([starter]);
	const said = await bot.event("MESSAGE_CREATE", ({ type }) => type === 21);
	expect(said).toMatchObject(starter);
	world.messages.pin(general, message, ada);
	const [notice] = await read(general.id);
	expect(notice).toMatchObject({ type: 6, message_reference: { message_id: message.id } });
	expect(notice).not.toHaveProperty("referenced_message");
	world.messages.remove(general, message);
	expect(await read(thread.id)).toMatchObject([{ referenced_message: null }]);
});

test("the message count of a thread leaves out its starter, and never falls below 0", async (given) => {
	const { world, ada, write, general } = given;
	const message = write("who cooks?");
	const thread = world.threads.add(general, ada, { name: "soup", message });
	const reply = world.messages.add(thread, ada, { content: "me" });
	expect(thread.message_count).toBe(1);
	for (const one of [...world.messages.in(thread.id), reply]) world.messages.remove(thread, one);
	expect(thread).toMatchObject({ message_count: 0, total_message_sent: 1 });
});

test("system messages tell of added and removed members and of new names", async ({ mona, alpha, asZoe, start }) => {
	const thread = start();
	const path = `/channels/${thread.id}`;
	for (const id of ["@me", mona.id]) await asZoe("PUT", `${path}/thread-members/${id}`);
	await alpha("PATCH", path, { name: "stew", archived: true });
	expect(thread.archived).toBe(true);
	await alpha("PATCH", path, { archived: false, locked: true });
	await alpha("DELETE", `${path}/thread-members/${mona.id}`);
	await asZoe("DELETE", `${path}/thread-members/@me`);
	const by = (username: string) => ({ author: { username } });
	const told = (await alpha("GET", `${path}/messages`)).json<object[]>();
	expect(told.toReversed()).toMatchObject([
		{ type: 1, content: "", mentions: [{ id: mona.id }], ...by("zoe") },
		{ type: 4, content: "stew", ...by("alpha") },
		{ type: 2, content: "", mentions: [{ id: mona.id }], ...by("alpha") },
	]);
	expect([...thread.members.keys()]).toEqual([thread.owner_id]);
});

test("a bot receives the threads of a channel that it can now view", async (given) => {
	const { world, general, deny, start, simulator } = given;
	deny(general, ViewChannel);
	const [thread, archived] = [start(), start("old")];
	world.threads.edit(archived, { archived: true });
	await using bot = await connect(simulator);
	expect(bot.client.channels.cache.has(thread.id)).toBe(false);
	world.channels.edit(general, { permission_overwrites: [] });
	const { threads, ...told } = await bot.event("THREAD_LIST_SYNC");
	expect(told).toMatchObject({ channel_ids: [general.id], members: [] });
	expect(threads).toMatchObject([{ id: thread.id, name: "soup" }]);
	await until("discord.js knows it", () => bot.client.channels.cache.has(thread.id));
});

test("a bot receives the active threads that it can view when it starts", async ({ world, start, simulator }) => {
	const [open, closed] = [start("open"), start("closed")];
	world.threads.edit(closed, { archived: true });
	await using bot = await connect(simulator);
	expect(bot.client.channels.cache.has(open.id)).toBe(true);
	expect(bot.client.channels.cache.has(closed.id)).toBe(false);
	// Over REST there is more.
	const fetched = await bot.client.channels.fetch(closed.id);
	expect(fetched).toMatchObject({ name: "closed", archived: true });
});

test("deleting a channel deletes its threads", async ({ world, guild, general, start, simulator }) => {
	await using bot = await connect(simulator);
	const thread = start();
	await bot.event("THREAD_CREATE");
	world.channels.remove(general);
	expect(guild.threads.size).toBe(0);
	expect(world.channels.has(thread.id)).toBe(false);
	await bot.event("CHANNEL_DELETE");
	expect(bot.client.channels.cache.has(thread.id)).toBe(false);
	expect(bot.events.some(({ t }) => t === "THREAD_DELETE")).toBe(false);
});

test("discord.js creates a forum post with tags", async ({ world, guild, forum, simulator }) => {
	await using bot = await connect(simulator);
	const recipes = forum({ default_thread_rate_limit_per_user: 5 });
	const found = (await bot.client.channels.fetch(recipes.id)) as ForumChannel;
	const tagged = await found.setAvailableTags([
		{ name: "soup", emoji: { id: null, name: "🍲" } },
		{ name: "staff", moderated: true },
	]);
	expect(recipes.available_tags).toMatchObject([
		{ name: "soup", moderated: false, emoji_name: "🍲" },
		{ name: "staff", moderated: true, emoji_name: null },
	]);
	const soup = tagged.availableTags[0]?.id ?? "";
	const post = await found.threads.create({
		name: "Leek soup",
		message: { content: "Take a leek." },
		appliedTags: [soup],
	});
	const thread = guild.threads.get(post.id);
	expect(thread).toMatchObject({
		name: "Leek soup",
		parent_id: recipes.id,
		applied_tags: [soup],
		rate_limit_per_user: 5,
		message_count: 0,
	});
	expect(world.messages.in(post.id)).toMatchObject([{ id: post.id, type: 0, content: "Take a leek." }]);
	expect((await post.fetchStarterMessage())?.content).toBe("Take a leek.");
	await post.setAppliedTags([]);
	expect(thread?.applied_tags).toEqual([]);
});

test("a post needs a message, known tags, and a tag if the forum requires one", async ({ forum, alpha, asZoe }) => {
	const { id } = forum();
	const posts = `/channels/${id}/threads`;
	const set = (available_tags: object[], flags = 0) => alpha("PATCH", `/channels/${id}`, { available_tags, flags });
	const message = { content: "x" };
	const post = (given: object, who = asZoe) => who("POST", posts, { name: "p", ...given });
	expect((await post({})).faults).toEqual({ message: "BASE_TYPE_REQUIRED" });
	expect((await post({ message: { content: "" } })).code).toBe(50006);
	const answer = await set([{ name: "a" }, { name: "b", moderated: true }], 16);
	const tags = answer.json<{ available_tags: { id: string }[] }>();
	const [a, b] = tags.available_tags.map((one) => one.id);
	expect((await post({ message })).code).toBe(40067);
	const nine = { message, applied_tags: ["9"] };
	expect((await post(nine)).code).toBe(10087);
	const moderated = { message, applied_tags: [b] };
	expect((await post(moderated)).code).toBe(50013);
	expect((await post(moderated, alpha)).status).toBe(201);
	expect((await post({ message, applied_tags: [a] })).status).toBe(201);
	expect((await set([{ name: "a" }, { name: "a" }])).code).toBe(40061);
	expect((await set([{ id: "9", name: "c" }])).code).toBe(10087);
	const renamed = await set([{ id: a, name: "A" }]);
	expect(renamed.json()).toMatchObject({ available_tags: [{ id: a }] });
	const many = Array.from({ length: 21 }, (_, index) => ({ name: `${index}` }));
	expect((await set(many)).faults).toHaveProperty("available_tags");
});
