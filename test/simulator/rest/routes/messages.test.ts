// Messages over REST: what may be written, who is mentioned, reading, editing and deleting.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { as, type Simulator, startSimulator } from "../../support.ts";

function cooks(simulator: Simulator) {
	const { id } = simulator.channel("The Cooks/general");
	return {
		id,
		messages: `/channels/${id}/messages`,
		alpha: as(simulator, simulator.bot("alpha")),
		ada: as(simulator, simulator.user("ada")),
		zoe: as(simulator, simulator.user("zoe")),
	};
}

describe("writing", () => {
	test("a message is stored, answered and in the transcript", async () => {
		await using simulator = await startSimulator();
		const { ada, messages } = cooks(simulator);
		const answer = await ada("POST", messages, { content: " soup is on " });
		expect(answer.status).toBe(200);
		expect(answer.json()).toMatchObject({
			content: "soup is on",
			author: { username: "ada" },
			type: 0,
		});
		expect(simulator.channel("The Cooks/general").transcript()).toBe(
			"ada: soup is on",
		);
	});

	test("nothing to say is 50006, also when it is only blanks", async () => {
		await using simulator = await startSimulator();
		const { ada, messages } = cooks(simulator);
		expect((await ada("POST", messages, {})).code).toBe(50006);
		expect((await ada("POST", messages, { content: " \n " })).code).toBe(50006);
	});

	test("the limit of 2000 counts characters, not halves of them", async () => {
		await using simulator = await startSimulator();
		const { ada, messages } = cooks(simulator);
		const content = "🍞".repeat(2000);
		expect((await ada("POST", messages, { content })).status).toBe(200);
		const more = await ada("POST", messages, { content: `${content}!` });
		expect(more.faults).toEqual({ content: "BASE_TYPE_MAX_LENGTH" });
	});

	test("embeds together have at most 6000 characters, and there are at most ten", async () => {
		await using simulator = await startSimulator();
		const { ada, messages } = cooks(simulator);
		const embed = { description: "x".repeat(3001) };
		const long = await ada("POST", messages, { embeds: [embed, embed] });
		expect(long.faults).toEqual({ embeds: "MAX_EMBED_SIZE_EXCEEDED" });
		const many = await ada("POST", messages, {
			embeds: Array(11).fill({ title: "x" }),
		});
		expect(many.faults).toEqual({ embeds: "BASE_TYPE_MAX_LENGTH" });
	});

	test("an enforced nonce makes one message of two requests", async () => {
		await using simulator = await startSimulator();
		const { ada, messages } = cooks(simulator);
		const body = { content: "once", nonce: "7", enforce_nonce: true };
		const first = await ada("POST", messages, body);
		const second = await ada("POST", messages, body);
		expect(second.json().id).toBe(first.json().id);
		expect(simulator.journal.entries()).toHaveLength(1);
		expect(simulator.channel("The Cooks/general").transcript()).toBe(
			"ada: once",
		);
	});

	test("a reply carries what it replies to, and mentions its author unless told not to", async () => {
		await using simulator = await startSimulator();
		const { ada, zoe, messages } = cooks(simulator);
		const { id } = await simulator.user("ada").say("The Cooks/general", "hm");
		const message_reference = { message_id: id };
		const loud = await zoe("POST", messages, {
			content: "yes",
			message_reference,
		});
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
		const lost = await ada("POST", messages, {
			content: "?",
			message_reference: { message_id: "1" },
		});
		expect(lost.faults).toEqual({
			message_reference: "REPLIES_UNKNOWN_MESSAGE",
		});
	});

	test("a file is kept, described and served", async () => {
		await using simulator = await startSimulator();
		const { messages } = cooks(simulator);
		const form = new FormData();
		form.set(
			"payload_json",
			JSON.stringify({
				content: "look",
				attachments: [{ id: 0, description: "a menu" }],
			}),
		);
		form.set(
			"files[0]",
			new Blob(["soup, bread"], { type: "text/plain" }),
			"menu.txt",
		);
		const response = await fetch(`${simulator.api}/v10${messages}`, {
			method: "POST",
			headers: { authorization: simulator.user("ada").token },
			body: form,
		});
		const message = (await response.json()) as {
			attachments: { url: string; filename: string }[];
		};
		expect(message).toMatchObject({
			content: "look",
			attachments: [{ filename: "menu.txt", size: 11, description: "a menu" }],
		});
		const file = await fetch(message.attachments[0]?.url ?? "");
		expect(await file.text()).toBe("soup, bread");
	});

	test("stickers, and a poll in an edit, are not simulated, and say so", async () => {
		await using simulator = await startSimulator();
		const { ada, messages } = cooks(simulator);
		const sent = await ada("POST", messages, {
			content: "x",
			sticker_ids: ["1"],
		});
		expect(sent.status).toBe(501);
		const { id } = await simulator.user("ada").say("The Cooks/general", "x");
		const edited = await ada("PATCH", `${messages}/${id}`, { poll: {} });
		expect(edited.status).toBe(501);
	});

	test("slow mode holds up people, and not those who manage the channel", async () => {
		await using simulator = await startSimulator();
		const { alpha, zoe, messages } = cooks(simulator);
		const { channel } = simulator.channel("The Cooks/general");
		if (!("position" in channel)) throw new Error("general is in a guild");
		simulator.world.channels.edit(channel, { rate_limit_per_user: 60 });
		expect((await zoe("POST", messages, { content: "1" })).status).toBe(200);
		const second = await zoe("POST", messages, { content: "2" });
		expect(second.status).toBe(429);
		expect(second.code).toBe(20016);
		await alpha("POST", messages, { content: "1" });
		expect((await alpha("POST", messages, { content: "2" })).status).toBe(200);
	});

	test("one does not write into a category", async () => {
		await using simulator = await startSimulator();
		const { ada } = cooks(simulator);
		const { id } = simulator.channel("The Cooks/Talk");
		const answer = await ada("POST", `/channels/${id}/messages`, {
			content: "x",
		});
		expect(answer.code).toBe(50008);
	});
});

describe("mentions", () => {
	async function mention(
		body: Record<string, unknown>,
		who: "ada" | "zoe" = "ada",
	) {
		await using simulator = await startSimulator();
		const parties = cooks(simulator);
		const zoe = simulator.user("zoe").id;
		const roles = [...simulator.guild("The Cooks").roles.values()];
		const role = (name: string) => roles.find((one) => one.name === name)?.id;
		const content = `<@${zoe}> <@&${role("Regular")}> <@&${role("Staff")}> @everyone`;
		const { json } = await parties[who]("POST", parties.messages, {
			content,
			...body,
		});
		const message = json<{
			mentions: unknown[];
			mention_roles: unknown[];
			mention_everyone: boolean;
		}>();
		return {
			users: message.mentions.length,
			roles: message.mention_roles.length,
			everyone: message.mention_everyone,
		};
	}

	test("someone who may mention everyone reaches all roles and everyone", async () => {
		expect(await mention({})).toEqual({ users: 1, roles: 2, everyone: true });
	});

	test("others reach the roles that can be mentioned", async () => {
		expect(await mention({}, "zoe")).toEqual({
			users: 1,
			roles: 1,
			everyone: false,
		});
	});

	test("an empty parse reaches nobody", async () => {
		expect(await mention({ allowed_mentions: { parse: [] } })).toEqual({
			users: 0,
			roles: 0,
			everyone: false,
		});
	});

	test("parse and a list for the same kind exclude each other", async () => {
		await using simulator = await startSimulator();
		const { ada, messages } = cooks(simulator);
		const answer = await ada("POST", messages, {
			content: "x",
			allowed_mentions: { parse: ["users"], users: ["1"] },
		});
		expect(answer.faults).toEqual({
			allowed_mentions: "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
		});
	});
});

describe("reading", () => {
	test("pages are newest first, and before, after and around cut them", async () => {
		await using simulator = await startSimulator();
		const { ada, messages } = cooks(simulator);
		const ids: string[] = [];
		for (let number = 0; number < 5; number += 1)
			ids.push(
				(await simulator.user("ada").say("The Cooks/general", `${number}`)).id,
			);
		const page = async (query: string) =>
			(await ada("GET", `${messages}?${query}`))
				.json<{ content: string }[]>()
				.map(({ content }) => content)
				.join("");
		expect(await page("limit=3")).toBe("432");
		expect(await page(`limit=2&before=${ids[3]}`)).toBe("21");
		expect(await page(`limit=2&after=${ids[1]}`)).toBe("32");
		expect(await page(`limit=3&around=${ids[2]}`)).toBe("321");
		expect((await ada("GET", `${messages}?limit=101`)).faults).toEqual({
			limit: "NUMBER_TYPE_MAX",
		});
		const one = await ada("GET", `${messages}/${ids[2]}`);
		expect(one.json().content).toBe("2");
	});

	test("without the history a channel looks empty", async () => {
		await using simulator = await startSimulator();
		const { zoe, messages, id } = cooks(simulator);
		const said = await simulator.user("ada").say("The Cooks/general", "secret");
		const { channel } = simulator.channel(id);
		const guild = simulator.guild("The Cooks");
		if (!("position" in channel)) throw new Error("general is in a guild");
		simulator.world.channels.setOverwrite(channel, {
			id: guild.id,
			type: 0,
			allow: "0",
			deny: String(PermissionFlagsBits.ReadMessageHistory),
		});
		expect((await zoe("GET", messages)).json<unknown[]>()).toEqual([]);
		expect((await zoe("GET", `${messages}/${said.id}`)).code).toBe(50013);
	});

	test("a bot without the content intent sees its own words, and those that mention it", async () => {
		const simulator = await startSimulator({
			seed: {
				bots: [{ username: "blind", privilegedIntents: [] }],
				users: [{ username: "ada" }],
				guilds: [
					{
						name: "G",
						owner: "ada",
						bots: [{ username: "blind", permissions: 0n }],
						channels: [{ name: "general" }],
					},
				],
			},
		});
		await using _ = simulator;
		const blind = simulator.bot("blind");
		await simulator.user("ada").say("general", "hidden");
		await simulator.user("ada").say("general", `<@${blind.id}> seen`);
		await blind.say("general", "mine");
		const { id } = simulator.channel("general");
		const answer = await as(simulator, blind)(
			"GET",
			`/channels/${id}/messages`,
		);
		expect(
			answer.json<{ content: string }[]>().map(({ content }) => content),
		).toEqual(["mine", `<@${blind.id}> seen`, ""]);
		const guild = simulator.guild("G");
		const members = await as(simulator, blind)(
			"GET",
			`/guilds/${guild.id}/members`,
		);
		expect(members.code).toBe(50001);
	});
});

describe("editing and deleting", () => {
	test("one edits one's own messages only", async () => {
		await using simulator = await startSimulator();
		const { ada, alpha, messages } = cooks(simulator);
		const { id } = await simulator.user("ada").say("The Cooks/general", "sup");
		const edited = await ada("PATCH", `${messages}/${id}`, { content: "soup" });
		expect(edited.json().edited_timestamp).toBeString();
		const other = await alpha("PATCH", `${messages}/${id}`, { content: "x" });
		expect(other.code).toBe(50005);
		expect(simulator.channel("The Cooks/general").transcript()).toBe(
			"ada: soup",
		);
		expect(
			(await ada("PATCH", `${messages}/${id}`, { content: "" })).code,
		).toBe(50006);
	});

	test("others' messages are deleted by those who manage messages", async () => {
		await using simulator = await startSimulator();
		const { alpha, zoe, messages } = cooks(simulator);
		const { id } = await simulator.user("ada").say("The Cooks/general", "1");
		expect((await zoe("DELETE", `${messages}/${id}`)).code).toBe(50013);
		expect((await alpha("DELETE", `${messages}/${id}`)).status).toBe(204);
		expect((await alpha("DELETE", `${messages}/${id}`)).code).toBe(10008);
	});

	test("many are deleted at once, if there are two to a hundred and none is old", async () => {
		await using simulator = await startSimulator();
		const { alpha, zoe, messages, id: channel } = cooks(simulator);
		const ids: string[] = [];
		for (const text of ["1", "2", "3"])
			ids.push((await simulator.user("ada").say("The Cooks/general", text)).id);
		const old = simulator.world.state.newId(Date.now() - 15 * 24 * 3600 * 1000);
		const author = simulator.world.users.get(simulator.user("ada").id);
		if (!author) throw new Error("ada is a user");
		simulator.world.messages.add(simulator.channel(channel).channel, author, {
			id: old,
			content: "long ago",
		});
		const remove = (who: typeof alpha, messageIds: unknown) =>
			who("POST", `${messages}/bulk-delete`, { messages: messageIds });
		expect((await remove(alpha, ids.slice(0, 1))).faults).toEqual({
			messages: "BASE_TYPE_BAD_LENGTH",
		});
		expect((await remove(alpha, [ids[0], ids[0]])).faults).toEqual({
			messages: "LIST_ITEM_VALUE_DUPLICATE",
		});
		expect((await remove(alpha, [ids[0], old])).code).toBe(50034);
		expect((await remove(zoe, ids)).code).toBe(20002);
		const transcript = simulator.channel(channel).transcript();
		expect(transcript).toBe("ada: long ago\nada: 1\nada: 2\nada: 3");
		const known = simulator.world.state.newId();
		expect((await remove(alpha, [ids[0], ids[1], known])).status).toBe(204);
		expect(simulator.channel(channel).transcript()).toBe(
			"ada: long ago\nada: 3",
		);
	});
});

describe("direct messages", () => {
	test("a bot writes to whom it shares a guild with, and to nobody else", async () => {
		await using simulator = await startSimulator();
		const { alpha } = cooks(simulator);
		const open = async (username: string) =>
			(
				await alpha("POST", "/users/@me/channels", {
					recipient_id: simulator.user(username).id,
				})
			).json<{ id: string }>().id;
		const ada = await open("ada");
		expect(await open("ada")).toBe(ada);
		const write = async (channel: string) =>
			(
				await alpha("POST", `/channels/${channel}/messages`, {
					content: "psst",
				})
			).code;
		expect(await write(ada)).toBeUndefined();
		expect(await write(await open("bob_the_baker"))).toBe(50007);
		simulator.world.users.closedDms.add(simulator.user("ada").id);
		expect(await write(ada)).toBe(50007);
		const zoe = as(simulator, simulator.user("zoe"));
		expect((await zoe("GET", `/channels/${ada}/messages`)).code).toBe(50001);
	});
});
