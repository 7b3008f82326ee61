// Messages over REST: sending, mentions, reading, editing and deleting.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { testWith } from "../../support.ts";

const test = testWith(({ channel, as }) => ({
	messages: `/channels/${channel.id}/messages`,
	asAda: as("ada"),
	zoe: as("zoe"),
}));

test("a message is stored, returned and in the transcript", async ({ asAda, messages, simulator }) => {
	const answer = await asAda("POST", messages, { content: " soup is on " });
	expect(answer.status).toBe(200);
	expect(answer.json()).toMatchObject({ content: "soup is on", author: { username: "ada" }, type: 0 });
	expect(simulator.channel("The Cooks/general").transcript()).toBe("ada: soup is on");
});

test("an empty or blank message gets 50006", async ({ asAda, messages }) => {
	expect((await asAda("POST", messages, {})).code).toBe(50006);
	expect((await asAda("POST", messages, { content: " \n " })).code).toBe(50006);
});

test("the limit of 2000 counts code points", async ({ asAda, messages }) => {
	const content = "🍞".repeat(2000);
	expect((await asAda("POST", messages, { content })).status).toBe(200);
	const more = await asAda("POST", messages, { content: `${content}!` });
	expect(more.faults).toEqual({ content: "BASE_TYPE_MAX_LENGTH" });
});

test("embeds have at most 6000 characters together, and are at most ten", async ({ asAda, messages }) => {
	const embed = { description: "x".repeat(3001) };
	const long = await asAda("POST", messages, { embeds: [embed, embed] });
	expect(long.faults).toEqual({ embeds: "MAX_EMBED_SIZE_EXCEEDED" });
	const many = await asAda("POST", messages, { embeds: Array(11).fill({ title: "x" }) });
	expect(many.faults).toEqual({ embeds: "BASE_TYPE_MAX_LENGTH" });
});

test("the parts of an embed may be empty, and its texts are trimmed", async ({ asAda, messages }) => {
	const send = (...embeds: object[]) => asAda("POST", messages, { embeds });
	const padded = (length: number) => ` \n${"x".repeat(length)} `;
	const field = { name: "", value: padded(1024), inline: false };
	const sent = await send({ title: padded(256), footer: {}, image: {}, thumbnail: {}, author: {}, fields: [field] });
	expect(sent.json().embeds).toEqual([
		{ type: "rich", title: "x".repeat(256), fields: [{ ...field, value: "x".repeat(1024) }] },
	]);
	expect((await send({ title: padded(257) })).faults).toEqual({ "embeds.0.title": "BASE_TYPE_MAX_LENGTH" });
	expect((await send({ title: "x" }, {})).faults).toEqual({ "embeds.1": "LIST_ITEM_VALUE_REQUIRED" });
});

test("two requests with an enforced nonce create one message", async ({ asAda, messages, simulator }) => {
	const body = { content: "once", nonce: "7", enforce_nonce: true };
	const first = await asAda("POST", messages, body);
	const second = await asAda("POST", messages, body);
	expect(second.json().id).toBe(first.json().id);
	expect(simulator.journal.entries()).toHaveLength(1);
	expect(simulator.channel("The Cooks/general").transcript()).toBe("ada: once");
});

test("a nonce is that of its author and channel, and outlives its message", async (given) => {
	const { asAda, zoe, messages, simulator } = given;
	const body = { content: "once", nonce: "7", enforce_nonce: true };
	const elsewhere = `/channels/${simulator.channel("The Cooks/staff").id}/messages`;
	const { id } = (await asAda("POST", messages, body)).json();
	const byZoe = await zoe("POST", messages, body);
	const inStaff = await asAda("POST", elsewhere, body);
	expect(new Set([id, byZoe.json().id, inStaff.json().id]).size).toBe(3);
	await asAda("DELETE", `${messages}/${id}`);
	expect((await asAda("POST", messages, body)).code).toBe(10008);
	simulator.world.messages.nonces.clear();
	expect((await asAda("POST", messages, body)).status).toBe(200);
});

test("a reply has the referenced message, and mentions its author by default", async (given) => {
	const { asAda, zoe, messages, simulator } = given;
	const { id } = await simulator.user("ada").say("The Cooks/general", "hm");
	const message_reference = { message_id: id };
	const loud = await zoe("POST", messages, { content: "yes", message_reference });
	expect(loud.json()).toMatchObject({
		type: 19,
		mentions: [{ username: "ada" }],
		referenced_message: { content: "hm" },
	});
	const quiet = await zoe("POST", messages, {
		content: "no",
		message_reference,
		allowed_mentions: { parse: [], replied_user: false },
	});
	expect(quiet.json().mentions).toEqual([]);
	const lost = await asAda("POST", messages, { content: "?", message_reference: { message_id: "1" } });
	expect(lost.faults).toEqual({ message_reference: "REPLIES_UNKNOWN_MESSAGE" });
});

test("a file is stored, described and served", async ({ messages, simulator }) => {
	const form = new FormData();
	form.set("payload_json", JSON.stringify({ content: "look", attachments: [{ id: "0", description: "a menu" }] }));
	form.set("files[0]", new Blob(["soup, bread"], { type: "text/plain" }), "menu.txt");
	const response = await fetch(`${simulator.api}/v10${messages}`, {
		method: "POST",
		headers: { authorization: simulator.user("ada").token },
		body: form,
	});
	const message = (await response.json()) as { attachments: { url: string; filename: string }[] };
	expect(message).toMatchObject({
		content: "look",
		attachments: [{ filename: "menu.txt", size: 11, description: "a menu" }],
	});
	const file = await fetch(message.attachments[0]?.url ?? "");
	expect(await file.text()).toBe("soup, bread");
	expect(file.headers.get("content-type")).toStartWith("text/plain");
	// An uploaded page must not act as the simulator's own.
	expect(file.headers.get("content-security-policy")).toStartWith("sandbox;");
});

test("stickers and polls in edits get 501", async ({ asAda, messages, simulator }) => {
	const sent = await asAda("POST", messages, { content: "x", sticker_ids: ["1"] });
	expect(sent.status).toBe(501);
	const { id } = await simulator.user("ada").say("The Cooks/general", "x");
	const edited = await asAda("PATCH", `${messages}/${id}`, { poll: {} });
	expect(edited.status).toBe(501);
});

test("slow mode applies to people without BYPASS_SLOWMODE, and not to bots", async (given) => {
	const { alpha, zoe, messages, channel, world, user, deny } = given;
	const { BypassSlowmode, ManageChannels, ManageMessages, ManageThreads } = PermissionFlagsBits;
	world.channels.edit(channel, { rate_limit_per_user: 60 });
	const send = async (who: typeof zoe) => (await who("POST", messages, { content: "x" })).code;
	const allowZoe = (bits: bigint) =>
		world.channels.setOverwrite(channel, { id: user("zoe").id, type: 1, allow: String(bits), deny: "0" });
	expect(await send(zoe)).toBeUndefined();
	expect(await send(zoe)).toBe(20016);
	allowZoe(ManageChannels | ManageMessages | ManageThreads);
	expect(await send(zoe)).toBe(20016);
	allowZoe(BypassSlowmode);
	expect(await send(zoe)).toBeUndefined();
	deny(channel, BypassSlowmode | ManageChannels | ManageMessages);
	expect(await send(alpha)).toBeUndefined();
	expect(await send(alpha)).toBeUndefined();
});

test("sending in a category is refused", async ({ asAda, simulator }) => {
	const { id } = simulator.channel("The Cooks/Talk");
	const answer = await asAda("POST", `/channels/${id}/messages`, { content: "x" });
	expect(answer.code).toBe(50008);
});

test("permissions and allowed_mentions decide who is mentioned", async ({ messages, asAda, zoe, role, user }) => {
	const [regular, staff] = [role("Regular").id, role("Staff").id];
	const content = `<@${user("zoe").id}> <@&${regular}> <@&${staff}> @everyone`;
	const mention = async (who: typeof zoe, more = {}) => {
		const answer = await who("POST", messages, { content, ...more });
		const { mentions, mention_roles, mention_everyone } = answer.json<{
			mentions: unknown[];
			mention_roles: string[];
			mention_everyone: boolean;
		}>();
		return [mentions.length, mention_roles, mention_everyone];
	};
	expect(await mention(asAda)).toEqual([1, [regular, staff], true]);
	// Only Regular can be mentioned by all.
	expect(await mention(zoe)).toEqual([1, [regular], false]);
	const nobody = { allowed_mentions: { parse: [] } };
	expect(await mention(asAda, nobody)).toEqual([0, [], false]);
});

test("allowed_mentions with parse and ids of the same type is refused", async ({ asAda, messages }) => {
	const answer = await asAda("POST", messages, { content: "x", allowed_mentions: { parse: ["users"], users: ["1"] } });
	expect(answer.faults).toEqual({ allowed_mentions: "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE" });
});

test("pages of messages are newest first, with before, after and around", async ({ asAda, messages, simulator }) => {
	const ids: string[] = [];
	for (let number = 0; number < 5; number += 1)
		ids.push((await simulator.user("ada").say("The Cooks/general", `${number}`)).id);
	const page = async (query: string) =>
		(await asAda("GET", `${messages}?${query}`))
			.json<{ content: string }[]>()
			.map(({ content }) => content)
			.join("");
	expect(await page("limit=3")).toBe("432");
	expect(await page(`limit=2&before=${ids[3]}`)).toBe("21");
	expect(await page(`limit=2&after=${ids[1]}`)).toBe("32");
	expect(await page(`limit=3&around=${ids[2]}`)).toBe("321");
	expect((await asAda("GET", `${messages}?limit=101`)).faults).toEqual({ limit: "NUMBER_TYPE_MAX" });
	const one = await asAda("GET", `${messages}/${ids[2]}`);
	expect(one.json().content).toBe("2");
});

test("without READ_MESSAGE_HISTORY a channel is empty", async ({ zoe, messages, channel, guild, deny, simulator }) => {
	const said = await simulator.user("ada").say("The Cooks/general", "secret");
	deny(channel, PermissionFlagsBits.ReadMessageHistory, guild.id);
	expect((await zoe("GET", messages)).json<unknown[]>()).toEqual([]);
	expect((await zoe("GET", `${messages}/${said.id}`)).code).toBe(50013);
});

test("a bot without message content sees its own messages and mentions of it", async (given) => {
	const { world, guild, messages, as, simulator } = given;
	const bot = { username: "blind", privilegedIntents: [] };
	const { user } = world.users.addBot(bot);
	world.members.add(guild, user, { botPermissions: 0n });
	const general = "The Cooks/general";
	await simulator.user("ada").say(general, "hidden");
	await simulator.user("ada").say(general, `<@${user.id}> seen`);
	await simulator.bot("blind").say(general, "mine");
	const blind = as("blind");
	const list = (await blind("GET", messages)).json<{ content: string }[]>();
	const contents = list.map(({ content }) => content);
	expect(contents).toEqual(["mine", `<@${user.id}> seen`, ""]);
	const members = await blind("GET", `/guilds/${guild.id}/members`);
	expect(members.code).toBe(50001);
});

test("only own messages can be edited", async ({ asAda, alpha, messages, simulator }) => {
	const { id } = await simulator.user("ada").say("The Cooks/general", "sup");
	const edited = await asAda("PATCH", `${messages}/${id}`, { content: "soup" });
	expect(edited.json().edited_timestamp).toBeString();
	const other = await alpha("PATCH", `${messages}/${id}`, { content: "x" });
	expect(other.code).toBe(50005);
	expect(simulator.channel("The Cooks/general").transcript()).toBe("ada: soup");
	expect((await asAda("PATCH", `${messages}/${id}`, { content: "" })).code).toBe(50006);
});

test("deleting others' messages needs MANAGE_MESSAGES", async ({ alpha, zoe, messages, simulator }) => {
	const { id } = await simulator.user("ada").say("The Cooks/general", "1");
	expect((await zoe("DELETE", `${messages}/${id}`)).code).toBe(50013);
	expect((await alpha("DELETE", `${messages}/${id}`)).status).toBe(204);
	expect((await alpha("DELETE", `${messages}/${id}`)).code).toBe(10008);
});

test("2 to 100 messages are deleted at once, if none is older than 14 days", async (given) => {
	const { world, ada, alpha, zoe, messages, channel, simulator } = given;
	const ids = ["1", "2", "3"].map((content) => world.messages.add(channel, ada, { content }).id);
	const old = world.state.newId(Date.now() - 15 * 24 * 3600 * 1000);
	world.messages.add(channel, ada, { id: old, content: "long ago" });
	const remove = (who: typeof alpha, messageIds: unknown) =>
		who("POST", `${messages}/bulk-delete`, { messages: messageIds });
	expect((await remove(alpha, ids.slice(0, 1))).faults).toEqual({ messages: "BASE_TYPE_BAD_LENGTH" });
	expect((await remove(alpha, [ids[0], ids[0]])).faults).toEqual({ messages: "LIST_ITEM_VALUE_DUPLICATE" });
	expect((await remove(alpha, [ids[0], old])).code).toBe(50034);
	expect((await remove(zoe, ids)).code).toBe(20002);
	const { transcript } = simulator.channel(channel.id);
	expect(transcript()).toBe("ada: long ago\nada: 1\nada: 2\nada: 3");
	const known = world.state.newId();
	expect((await remove(alpha, [ids[0], ids[1], known])).status).toBe(204);
	expect(transcript()).toBe("ada: long ago\nada: 3");
});

test("what nobody can delete is refused, and a bulk delete with it deletes nothing", async (given) => {
	const { world, ada, alpha, messages, channel } = given;
	const usual = world.messages.add(channel, ada, { content: "1" });
	for (const type of [1, 2, 3, 4, 5, 21]) {
		const { id } = world.messages.add(channel, ada, { content: "", type });
		const single = await alpha("DELETE", `${messages}/${id}`);
		expect([single.status, single.code]).toEqual([403, 50021]);
		const bulk = { messages: [usual.id, id] };
		const both = await alpha("POST", `${messages}/bulk-delete`, bulk);
		expect([both.status, both.code]).toEqual([403, 50021]);
	}
	expect(world.messages.in(channel.id)).toHaveLength(7);
});

test("deleting one's own AutoMod alert needs MANAGE_MESSAGES", async (given) => {
	const { world, user, zoe, alpha, messages, channel } = given;
	const alert = { content: "", type: 24 };
	const { id } = world.messages.add(channel, user("zoe"), alert);
	expect((await zoe("DELETE", `${messages}/${id}`)).code).toBe(50013);
	expect((await alpha("DELETE", `${messages}/${id}`)).status).toBe(204);
});

test("a bot can send DMs only to users in a shared guild", async ({ alpha, zoe, simulator }) => {
	const open = async (username: string) =>
		(await alpha("POST", "/users/@me/channels", { recipient_id: simulator.user(username).id })).json<{ id: string }>()
			.id;
	const ada = await open("ada");
	expect(await open("ada")).toBe(ada);
	const write = async (channel: string) =>
		(await alpha("POST", `/channels/${channel}/messages`, { content: "psst" })).code;
	expect(await write(ada)).toBeUndefined();
	expect(await write(await open("bob_the_baker"))).toBe(50278);
	simulator.world.users.closedDms.add(simulator.user("ada").id);
	expect(await write(ada)).toBe(50007);
	expect((await zoe("GET", `/channels/${ada}/messages`)).code).toBe(50001);
});
