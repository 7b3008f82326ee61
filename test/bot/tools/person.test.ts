// Ways around Discord's rules that a person could try through the bot, which is an administrator and may do everything.
// What each tool demands in general is tried in person-table.test.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ChannelType, GuildScheduledEventEntityType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import type { McpCaller } from "../../support/mcp.ts";
import { until } from "../../support/until.ts";
import { addRule, writes } from "../../support/world.ts";
import { type Cast, clientOf, permit, startCast } from "../person-cast.ts";
import { hide } from "../tool-rows/person.ts";
import type { Permission } from "../tool-rows/scene.ts";
import {
	type Args,
	adaIn,
	botUser,
	freshName,
	newChannel,
	newMember,
	newRole,
	newTalk,
	written,
	writtenByBot,
} from "../tool-rows/scene.ts";
import { settle } from "../tool-scene.ts";

let cast: Cast & AsyncDisposable;
beforeAll(async () => {
	cast = await startCast();
});
afterAll(() => cast[Symbol.asyncDispose]());

/** Calls a tool in the name of the person, who has these permissions in the guild. */
async function call(tool: string, args: Args, permissions: readonly Permission[]) {
	permit(cast, permissions);
	await settle(cast);
	return cast.client.call(tool, args);
}

/** Calls a tool that must change nothing. Returns the error. */
async function refused(tool: string, args: Args, permissions: readonly Permission[]): Promise<string> {
	const { text, isError } = await call(tool, args, permissions);
	expect({ text, isError }).toMatchObject({ isError: true });
	expect(writes(cast.world)).toEqual([]);
	return text;
}

async function runs(tool: string, args: Args, permissions: readonly Permission[]): Promise<string> {
	const { text, isError } = await call(tool, args, permissions);
	expect({ text, isError }).toMatchObject({ isError: false });
	return text;
}

const person = () => cast.person.user;
const platform = () => cast.world.simulator.world;

function hidden(type?: ChannelType.GuildVoice): GuildChannel {
	const channel = newChannel(cast, type);
	hide(cast, channel, person().id);
	return channel;
}

function deny(channel: GuildChannel, permission: Permission): void {
	const bits = String(PermissionFlagsBits[permission]);
	const overwrite = { id: person().id, type: 1, allow: "0", deny: bits } as const;
	platform().channels.setOverwrite(channel, overwrite);
}

/** The id of a message that a client has sent. */
async function sentBy(client: McpCaller, channel_id: string, tool = "send_message"): Promise<string> {
	const { text } = await client.call(tool, {
		channel_id,
		content: "hello",
		...(tool === "send_file" && { filename: "a.txt", text: "soup" }),
	});
	return /ID: (\d+)\)/.exec(text)?.[1] ?? text;
}

describe("what the bot made is not the person's", () => {
	test("a message of the bot stays if the person cannot read or manage messages", async () => {
		const channel = newChannel(cast);
		const { id } = writtenByBot(cast, channel);
		const args = { channel_id: channel.id, message_ids: [id] };
		const lacks = "You lack MANAGE_MESSAGES in ";
		expect(await refused("delete_messages", args, [])).toContain(lacks);
		const reads = ["ReadMessageHistory"] as const;
		expect(await refused("delete_messages", args, reads)).toContain(lacks);
	});

	test("a message of somebody stays if the person cannot read it and not manage messages", async () => {
		const channel = newChannel(cast);
		const { id } = written(cast, channel);
		const args = { channel_id: channel.id, message_ids: [id] };
		expect(await refused("delete_messages", args, [])).toContain("You lack MANAGE_MESSAGES in ");
	});

	test("people may delete what they wrote", async () => {
		const channel = newChannel(cast);
		const { messages } = platform();
		const { id } = messages.add(channel, person(), { content: "mine" });
		await runs("delete_messages", { channel_id: channel.id, message_ids: [id] }, ["ReadMessageHistory"]);
		expect(messages.in(channel.id)).toEqual([]);
	});

	test("an announcement of the bot is not published by those who cannot manage messages", async () => {
		const channel = newChannel(cast, ChannelType.GuildAnnouncement);
		const { id } = writtenByBot(cast, channel);
		const args = { channel_id: channel.id, message_id: id };
		const has = ["SendMessages", "ReadMessageHistory"] as const;
		expect(await refused("crosspost_message", args, has)).toContain("You lack MANAGE_MESSAGES in ");
	});

	test("a reaction of the bot stays", async () => {
		const channel = newChannel(cast);
		const message = written(cast, channel);
		const emoji = { id: null, name: "👍" };
		platform().reactions.add(channel, message, botUser(cast.world), emoji);
		const place = { channel_id: channel.id, message_id: message.id };
		expect(await refused("remove_reaction", { ...place, emoji: "👍" }, ["ReadMessageHistory"])).toContain(
			"You lack MANAGE_MESSAGES in ",
		);
	});

	test("a thread of the bot is not edited by those who cannot manage threads", async () => {
		const { threads } = platform();
		const bot = botUser(cast.world);
		const thread = threads.add(newChannel(cast), bot, { name: freshName() });
		const args = { thread_id: thread.id, name: "changed" };
		expect(await refused("edit_thread", args, ["SendMessagesInThreads"])).toContain("You lack MANAGE_THREADS in ");
	});

	test("people may edit threads that they started", async () => {
		const { threads } = platform();
		const thread = threads.add(newChannel(cast), person(), { name: freshName() });
		await runs("edit_thread", { thread_id: thread.id, name: "changed" }, ["SendMessagesInThreads"]);
		expect(thread.name).toBe("changed");
	});

	test("members of a private thread of the bot are not removed by other members", async () => {
		const { threads } = platform();
		const bot = botUser(cast.world);
		const type = ChannelType.PrivateThread;
		const given = { name: freshName(), type } as const;
		const thread = threads.add(newChannel(cast), bot, given);
		const { user } = newMember(cast, cast.guild);
		threads.join(thread, user);
		threads.join(thread, person());
		const args = { thread_id: thread.id, remove_user_ids: [user.id] };
		expect(await refused("edit_thread_members", args, ["SendMessagesInThreads"])).toContain(
			"You lack MANAGE_THREADS in ",
		);
	});

	test("an emoji and an event of the bot need the permission for those of others", async () => {
		const bot = botUser(cast.world);
		const name = freshName().replace("-", "_");
		const emoji = platform().emojis.add(cast.guild, bot, { name });
		const emojiArgs = { emoji_id: emoji.id };
		expect(await refused("delete_emoji", emojiArgs, ["CreateGuildExpressions"])).toContain(
			"You lack MANAGE_GUILD_EXPRESSIONS in ",
		);
		const event = platform().scheduledEvents.add(cast.guild, bot.id, {
			name: freshName(),
			entity_type: GuildScheduledEventEntityType.External,
			entity_metadata: { location: "Outside" },
			scheduled_start_time: "2099-01-31T12:00:00.000Z",
			scheduled_end_time: "2099-01-31T13:00:00.000Z",
		});
		const eventArgs = { event_id: event.id };
		expect(await refused("delete_scheduled_event", eventArgs, ["CreateEvents"])).toContain(
			"You lack MANAGE_EVENTS in ",
		);
		expect(await refused("edit_scheduled_event", { ...eventArgs, name: "changed" }, ["CreateEvents"])).toContain(
			"You lack MANAGE_EVENTS in ",
		);
	});

	test("an emoji is not edited without any permission, although the bot may", async () => {
		const name = freshName().replace("-", "_");
		const emoji = platform().emojis.add(cast.guild, adaIn(cast.world), { name });
		const args = { emoji_id: emoji.id, name: "changed" };
		expect(await refused("edit_emoji", args, [])).toContain("You lack MANAGE_GUILD_EXPRESSIONS in ");
	});

	test("the bot is renamed only by those who manage the guild", async () => {
		const args = { user_ids: botUser(cast.world).id, nickname: "Mine" };
		expect(await refused("set_nickname", args, ["ManageNicknames", "ChangeNickname"])).toContain(
			"You lack MANAGE_GUILD in ",
		);
	});
});

describe("rank", () => {
	test("a role is not moved above the person's own", async () => {
		const { id } = newRole(cast, cast.guild);
		const above = { role_ids: [id], above_role_id: cast.role.id };
		const manages = ["ManageRoles"] as const;
		expect(await refused("move_roles", above, manages)).toContain("would no longer rank below your highest role");
		const below_role_id = cast.higher.id;
		const edit = { role_id: id, below_role_id, name: "changed" };
		expect(await refused("edit_role", edit, manages)).toContain("would no longer rank below your highest role");
	});

	test("a role is not created above the person's own", async () => {
		const args = { name: freshName(), below_role_id: cast.higher.id };
		expect(await refused("create_role", args, ["ManageRoles"])).toContain(
			"You can place roles only below your own highest role",
		);
		const own = { name: freshName(), below_role_id: cast.role.id };
		await runs("create_role", own, ["ManageRoles"]);
	});

	test("a role gets no permission that the person lacks", async () => {
		const args = { name: freshName(), permissions: ["BAN_MEMBERS"] };
		expect(await refused("create_role", args, ["ManageRoles"])).toContain("you lack BAN_MEMBERS");
	});

	test("a new member gets no role above the person's by an invite", async () => {
		const { id } = newChannel(cast);
		const args = { channel_id: id, role_ids: [cast.higher.id] };
		const has = ["CreateInstantInvite", "ManageRoles"] as const;
		expect(await refused("create_invite", args, has)).toContain("does not rank below your highest role");
	});

	test("a new member gets no permission that the person lacks by an invite", async () => {
		const permissions = String(PermissionFlagsBits.BanMembers);
		const role = newRole(cast, cast.guild);
		platform().roles.edit(cast.guild, role, { permissions });
		const args = { channel_id: newChannel(cast).id, role_ids: [role.id] };
		const has = ["CreateInstantInvite", "ManageRoles"] as const;
		expect(await refused("create_invite", args, has)).toContain("You lack BAN_MEMBERS in ");
	});

	test("pruning does not reach those with a role above the person's own", async () => {
		const { id } = newRole(cast, cast.guild);
		const has = ["ManageGuild", "KickMembers"] as const;
		const prune = (...include_role_ids: string[]) => ({ include_role_ids, dry_run: true });
		await runs("prune_members", prune(id), has);
		const above = prune(id, cast.higher.id);
		expect(await refused("prune_members", above, has)).toContain("does not rank below your highest role");
	});

	test("a timeout by AutoMod is changed only by those who time members out", async () => {
		const { simulator } = cast.world;
		const rule = addRule(
			{ simulator, guild: cast.guild },
			{ actions: [{ type: 3, metadata: { duration_seconds: 60 } }] },
		);
		const longer = { rule_id: rule.id, duration: "1d" };
		expect(await refused("set_automod_rule", longer, ["ManageGuild"])).toContain("You lack MODERATE_MEMBERS in ");
		const renamed = { rule_id: rule.id, name: freshName() };
		await runs("set_automod_rule", renamed, ["ManageGuild"]);
		await runs("set_automod_rule", longer, ["ManageGuild", "ModerateMembers"]);
	});

	test("nobody but the owner acts on the owner", async () => {
		const owner = cast.guild.owner_id;
		const args = { user_ids: [owner] };
		expect(await refused("kick", args, ["KickMembers"])).toContain("owns the guild: you cannot act on the owner");
	});
});

describe("channels", () => {
	test("a channel is not moved into a category in which the person manages no channels", async () => {
		const category = newChannel(cast, ChannelType.GuildCategory);
		deny(category, "ManageChannels");
		const { id } = newChannel(cast);
		const has = ["ManageChannels"] as const;
		const lacks = `You lack MANAGE_CHANNELS in #${category.name}`;
		const edit = { channel_id: id, category_id: category.id };
		expect(await refused("edit_channel", edit, has)).toContain(lacks);
		const move = { channel_ids: [id], category_id: category.id };
		expect(await refused("move_channels", move, has)).toContain(lacks);
		const create = { name: freshName(), category_id: category.id };
		expect(await refused("create_channel", create, has)).toContain(lacks);
	});

	test("a new channel's access allows nothing that the person lacks", async () => {
		const permission_overwrites = [{ id: person().id, allow: ["MANAGE_MESSAGES"] }];
		const args = { name: freshName(), permission_overwrites };
		expect(await refused("create_channel", args, ["ManageChannels"])).toContain("you lack MANAGE_MESSAGES");
	});

	test("only administrators allow MANAGE_ROLES in a channel, even where an overwrite allows it to them", async () => {
		const channel = newChannel(cast);
		const allow = String(PermissionFlagsBits.ManageRoles);
		const overwrite = { id: person().id, type: 1, allow, deny: "0" } as const;
		platform().channels.setOverwrite(channel, overwrite);
		const set = (name: string) => ({
			channel_ids: [channel.id],
			target_ids: [newRole(cast, cast.guild).id],
			allow: [name],
		});
		const tool = "set_channel_permissions";
		expect(await refused(tool, set("MANAGE_ROLES"), [])).toContain(
			"Only an administrator can allow or deny MANAGE_ROLES",
		);
		await runs(tool, set("SEND_MESSAGES"), []);
	});

	test("a channel is not cloned by those who do not manage it", async () => {
		const channel = newChannel(cast);
		deny(channel, "ManageChannels");
		expect(await refused("clone_channel", { channel_id: channel.id }, ["ManageChannels"])).toContain(
			`You lack MANAGE_CHANNELS in #${channel.name}`,
		);
	});

	test("the overwrites of hidden channels are not counted or named", async () => {
		const channel = hidden();
		const role = newRole(cast, cast.guild);
		const overwrite = { id: role.id, type: 0, deny: "0" } as const;
		platform().channels.setOverwrite(channel, { ...overwrite, allow: String(PermissionFlagsBits.PrioritySpeaker) });
		const manages = ["ManageRoles"] as const;
		const deleting = { role_id: role.id, dry_run: true };
		expect(await runs("delete_role", deleting, manages)).toContain("for which 0 channel(s) have overwrites");
		expect(await runs("check_permissions", { permissions: ["PRIORITY_SPEAKER"] }, manages)).not.toContain(channel.name);
	});

	test("slow mode holds for the person, too", async () => {
		const channel = newChannel(cast);
		platform().channels.edit(channel, { rate_limit_per_user: 60 });
		const args = { channel_id: channel.id, content: "hello" };
		expect(await refused("send_message", args, ["SendMessages"])).toContain("You lack BYPASS_SLOWMODE in ");
		await runs("send_message", args, ["SendMessages", "BypassSlowmode"]);
	});

	test("links have previews only by those who may embed links", async () => {
		const { id } = newChannel(cast);
		const link = (content: string, more = {}) => ({ channel_id: id, content: `See ${content}`, ...more });
		const url = "https://example.com/soup";
		const sends = ["SendMessages"] as const;
		const lacks = "You lack EMBED_LINKS in ";
		const tool = "send_message";
		expect(await refused(tool, link(url), sends)).toContain(lacks);
		const masked = link(`[the soup](${url})`);
		expect(await refused(tool, masked, sends)).toContain(lacks);
		const file = link(url, { filename: "a.txt", text: "soup" });
		const attaches = [...sends, "AttachFiles"] as const;
		expect(await refused("send_file", file, attaches)).toContain(lacks);
		const thread = link(url, { name: "soup" });
		const starts = ["CreatePublicThreads", "SendMessagesInThreads"] as const;
		expect(await refused("create_thread", thread, starts)).toContain(lacks);
		await runs(tool, link(`<${url}>`), sends);
		await runs(tool, link(url), [...sends, "EmbedLinks"]);
	});

	test("emoji of other guilds are sent only by those who may use them", async () => {
		const { id } = newChannel(cast);
		const content = "Soup <a:ladle:123456789012345678>!";
		const args = { channel_id: id, content };
		const sends = ["SendMessages"] as const;
		expect(await refused("send_message", args, sends)).toContain("You lack USE_EXTERNAL_EMOJIS in ");
		await runs("send_message", args, [...sends, "UseExternalEmojis"]);
	});

	test("members are not added to a private thread by a mention", async () => {
		const { threads } = platform();
		const type = ChannelType.PrivateThread;
		const given = { name: freshName(), type, invitable: false } as const;
		const bot = botUser(cast.world);
		const thread = threads.add(newChannel(cast), bot, given);
		threads.join(thread, person());
		const { user } = newMember(cast, cast.guild);
		const args = { channel_id: thread.id, content: `<@${user.id}>, come!` };
		const pings = { ...args, mentions: "users" };
		const sends = ["SendMessagesInThreads"] as const;
		expect(await refused("send_message", pings, sends)).toContain("You lack MANAGE_THREADS in ");
		await runs("send_message", args, sends);
	});

	test("a message of the bot is rewritten only by those in whose name it was sent, and with MANAGE_GUILD", async () => {
		const channel = newChannel(cast);
		const channel_id = channel.id;
		const rights = ["ManageMessages", "ReadMessageHistory"] as const;
		const sends = ["SendMessages", "AttachFiles"] as const;
		const others = [
			writtenByBot(cast, channel).id,
			await sentBy(cast.world.mcp, channel_id),
			await sentBy(clientOf(cast, adaIn(cast.world).id), channel_id),
		];
		const edit = (message_id: string) => ({ channel_id, message_id, content: "rewritten" });
		for (const id of others)
			expect(await refused("edit_message", edit(id), rights)).toContain(
				`The message ${id} was not sent in your name, so you need MANAGE_GUILD`,
			);
		for (const tool of ["send_message", "send_file"]) {
			permit(cast, sends);
			await settle(cast);
			const own = await sentBy(cast.client, channel_id, tool);
			await runs("edit_message", edit(own), rights);
		}
		const [first = ""] = others;
		await runs("edit_message", edit(first), [...rights, "ManageGuild"]);
	});

	test("the text above buttons stays", async () => {
		const channel = newChannel(cast);
		const { messages } = platform();
		const { id } = messages.add(channel, botUser(cast.world), {
			content: "Ban them?",
			components: [{ id: 1, type: 1, components: [{ id: 2, type: 2, style: 4, label: "Ban", custom_id: "ban" }] }],
		});
		const args = { channel_id: channel.id, message_id: id, content: "Cake?" };
		const has = ["ManageMessages", "ReadMessageHistory"] as const;
		expect(await refused("edit_message", args, has)).toContain("The buttons of the message");
	});

	test("people do not delete what they wrote in a voice channel that they cannot join", async () => {
		const channel = newChannel(cast, ChannelType.GuildVoice);
		const { id } = platform().messages.add(channel, person(), { content: "mine" });
		const args = { channel_id: channel.id, message_ids: [id] };
		const reads = ["ReadMessageHistory"] as const;
		expect(await refused("delete_messages", args, reads)).toContain("You lack CONNECT in ");
		await runs("delete_messages", args, [...reads, "Connect"]);
	});

	test("an order of channels does not name hidden ones", async () => {
		const category = newChannel(cast, ChannelType.GuildCategory);
		const [one, other] = [newChannel(cast), newChannel(cast)];
		for (const channel of [one, other]) platform().channels.edit(channel, { parent_id: category.id });
		hide(cast, other, person().id);
		const text = await runs("move_channels", { channel_ids: [one.id], position: 1 }, ["ManageChannels"]);
		expect(text).toContain(one.name);
		expect(text).not.toContain(other.name);
	});

	test("locking all channels leaves hidden ones alone", async () => {
		const channel = hidden();
		const text = await runs("lock_channel", { all: true }, [
			...(["ManageRoles", "ManageChannels", "SendMessages", "Connect"] as const),
			...(["SendMessagesInThreads", "AddReactions", "Speak"] as const),
			...(["CreatePublicThreads", "CreatePrivateThreads"] as const),
		]);
		expect(text).not.toContain(channel.name);
		expect(channel.permission_overwrites.map(({ id }) => id)).toEqual([person().id]);
		await runs("lock_channel", { all: true, unlock: true }, [
			...(["ManageRoles", "ManageChannels", "SendMessages", "Connect"] as const),
			...(["SendMessagesInThreads", "AddReactions", "Speak"] as const),
			...(["CreatePublicThreads", "CreatePrivateThreads"] as const),
		]);
	});

	test("deleting a category does not name hidden channels in it", async () => {
		const category = newChannel(cast, ChannelType.GuildCategory);
		const inside = newChannel(cast);
		platform().channels.edit(inside, { parent_id: category.id });
		hide(cast, inside, person().id);
		const text = await runs("delete_channel", { channel_id: category.id, dry_run: true }, ["ManageChannels"]);
		expect(text).not.toContain(inside.name);
		expect(text).not.toContain("channel(s) in it");
	});

	test("a voice channel that a person does not see has nobody in it", async () => {
		const { voice } = platform();
		const channel = hidden(ChannelType.GuildVoice);
		const member = newMember(cast, cast.guild);
		voice.join(channel, member);
		const text = await refused("edit_voice_members", { user_ids: [member.user.id], channel_id: "" }, ["MoveMembers"]);
		expect(text).toContain("is not in a voice channel");
		expect(text).not.toContain(channel.id);
	});
});

describe("messages", () => {
	const reads = ["ReadMessageHistory"] as const;

	test("searches and counts do not reach hidden channels", async () => {
		const channel = hidden();
		const { id } = platform().messages.add(channel, adaIn(cast.world), { content: "xylophone" });
		const { id: ada } = adaIn(cast.world);
		for (const args of [
			{ text: "xylophone" },
			{ text: "xylophone", after: "1h" },
			{ text: "xylophone", user_ids: [ada], count_by: ["author"] },
			{ text: "xylophone", count_by: ["channel"] },
			{ text: "xylophone", count_by: ["day"], after: "1h" },
		]) {
			const text = await runs("search_messages", args, reads);
			expect(text).not.toContain(channel.name);
			expect(text).not.toContain(channel.id);
			expect(text).not.toContain(id);
			expect(text).toMatch(/^(No |0 )/);
		}
	});

	test("the index is searched without a list of channels only for those who see all", async () => {
		const { requests } = cast.world.simulator;
		for (const [permissions, listed] of [
			[["Administrator"], false],
			[reads, true],
		] as const) {
			requests.clear();
			await runs("search_messages", { text: "xylophone" }, permissions);
			expect(requests.list("GET /channels/:channel_id/threads/archived/public").length > 0).toBe(listed);
		}
	});

	test("private threads are searched and listed only for their members", async () => {
		const { threads, messages } = platform();
		const parent = newChannel(cast);
		const type = ChannelType.PrivateThread;
		const bot = botUser(cast.world);
		const thread = threads.add(parent, bot, { name: freshName(), type });
		messages.add(thread, adaIn(cast.world), { content: "marimba" });
		const search = { text: "marimba", after: "1h" };
		const found = await runs("search_messages", search, reads);
		expect(found).toStartWith("No match");
		const listed = { channel_id: parent.id };
		expect(await runs("list_threads", listed, reads)).not.toContain(thread.name);
		const read = { channel_id: thread.id };
		expect(await refused("get_recent_messages", read, reads)).toContain(`There is no channel ${thread.id}`);
		threads.join(thread, person());
		expect(await runs("list_threads", listed, reads)).toContain(thread.name);
		const text = await runs("get_recent_messages", read, reads);
		expect(text).toContain("marimba");
	});

	test("of many private threads, a list looks up the newest ones", async () => {
		const { threads } = platform();
		const parent = newChannel(cast);
		const type = ChannelType.PrivateThread;
		const bot = botUser(cast.world);
		const open = threads.add(parent, bot, { name: freshName() });
		const all = Array.from({ length: 101 }, () => threads.add(parent, bot, { name: freshName(), type }));
		for (const thread of all) threads.join(thread, person());
		const [oldest, newer] = all;
		const args = { channel_id: parent.id, limit: 100 };
		const first = await runs("list_threads", args, reads);
		expect(first).toContain(String(newer?.name));
		const rest = await runs("list_threads", { ...args, before: String(newer?.id) }, reads);
		expect(rest).toContain(`#${open.name} `);
		expect(rest).toContain(`#${oldest?.name} `);
	});

	test("archived private threads are searched only for those who manage threads", async () => {
		const { threads, messages } = platform();
		const parent = newChannel(cast);
		const type = ChannelType.PrivateThread;
		const bot = botUser(cast.world);
		const thread = threads.add(parent, bot, { name: freshName(), type });
		messages.add(thread, adaIn(cast.world), { content: "celesta" });
		threads.edit(thread, { archived: true });
		const args = { text: "celesta", after: "1h" };
		const found = await runs("search_messages", args, reads);
		expect(found).toStartWith("No match");
		const manages = [...reads, "ManageThreads"] as const;
		expect(await runs("search_messages", args, manages)).toContain("celesta");
	});

	test("a filter deletes nothing in hidden channels, nor where the person cannot manage messages", async () => {
		const [one, other] = [hidden(), newChannel(cast)];
		deny(other, "ManageMessages");
		for (const channel of [one, other])
			platform().messages.add(channel, adaIn(cast.world), { content: "glockenspiel" });
		for (const args of [{ text: "glockenspiel" }, { text: "glockenspiel", after: "1h" }])
			await runs("delete_messages", args, [...reads, "ManageMessages"]);
		for (const { id } of [one, other]) expect(platform().messages.in(id)).toHaveLength(1);
	});

	test("a link to a message in a hidden channel is refused like one that does not exist", async () => {
		const channel = hidden();
		const { id } = written(cast, channel);
		const args = { message_ids: [`${channel.id}/${id}`] };
		expect(await refused("delete_messages", args, ["ManageMessages"])).toContain(`There is no channel ${channel.id}`);
	});

	test("a message is not forwarded out of a hidden channel", async () => {
		const channel = hidden();
		const { id } = written(cast, channel);
		const to_channel_id = newChannel(cast).id;
		const args = { channel_id: channel.id, message_id: id, to_channel_id };
		const has = [...reads, "SendMessages"] as const;
		expect(await refused("forward_message", args, has)).toContain(`There is no channel ${channel.id}`);
	});

	test("a ban does not count messages in hidden channels", async () => {
		const { user } = newMember(cast, cast.guild);
		const args = { user_ids: [user.id], delete_messages: "1h", dry_run: true };
		expect(await runs("ban", args, ["BanMembers"])).toContain("their messages of the last");
	});

	test("direct messages of the bot are read only by those who manage the bot", async () => {
		const { user } = newTalk(cast);
		const args = { user_id: user.id };
		expect(await refused("read_private_messages", args, [])).toContain("You lack MANAGE_GUILD in the bot's own guild");
	});
});

describe("what members cannot look up by hand", () => {
	test("permissions and timeouts of others", async () => {
		const member = newMember(cast, cast.guild);
		const communication_disabled_until = "2099-01-31T12:00:00.000Z";
		platform().members.edit(cast.guild, member, { communication_disabled_until });
		const args = { user_ids: member.user.id };
		const text = await runs("get_member", args, []);
		expect(text).not.toContain("Timed out");
		expect(text).not.toContain("Permissions");
		const all = await runs("get_member", args, ["ModerateMembers", "ManageRoles"]);
		expect(all).toContain("Timed out until: 2099-01-31");
		expect(all).toContain("Permissions beyond those of @everyone: none");
		const own = await runs("get_member", { user_ids: person().id }, []);
		expect(own).toContain("Permissions beyond those of @everyone: none");
		const timedOut = { where: "timeout" };
		expect(await refused("list_members", timedOut, [])).toContain("You lack MODERATE_MEMBERS in ");
		expect(await runs("list_members", {}, [])).not.toContain("timed out");
		expect(await refused("list_members", { where: "pending" }, [])).toContain("see who has accepted the rules");
		await runs("list_members", { where: "pending" }, ["KickMembers"]);
		expect(await runs("list_roles", {}, [])).not.toContain("permits: ");
		expect(await runs("list_roles", {}, ["ManageRoles"])).toContain("permits: ");
	});

	test("their own permissions they can", async () => {
		const own = { user_ids: [person().id] };
		await runs("check_permissions", own, []);
		const other = { user_ids: [person().id, adaIn(cast.world).id] };
		expect(await refused("check_permissions", other, [])).toContain("You lack MANAGE_ROLES in ");
	});

	test("who made an emoji", async () => {
		const name = freshName().replace("-", "_");
		platform().emojis.add(cast.guild, adaIn(cast.world), { name });
		expect(await runs("list_emojis", {}, [])).not.toContain("made by");
		const text = await runs("list_emojis", {}, ["CreateGuildExpressions"]);
		expect(text).toContain("made by: @ada");
	});

	test("how often invites were used, with VIEW_AUDIT_LOG alone", async () => {
		const inviter = botUser(cast.world);
		const { code } = platform().invites.add(newChannel(cast), { inviter });
		const text = await runs("list_invites", {}, ["ViewAuditLog"]);
		expect(text).toContain(code);
		expect(text).not.toContain("used: ");
		const all = await runs("list_invites", {}, ["ManageGuild"]);
		expect(all).toContain("used: ");
	});

	test("an invite is not deleted by those who manage neither its channel nor the guild, although the bot does", async () => {
		const inviter = botUser(cast.world);
		const { code } = platform().invites.add(newChannel(cast), { inviter });
		const args = { invite_codes: [code] };
		expect(await refused("delete_invite", args, [])).toContain("You lack MANAGE_CHANNELS in ");
		await runs("delete_invite", args, ["ManageGuild"]);
	});

	test("calls of tools in other guilds, and about hidden channels", async () => {
		const channel = hidden();
		const { other, world } = cast;
		await world.call("get_channel", { channel_id: channel.id });
		await world.call("list_channels", { guild_id: other.id });
		const manages = ["ManageGuild", "ViewAuditLog"] as const;
		const recorded = async (tool: string) => {
			const { text } = await world.call("list_recent_tool_calls", { tool });
			return text;
		};
		await until("the calls are recorded", async () => (await recorded("list_channels")).includes(other.id));
		expect(await recorded("get_channel")).toContain(channel.id);
		const text = await runs("list_recent_tool_calls", { limit: 100 }, manages);
		expect(text).not.toContain(channel.id);
		expect(text).not.toContain(`guild: ${other.id}`);
	});
});
