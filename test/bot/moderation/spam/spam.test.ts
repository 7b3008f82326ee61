import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { buttonsIn } from "../../../../src/simulator/world/messages/components.ts";
import type { User } from "../../../../src/simulator/world/state/entities.ts";
import { createSnowflakes } from "../../../../src/simulator/world/state/snowflake.ts";
import { present, until } from "../../../support/until.ts";
import { roleNamed, userNamed } from "../../../support/world.ts";
import { advert, picture, type SpamWorld, spamTest, startSpam } from "./spam-world.ts";

const link = "https://free-gifts.example/claim?id=1";
const staffBits = ["ManageMessages", "ModerateMembers"] as const;

/** What a person posts: the number of a channel, a text and pictures. */
type Script = readonly (readonly [channel: number, text: string, pictures?: readonly ReturnType<typeof picture>[]])[];

const everywhere = (text: string) => [0, 1, 2, 3, 4].map((channel) => [channel, text] as const);
const times = (count: number, text: string, channel = 0): Script =>
	Array.from({ length: count }, () => [channel, text] as const);

const spam: Record<string, Script> = {
	"a text in three channels": everywhere(advert).slice(0, 3),
	"a text in five channels": everywhere(advert),
	"a text five times in a channel": times(5, advert),
	"a text with other spaces, marks and mentions": [
		[0, "Free  gift for **all** members,\u200b claim it on my profile now"],
		[1, "<@123456789012345678> FREE GIFT for all members. Claim it on my profile now!"],
		[2, "free gift for all members claim it on my profile now <:wow:123456789012345678>"],
	],
	"a link with other words": [
		[0, `look ${link}`],
		[1, `[wow](${link})`],
		[2, `<https://www.free-gifts.example/claim/?id=1>`],
	],
	"an invite without https": [
		[0, "discord.gg/free-gifts"],
		[1, "a discord.gg/free-gifts"],
		[2, "discord.gg/free-gifts ok"],
	],
	"a picture with other words": [
		[0, "a", [picture(1)]],
		[1, "b", [picture(2)]],
		[2, "c", [picture(3)]],
	],
	"four pictures in each message": [0, 1, 2].map((channel) => [
		channel,
		"",
		[0, 1, 2, 3].map((n) => picture(10 * channel + n, 1_000 + n)),
	]),
};

const innocent: Record<string, Script> = {
	"lol in five channels": everywhere("lol"),
	"lol many times": times(12, "lol"),
	"a greeting in all channels": everywhere("Happy New Year everyone, have a great 2027!"),
	"laughing and cheering": times(8, "hahahahahahahahahahahahahahahahahahahahahaha"),
	"a command of a bot, many times": times(9, "!rpg adventure hardmode 12345"),
	"a poll or a sticker in all channels": everywhere(""),
	"a picture and a link once each, three times": [0, 1, 2].map((n) => [
		n,
		`https://tenor.example/view/cat-${n}`,
		[picture(n, 2_000 + n)],
	]),
	"a GIF many times": times(9, "https://tenor.com/view/cat-dance-gif-123"),
	"a GIF in all channels": everywhere("https://media.giphy.com/media/a/b.gif"),
	"the same answer with the same link in two threads": [
		[0, `Read this first: ${link}`],
		[1, `Read this first: ${link}`],
	],
	"an announcement in two channels": everywhere(advert).slice(0, 2),
	"an announcement with a link and a picture in two channels": [
		[0, `${advert} ${link}`, [picture(1)]],
		[1, `${advert} ${link}`, [picture(2)]],
	],
	"a text four times in a channel": times(4, advert),
	"different texts in five channels": [0, 1, 2, 3, 4].map((n) => [
		n,
		`${advert} This is the offer with the number ${n}`,
	]),
	"different videos of a site": [0, 1, 2, 3, 4].map((n) => [n, `https://www.youtube.com/watch?v=${n}`]),
	"links to a message of the guild": everywhere("https://discord.com/channels/1/2/3"),
	"only emoji and mentions": everywhere(
		"<:aaaaaaaaaaaaaaaaaaaaaaaaa:123456789012345678> <@123456789012345678> 🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉",
	),
	"different pictures in five channels": [0, 1, 2, 3, 4].map((n) => [n, "", [picture(n, 1_000 + n)]]),
};

function play(world: SpamWorld, user: string, script: Script) {
	const { user: author } = world.join(user);
	for (const [channel, text, pictures] of script) world.post(author, channel, text, pictures);
	return author;
}

for (const [what, script] of Object.entries(spam))
	spamTest(`spam: ${what}`, async (world) => {
		const user = play(world, "mallory", script);
		await until("the log entry", () => world.entries().length > 0);
		expect(world.isTimedOut(user)).toBe(true);
		expect(world.messagesOf(user)).toEqual([]);
		const [row] = await world.store.sql<{ message_ids: string }>`
			SELECT message_ids FROM cases WHERE action = ${"spam"} AND state = ${"done"}`;
		expect(JSON.parse(row?.message_ids ?? "[]")).toHaveLength(script.length);
		expect(world.entries()).toHaveLength(1);
	});

spamTest("innocent members are not timed out", async (world) => {
	const authors = Object.entries(innocent).map(
		([what, script], index) => [what, play(world, `member${index}`, script), script.length] as const,
	);
	await world.heard();
	for (const [what, user, count] of authors)
		expect([what, world.isTimedOut(user), world.messagesOf(user).length]).toEqual([what, false, count]);
	expect(world.entries()).toEqual([]);
	expect(world.logged.messages()).not.toContain("dealt with spam");
});

spamTest("the same text by different people is not spam", async (world) => {
	const people = [0, 1, 2, 3, 4].map((n) => play(world, `member${n}`, [[n, advert]]));
	await world.heard();
	expect(people.filter(world.isTimedOut)).toEqual([]);
});

spamTest("messages that Discord sends at once count by when they were posted", async (world) => {
	const { messages } = world.simulator.world;
	const idAt = createSnowflakes();
	const anchor = 1_790_000_000_000;
	const postEvery = (stepMs: number, name: string) => {
		const { user } = world.join(name);
		world.channels.forEach((channel, index) => {
			const id = idAt(anchor + index * stepMs);
			messages.add(channel, user, { id, content: advert });
		});
		return user;
	};
	const slow = postEvery(8_000, "annie");
	const fast = postEvery(7_000, "mallory");
	await until("the log entry", () => world.entries().length > 0);
	await world.heard();
	expect(world.isTimedOut(fast)).toBe(true);
	expect(world.isTimedOut(slow)).toBe(false);
	expect(world.messagesOf(slow)).toHaveLength(5);
});

test("beyond a number of people at once, spam is ignored until others are dealt with", async () => {
	await using world = await startSpam({}, { options: { maxWatched: 2 } });
	const users = [0, 1, 2, 3].map((n) => play(world, `mallory${n}`, everywhere(advert).slice(0, 3)));
	await until("two entries", () => world.entries().length === 2);
	expect(world.logged.messages()).toContain("ignoring spam: too many people are being timed out");
	const rest = users.filter((user) => !world.isTimedOut(user));
	expect(rest).toHaveLength(2);
	const done = () => world.store.sql`SELECT id FROM spam_incidents WHERE state = ${"done"}`;
	await until("they are done", async () => (await done()).length === 2);
	for (const user of rest) world.post(user, 3, advert);
	await until("four entries", () => world.entries().length === 4);
	expect(users.map(world.isTimedOut)).not.toContain(false);
});

spamTest("a longer timeout of a moderator stays", async (world) => {
	const { guild, simulator } = world;
	const { user } = world.join("mallory");
	const member = present(guild.members.get(user.id));
	const until28 = "2099-01-01T00:00:00.000Z";
	simulator.world.members.edit(guild, member, { communication_disabled_until: until28 });
	await world.heard();
	for (const [channel, text] of everywhere(advert)) world.post(user, channel, text);
	await until("the log entry", () => world.entries().length > 0);
	expect(world.messagesOf(user)).toEqual([]);
	expect(guild.members.get(user.id)?.communication_disabled_until).toBe(until28);
});

spamTest("two bots that find the same spam time the person out once", async (alpha) => {
	const beside = { beside: alpha.simulator, channels: 0 };
	await using beta = await startSpam({}, beside);
	const { user } = alpha.join("mallory");
	for (const [channel, text] of everywhere(advert)) alpha.post(user, channel, text);
	for (const { logged } of [alpha, beta])
		await until("both are done", () => logged.entries("dealt with spam").length > 0);
	const timeouts = alpha.guild.auditLog.filter(({ target_id }) => target_id === user.id);
	expect(timeouts).toHaveLength(1);
	expect(alpha.messagesOf(user)).toEqual([]);
});

spamTest("a timeout that another bot has just set for the same spam is not set again", async (world) => {
	const { guild, simulator } = world;
	const { user } = world.join("mallory");
	const member = present(guild.members.get(user.id));
	// Shorter by some seconds: that bot has found an earlier message.
	const end = new Date(Date.now() + 86_400_000 - 5_000).toISOString();
	const changes = { communication_disabled_until: end };
	simulator.world.members.edit(guild, member, changes);
	await world.heard();
	for (const [channel, text] of everywhere(advert)) world.post(user, channel, text);
	await until("the log entry", () => world.entries().length > 0);
	expect(member.communication_disabled_until).toBe(end);
	expect(world.messagesOf(user)).toEqual([]);
});

test("staff, members with an exempt role, bots and the owner may repeat themselves", async () => {
	await using world = await startSpam({}, {});
	const { simulator, guild } = world;
	const roles = staffBits.map((name) =>
		simulator.world.roles.add(guild, { name, permissions: String(PermissionFlagsBits[name]) }),
	);
	const members = roles.map(({ id, name }) => world.join(name, { roles: [id] }));
	const owner = present(simulator.world.users.get(guild.owner_id));
	for (const user of [...members.map(({ user }) => user), owner])
		for (const [channel, text] of everywhere(advert)) world.post(user, channel, text);
	const bot = userNamed(simulator, "alpha");
	for (const [channel, text] of everywhere(advert)) world.post(bot, channel, text);
	await world.heard();
	expect(world.logged.messages()).not.toContain("dealt with spam");
	expect(members.map(({ user }) => world.isTimedOut(user))).toEqual([false, false]);
});

test("a configured role is exempt", async () => {
	let id = "";
	await using world = await startSpam(
		{},
		{
			prepare(simulator) {
				const guild = simulator.guild("The Cooks");
				const role = simulator.world.roles.add(guild, { name: "Announcer" });
				id = role.id;
			},
			spam: () => ({ exempt_roles: [id] }),
		},
	);
	const { user } = world.join("annie", { roles: [id] });
	for (const [channel, text] of everywhere(advert)) world.post(user, channel, text);
	await world.heard();
	expect(world.isTimedOut(user)).toBe(false);
});

const words = (count: number) => Array.from({ length: count }, (_, n) => [n % 3, `word ${n}`] as const);

/** What is found, and what is not. */
const presets: Record<string, [rule: string, Script, Script]> = {
	short_floods: ["the same short text 5 times in 1 channel", times(5, "lol"), times(4, "lol")],
	floods: ["another message 12 times within seconds, in 3 channels", words(12), words(11)],
	caps: [
		"a text in capitals 3 times in 3 channels",
		[0, 1, 2].map((n) => [n, `LISTEN TO ME RIGHT NOW ${n} ok`]),
		[0, 1, 2].map((n) => [n, n === 1 ? "LISTEN TO ME" : "Listen to ME, NASA and ESA or YOU LOSE"]),
	],
	new_account_links: [
		"a link from an account that is younger than 7 days",
		[[0, `see ${link}`]],
		[[0, "see https://discord.com/channels/1/2/3 or https://tenor.com/view/1"]],
	],
};

for (const [preset, [rule, found, fine]] of Object.entries(presets))
	test(`the preset ${preset}`, async () => {
		await using world = await startSpam({}, { sections: { automod: { presets: [preset] } } });
		const innocent = play(world, "member", fine);
		const old = createSnowflakes()(1_600_000_000_000);
		const veteran = world.simulator.world.users.add({ username: "veteran", id: old });
		world.simulator.world.members.add(world.guild, veteran);
		world.post(veteran, 0, `see ${link}`);
		await world.heard();
		expect([world.entries().length, world.isTimedOut(innocent), world.isTimedOut(veteran)]).toEqual([0, false, false]);
		await world.set({ "automod.presets": [] });
		const early = play(world, "early", found);
		await world.heard();
		expect(world.isTimedOut(early)).toBe(false);
		await world.set({ "automod.presets": [preset] });
		const user = play(world, "mallory", found);
		await until("the entry", () => world.entries().length > 0);
		expect(JSON.stringify(world.entries())).toContain(`Spam: ${rule}`);
		expect([world.isTimedOut(user), world.messagesOf(user)]).toEqual([true, []]);
	});

test("one message in a honeypot is enough", async () => {
	await using world = await startSpam({}, { spam: (channels) => ({ honeypots: [channels[4]?.id] }) });
	const { user } = world.join("mallory");
	world.post(user, 0, "hey, look at this great gift card");
	world.post(user, 4, "hey, look at this great gift card");
	world.post(user, 1, "hey, look at this great gift card");
	world.post(user, 2, "something else");
	await until("the log entry", () => world.entries().length > 0);
	expect(world.isTimedOut(user)).toBe(true);
	expect(world.messagesOf(user).map(({ content }) => content)).toEqual(["something else"]);
});

test("one link on the list is enough, on a subdomain too, and after an edit", async () => {
	await using world = await startSpam({ links: ["evil.example", "site.example/bad"] });
	const posts = [
		"https://evil.example",
		"see http://WWW.Sub.EVIL.example/x?y#z",
		"https://good.example@evil.example/",
		"https://site.example/bad/1",
		"evil.example/x",
	];
	const users = posts.map((text, n) => play(world, `mallory${n}`, [[0, text]]));
	const innocents = [
		"https://notevil.example",
		"https://site.example/good",
		"https://good.example/?q=evil.example",
	].map((text, n) => play(world, `member${n}`, [[0, text]]));
	const { user: editor } = world.join("editor");
	const message = world.post(editor, 0, "hello");
	await world.heard();
	const channel = present(world.channels[0]);
	world.simulator.world.messages.edit(channel, message, { content: "https://evil.example" });
	await until("the log entries", () => world.entries().length > posts.length);
	expect([...users, editor].map(world.isTimedOut)).not.toContain(false);
	expect(innocents.map(world.isTimedOut)).not.toContain(true);
});

spamTest("an old message that was edited to spam does not keep the others from being deleted", async (world) => {
	const { messages } = world.simulator.world;
	const { user } = world.join("mallory");
	const channel = present(world.channels[0]);
	const id = createSnowflakes()(1_700_000_000_000);
	const old = messages.add(channel, user, { id, content: "hello" });
	await world.heard();
	messages.edit(channel, old, { content: advert });
	for (const number of [0, 0, 1, 2, 0]) world.post(user, number, advert);
	await until("the log entry", () => world.entries().length > 0);
	expect(world.messagesOf(user)).toEqual([]);
	expect(JSON.stringify(world.entries())).toContain("Deleted 6 message");
});

spamTest("a dry run only logs", { dry: true }, async (world) => {
	const user = play(world, "mallory", everywhere(advert));
	await until("the log entry", () => world.entries().length > 0);
	expect(world.isTimedOut(user)).toBe(false);
	expect(world.messagesOf(user)).toHaveLength(5);
	const [entry] = world.entries();
	expect(entry?.components).toEqual([]);
	expect(JSON.stringify(entry?.embeds)).toContain("Nothing was done");
	expect(await world.store.sql`SELECT * FROM cases`).toEqual([]);
	expect(await world.store.sql`SELECT * FROM spam_incidents`).toEqual([]);
});

spamTest("copies that arrive after the detection are deleted, other messages are not", async (world) => {
	const user = play(world, "mallory", everywhere(advert).slice(0, 3));
	await until("the log entry", () => world.entries().length > 0);
	world.post(user, 3, advert);
	world.post(user, 4, "sorry, that was not me at all, what happened?");
	await until("the copy is gone", () => world.messagesOf(user).length === 1);
	await until("the entry is up to date", () =>
		JSON.stringify(world.entries()[0]?.embeds).includes("Deleted 4 message"),
	);
	expect(world.entries()).toHaveLength(1);
	const [row] = await world.store.sql<{ message_ids: string }>`
		SELECT message_ids FROM cases`;
	expect(JSON.parse(row?.message_ids ?? "[]")).toHaveLength(4);
});

test("copies from before the timeout that arrive after everything is done belong to the same case", async () => {
	await using world = await startSpam();
	const { simulator } = world;
	const copies = everywhere(advert);
	const user = play(world, "mallory", copies.slice(0, 3));
	// The rest is posted before the bot has read anything, and the event of the timeout comes after it.
	simulator.sockets.holdEvents(true);
	for (const [channel, text] of copies.slice(3)) world.post(user, channel, text);
	const done = () => world.store.sql`SELECT id FROM spam_incidents WHERE state = ${"done"}`;
	await until("it is done", async () => (await done()).length === 1);
	simulator.sockets.holdEvents(false);
	await until("no copy is left", () => world.messagesOf(user).length === 0);
	// An incident is stored before its messages are deleted.
	expect(await world.store.sql`SELECT id FROM spam_incidents`).toHaveLength(1);
});

spamTest("nothing that people wrote is stored or logged", async (world) => {
	play(world, "mallory", everywhere(`${advert} ${link}`));
	await until("the log entry", () => world.entries().length > 0);
	const rows = await world.store.sql`SELECT * FROM spam_incidents`;
	const cases = await world.store.sql`SELECT * FROM cases`;
	const all = JSON.stringify([rows, cases, world.entries(), world.logged.lines]);
	expect(all).not.toMatch(/gift/i);
});

spamTest("without the permission for timeouts, messages are deleted and the entry says why", async (world) => {
	const { simulator, guild } = world;
	const role = roleNamed(simulator, "alpha");
	const bits = BigInt(role.permissions) & ~PermissionFlagsBits.ModerateMembers;
	simulator.world.roles.edit(guild, role, { permissions: String(bits) });
	await world.heard();
	const user = play(world, "mallory", everywhere(advert));
	await until("the log entry", () => world.entries().length > 0);
	expect(world.messagesOf(user)).toEqual([]);
	expect(JSON.stringify(world.entries())).toContain("Not timed out: the bot lacks Timeout Members");
});

test("after somebody ends the timeout by hand, a single post is let through, and new spam is a new case", async () => {
	await using world = await startSpam();
	const { guild, simulator } = world;
	const user = play(world, "mallory", everywhere(advert));
	const rows = () => world.store.sql`SELECT id FROM spam_incidents WHERE state = ${"done"}`;
	await until("it is over", async () => (await rows()).length === 1);
	const member = present(guild.members.get(user.id));
	simulator.world.members.edit(guild, member, { communication_disabled_until: null });
	await world.heard();
	world.post(user, 0, "hello again, sorry for all of that, my account was taken");
	await world.heard();
	expect(world.isTimedOut(user)).toBe(false);
	expect(world.messagesOf(user)).toHaveLength(1);
	for (const [channel, text] of everywhere(advert)) world.post(user, channel, text);
	await until("a second incident", async () => (await rows()).length === 2);
	expect(world.isTimedOut(user)).toBe(true);
	expect(world.entries()).toHaveLength(2);
	expect(await world.store.sql`SELECT number FROM cases`).toHaveLength(2);
});

test("threads count as channels, and a thread of a honeypot as the honeypot", async () => {
	await using world = await startSpam({}, { spam: (channels) => ({ honeypots: [channels[4]?.id] }) });
	const { simulator } = world;
	const threadIn = (number: number, owner: User) => {
		const channel = present(world.channels[number]);
		const thread = { name: `thread ${number}` };
		return simulator.world.messages.threads.add(channel, owner, thread);
	};
	const { user: one } = world.join("mallory");
	const threads = [0, 1, 2].map((number) => threadIn(number, one));
	await world.heard();
	for (const thread of threads) simulator.world.messages.add(thread, one, { content: advert });
	const { user: other } = world.join("trudy");
	const hidden = threadIn(4, other);
	await world.heard();
	simulator.world.messages.add(hidden, other, { content: "hi" });
	await until("two entries", () => world.entries().length === 2);
	expect([one, other].map(world.isTimedOut)).toEqual([true, true]);
	const texts = [...threads, hidden].flatMap(({ id }) => simulator.world.messages.in(id).map(({ content }) => content));
	expect(texts.filter((text) => text === advert || text === "hi")).toEqual([]);
});

spamTest("a forwarded message counts with what it contains", async (world) => {
	const { user } = world.join("mallory");
	const snapshot = {
		type: 0,
		content: advert,
		mentions: [],
		mention_roles: [],
		attachments: [],
		embeds: [],
		components: [],
		flags: 0,
		timestamp: "2026-01-01T00:00:00.000Z",
		edited_timestamp: null,
	};
	for (const channel of world.channels)
		world.simulator.world.messages.add(channel, user, {
			content: "",
			message_reference: { type: 1, message_id: "1", channel_id: "2" },
			message_snapshots: [{ message: snapshot }],
		});
	await until("the log entry", () => world.entries().length > 0);
	expect(world.messagesOf(user)).toEqual([]);
});

test("a person who is timed out is told why, what to do and how to appeal, once", async () => {
	await using world = await startSpam({}, { moderation: { appeal: "Write to appeals@example.com." } });
	const { user } = world.join("hijacked");
	await world.heard();
	for (const channel of [0, 1, 2, 3]) world.post(user, channel, advert);
	await until("the entry", () => world.entries().length > 0);
	expect(world.told(user)).toHaveLength(1);
	const [first, until_, reason, where, advice, appeal] = world.told(user)[0]?.split("\n") ?? [];
	expect(first).toBe("You were timed out in **The Cooks**.");
	expect(until_).toStartWith("Until: <t:");
	expect(reason).toMatch(/^Reason: Spam: the same text \d times in \d channels$/);
	expect(where).toContain(`<#${world.channels[0]?.id}>`);
	expect(advice).toContain("change your Discord password");
	expect(appeal).toBe("Write to appeals@example.com.");
	await until("the entry says so", () => JSON.stringify(world.entries()).includes('"delivered"'));
});

test("in a German server, the entry is German, and who writes in a honeypot is told what it is", async () => {
	await using world = await startSpam(
		{},
		{
			moderation: {},
			prepare: (simulator) => {
				simulator.guild("The Cooks").preferred_locale = "de";
			},
			spam: ([channel]) => ({ honeypots: [channel?.id] }),
		},
	);
	const { user } = world.join("newcomer");
	await world.heard();
	world.post(user, 0, "hello");
	await until("the entry", () => world.entries().length > 0);
	const [entry] = world.entries();
	expect(entry?.embeds[0]).toMatchObject({
		description: expect.stringContaining("1 Nachricht gelöscht, gefunden in 1 Kanal.\n**Rückgängig** hebt"),
		fields: [
			{ name: "Betrifft", value: `<@${user.id}>` },
			{ name: "Grund", value: "Spam: eine Nachricht in einem Köderkanal" },
			{ name: "Direktnachricht", value: "zugestellt" },
			{ name: "Fall", value: "1" },
		],
	});
	expect(buttonsIn(entry?.components ?? []).map(({ label }) => label)).toEqual(["Rückgängig", "Bannen", "In Ordnung"]);
	expect(world.told(user)).toEqual([
		expect.stringContaining(`in <#${world.channels[0]?.id}> geschrieben hat.\nDort soll niemand schreiben:`),
	]);
	const cases = await world.store.sql<{ reason: string }>`SELECT reason FROM cases`;
	expect(cases.map(({ reason }) => reason)).toEqual(["Spam: a message in a honeypot channel"]);
});

test("in a wave of spam, no more than 20 people are told", async () => {
	await using world = await startSpam({}, { moderation: {} });
	const people = Array.from({ length: 25 }, (_, at) => world.join(`p${at}`).user);
	await world.heard();
	for (const user of people) for (const channel of [0, 1, 2]) world.post(user, channel, advert);
	await until("all are timed out", () => people.every(world.isTimedOut));
	await until("all entries", () => world.entries().length === people.length);
	const { requests } = world.simulator;
	expect(requests.list("POST /users/@me/channels")).toHaveLength(20);
});

spamTest("each guild decides for itself, and a change takes effect at once", { on: false }, async (world) => {
	const { guild, settings } = world;
	const { user } = world.join("hijacked");
	await world.heard();
	const spread = async () => {
		for (const channel of [0, 1, 2]) world.post(user, channel, advert);
		await world.heard();
	};
	await spread();
	expect([world.messagesOf(user).length, world.isTimedOut(user)]).toEqual([3, false]);
	const author = { userId: null, door: "test" };
	await settings.change(guild.id, { "spam.on": true, "spam.dry": true, "moderation.tell": ["warn"] }, author);
	await spread();
	await until("a dry entry", () => world.entries().length === 1);
	expect([world.messagesOf(user).length, world.isTimedOut(user)]).toEqual([6, false]);
	await settings.change(guild.id, { "spam.dry": false, "spam.timeout": "7d" }, author);
	await spread();
	await until("the entry", () => world.entries().length === 2);
	// Those from before it was on are unknown.
	expect([world.messagesOf(user).length, world.isTimedOut(user), world.told(user)]).toEqual([3, true, []]);
	const until7d = Date.parse(guild.members.get(user.id)?.communication_disabled_until ?? "");
	expect(until7d).toBeGreaterThan(Date.now() + 6 * 86_400_000);
});
