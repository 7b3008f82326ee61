// The claims with Eris. https://github.com/abalabahaha/eris

import assert from "node:assert/strict";
import http from "node:http";
import https from "node:https";
import type { ClientEvents, CreateForumThreadOptions } from "eris";
import { check, findSimulator, listener, pixel } from "./claims.ts";

const simulator = await findSimulator();
const { guildId, general, user } = simulator;

// Eris always speaks HTTPS.
const { hostname, port } = new URL(simulator.url);
Object.assign(https, {
	request: (options: http.RequestOptions) => http.request({ ...options, protocol: "http:", port }),
});
const { Client, CommandInteraction, ComponentInteraction, Constants, DiscordRESTError } = await import("eris");

const client = new Client(`Bot ${simulator.token}`, {
	intents: ["all"],
	rest: { domain: hostname, baseURL: "/api/v10" },
	restMode: true,
});
const heard = listener<ClientEvents>((event, hear) => client.on(event, hear));
const problems: unknown[] = [];
client.on("error", (error) => problems.push(error));
client.on("warn", (warning) => problems.push(warning));
client.on("unknown", (packet) => problems.push(packet));

const guild = () => {
	const found = client.guilds.get(guildId);
	assert(found);
	return found;
};
const send = (content: string) => client.createMessage(general, { content });

/** The next slash command or button. */
const interaction = async () => {
	const [one] = await heard("interactionCreate");
	return one;
};

await check({
	"a bot logs in and knows itself": async () => {
		const ready = heard("ready");
		await client.connect();
		await ready;
		assert.equal(client.user.username, "alpha");
		assert.equal(client.user.bot, true);
	},

	"the application has an owner, and the Gateway a URL": async () => {
		const application = await client.getOAuthApplication();
		assert.equal(application.id, client.user.id);
		assert.equal(application.owner.username, "developer");
		assert.equal((await client.getGateway()).url.slice(0, 5), "ws://");
	},

	"a guild has its name, owner, member count, roles, channels and members": async () => {
		const { name, ownerID, memberCount, roles, members } = guild();
		assert.equal(name, "The Cooks");
		assert.equal(ownerID, user("ada"));
		assert.equal(memberCount, 6);
		assert.deepEqual(
			roles.map((role) => role.name).sort(),
			["@everyone", "Newcomer", "Regular", "Staff", "alpha"].sort(),
		);
		const channel = guild().channels.get(general);
		assert(channel?.type === Constants.ChannelTypes.GUILD_TEXT);
		assert.equal(channel.topic, "Everything and nothing");
		assert(members.has(client.user.id));
	},

	"the bot's own permissions follow from its roles": async () => {
		const permissions = guild().permissionsOf(client.user.id);
		assert(permissions.has("banMembers"));
		assert(!permissions.has("administrator"));
		const channel = guild().channels.get(general);
		assert(channel?.permissionsOf(client.user.id).has("sendMessages"));
	},

	"members are requested over the Gateway": async () => {
		const everyone = await guild().fetchMembers();
		assert.equal(everyone.length, 6);
		const [zoe] = await guild().fetchMembers({ userIDs: [user("zoe")] });
		assert.equal(zoe?.user.globalName, "Zoë 🍞");
		const [chef] = await guild().fetchMembers({ query: "Chef", limit: 5 });
		assert.equal(chef?.username, "jose.garcia");
	},

	"members are fetched, listed and searched over REST": async () => {
		const mona = await client.getRESTGuildMember(guildId, user("mona_lisa"));
		assert.deepEqual(mona.roles, [simulator.regular]);
		const listed = await client.getRESTGuildMembers(guildId, { limit: 10 });
		assert.equal(listed.length, 6);
		const found = await client.searchGuildMembers(guildId, "mona");
		assert.deepEqual(
			found.map(({ id }) => id),
			[mona.id],
		);
		await assert.rejects(client.getRESTGuildMember(guildId, user("bob_the_baker")));
	},

	"a guild is fetched with its counts": async () => {
		const fetched = await client.getRESTGuild(guildId, true);
		assert.equal(fetched.approximateMemberCount, 6);
		const [own] = await client.getRESTGuilds({ limit: 5 });
		assert.equal(own?.name, "The Cooks");
	},

	"the guild is edited": async () => {
		const changed = heard("guildUpdate");
		const edited = await client.editGuild(guildId, { afkTimeout: 900 });
		assert.equal(edited.afkTimeout, 900);
		assert.equal((await changed)[0].afkTimeout, 900);
	},

	"a person types": async () => {
		const arrives = heard("typingStart");
		await simulator.type();
		const [channel, author, member] = await arrives;
		assert.deepEqual([channel.id, author.id, member?.id], [general, user("ada"), user("ada")]);
	},

	"a person's message arrives with author, member and mentions": async () => {
		const arrives = heard("messageCreate");
		await simulator.say(`hello <@${client.user.id}>`);
		const [message] = await arrives;
		assert.equal(message.content, `hello <@${client.user.id}>`);
		assert.equal(message.author.username, "ada");
		assert.equal(message.member?.id, user("ada"));
		assert.equal(message.guildID, guildId);
		assert.deepEqual(
			message.mentions.map(({ id }) => id),
			[client.user.id],
		);
	},

	"a message with an embed is sent, edited and deleted": async () => {
		const sent = await client.createMessage(general, {
			content: "soup",
			embeds: [
				{
					title: "Today",
					fields: [{ name: "Soup", value: "Onion", inline: true }],
					footer: { text: "Guildhall" },
				},
			],
		});
		assert.equal(sent.embeds[0]?.title, "Today");
		assert.equal(sent.embeds[0]?.fields?.[0]?.value, "Onion");
		const edited = heard("messageUpdate", ({ id }) => id === sent.id);
		await sent.edit({ content: "stew", embeds: [] });
		const [after] = await edited;
		assert.equal(after.content, "stew");
		assert(after.editedTimestamp);
		const gone = heard("messageDelete", ({ id }) => id === sent.id);
		await sent.delete("eaten");
		await gone;
	},

	"a file becomes an attachment": async () => {
		const { attachments } = await client.createMessage(general, {}, { name: "menu.txt", file: Buffer.from("Onion") });
		const [file] = attachments;
		assert.equal(file?.filename, "menu.txt");
		assert.equal(file.size, 5);
		assert.equal(await (await fetch(file.url)).text(), "Onion");
	},

	"a reply has the message it answers": async () => {
		const { id } = await simulator.say("a question");
		const reply = await client.createMessage(general, {
			content: "an answer",
			messageReference: { messageID: id },
		});
		assert.equal(reply.referencedMessage?.content, "a question");
		assert.equal(reply.messageReference?.channelID, general);
	},

	"messages are listed, and deleted in bulk": async () => {
		const first = await send("first");
		const second = await send("second");
		const listed = await client.getMessages(general, { limit: 2 });
		assert.deepEqual(
			listed.map(({ content }) => content),
			["second", "first"],
		);
		const gone = heard("messageDeleteBulk");
		await client.deleteMessages(general, [first.id, second.id]);
		const [deleted] = await gone;
		assert.equal(deleted.length, 2);
	},

	"a reaction is added, listed and removed": async () => {
		const { id } = await send("like it?");
		const added = heard("messageReactionAdd");
		await client.addMessageReaction(general, id, "👍");
		const [message, emoji, reactor] = await added;
		assert.equal(message.id, id);
		assert.equal(reactor.id, client.user.id);
		assert.equal(emoji.name, "👍");
		const [who] = await client.getMessageReaction(general, id, "👍");
		assert.equal(who?.id, client.user.id);
		const removed = heard("messageReactionRemove");
		await client.removeMessageReaction(general, id, "👍");
		await removed;
	},

	"a message is pinned, listed and unpinned": async () => {
		const { id } = await send("rules");
		const changed = heard("channelPinUpdate");
		await client.pinMessage(general, id);
		await changed;
		const pins = await client.getPins(general);
		assert.deepEqual(
			pins.map((message) => message.id),
			[id],
		);
		await client.unpinMessage(general, id);
		assert.equal((await client.getPins(general)).length, 0);
	},

	"a role is created, edited, given, taken and deleted": async () => {
		const created = heard("guildRoleCreate");
		const role = await client.createRole(
			guildId,
			{ name: "Judge", permissions: Constants.Permissions.kickMembers },
			"a contest",
		);
		assert.equal((await created)[1].id, role.id);
		assert(role.permissions.has("kickMembers"));
		const edited = heard("guildRoleUpdate", (_, { id }) => id === role.id);
		await role.edit({ name: "Chief judge", hoist: true });
		assert.equal((await edited)[1].name, "Chief judge");
		const zoe = user("zoe");
		const given = heard("guildMemberUpdate", (_, { id }) => id === zoe);
		await client.addGuildMemberRole(guildId, zoe, role.id);
		assert((await given)[1].roles.includes(role.id));
		const taken = heard("guildMemberUpdate", (_, { id }) => id === zoe);
		await client.removeGuildMemberRole(guildId, zoe, role.id);
		assert(!(await taken)[1].roles.includes(role.id));
		const gone = heard("guildRoleDelete");
		await role.delete();
		assert.equal((await gone)[1].id, role.id);
	},

	"a channel is created with overwrites, edited and deleted": async () => {
		const created = heard("channelCreate");
		const channel = await client.createChannel(guildId, "judges", Constants.ChannelTypes.GUILD_TEXT, {
			permissionOverwrites: [
				{
					id: guildId,
					type: Constants.PermissionOverwriteTypes.ROLE,
					allow: 0n,
					deny: Constants.Permissions.sendMessages,
				},
			],
		});
		assert.equal((await created)[0].id, channel.id);
		assert(!channel.permissionsOf(user("zoe")).has("sendMessages"));
		await channel.editPermission(
			user("zoe"),
			Constants.Permissions.sendMessages,
			0n,
			Constants.PermissionOverwriteTypes.USER,
		);
		const edited = heard("channelUpdate", (...[one]) => "topic" in one && one.topic === "verdicts");
		await channel.edit({ topic: "verdicts", rateLimitPerUser: 5 });
		const [after] = await edited;
		assert(after.type === Constants.ChannelTypes.GUILD_TEXT);
		assert.equal(after.topic, "verdicts");
		assert(after.permissionsOf(user("zoe")).has("sendMessages"));
		const gone = heard("channelDelete");
		await channel.delete();
		assert.equal((await gone)[0].id, channel.id);
	},

	"a thread is started, joined, archived and deleted": async () => {
		const { id } = await send("the contest");
		const started = heard("threadCreate");
		const thread = await client.createThreadWithMessage(general, id, {
			name: "Contest",
			autoArchiveDuration: 1440,
		});
		assert.equal((await started)[0].id, thread.id);
		assert.equal(thread.ownerID, client.user.id);
		await client.joinThread(thread.id, user("zoe"));
		const members = await client.getThreadMembers(thread.id);
		assert(members.some((member) => member.id === user("zoe")));
		const { threads } = await client.getActiveGuildThreads(guildId);
		assert(threads.some((one) => one.id === thread.id));
		const archived = heard("threadUpdate");
		await thread.edit({ archived: true });
		assert.equal((await archived)[0].threadMetadata.archived, true);
		const gone = heard("threadDelete");
		await thread.delete();
		assert.equal((await gone)[0].id, thread.id);
	},

	"a forum post is created": async () => {
		const { GUILD_FORUM } = Constants.ChannelTypes;
		const forum = await client.createChannel(guildId, "recipes", GUILD_FORUM);
		const started = heard("threadCreate");
		const post = await client.createThread(forum.id, {
			name: "Soup",
			// Its type wants a list of files at once.
			message: { content: "Boil water." } as CreateForumThreadOptions["message"],
		});
		assert.equal((await started)[0].id, post.id);
		assert.equal(post.parentID, forum.id);
		const [message] = await client.getMessages(post.id);
		assert.equal(message?.content, "Boil water.");
	},

	"a poll is voted in and ended": async () => {
		const { id, poll } = await client.createMessage(general, {
			poll: {
				question: { text: "Soup?" },
				answers: [
					{ answer_id: 1, poll_media: { text: "Yes" } },
					{ answer_id: 2, poll_media: { text: "No" } },
				],
				allow_multiselect: false,
				duration: 1,
				layout_type: 1,
			},
		});
		assert.equal(poll?.answers[1]?.poll_media.text, "No");
		const voted = heard("messagePollVoteAdd");
		await simulator.vote(id, 2);
		const [message, voter, answer] = await voted;
		assert.deepEqual([message.id, voter.id, answer], [id, user("ada"), 2]);
		const voters = await client.getPollAnswerVoters(general, id, "2");
		assert.deepEqual(
			voters.map(({ username }) => username),
			["ada"],
		);
		const ended = await client.endPoll(general, id);
		const counts = ended.poll?.results?.answer_counts ?? [];
		assert.equal(counts.find(({ id }) => id === 2)?.count, 1);
	},

	"a member is banned and unbanned": async () => {
		const liwei = user("liwei");
		const banned = heard("guildBanAdd");
		const left = heard("guildMemberRemove");
		await client.banGuildMember(guildId, liwei, { deleteMessageSeconds: 60, reason: "spam" });
		assert.equal((await banned)[1].id, liwei);
		assert.equal((await left)[1].id, liwei);
		assert.equal((await client.getGuildBan(guildId, liwei)).reason, "spam");
		assert.equal((await client.getGuildBans(guildId)).length, 1);
		const lifted = heard("guildBanRemove");
		await client.unbanGuildMember(guildId, liwei);
		assert.equal((await lifted)[1].id, liwei);
	},

	"a member gets a nickname and a timeout": async () => {
		const until = new Date(Date.now() + 3_600_000);
		const changed = heard("guildMemberUpdate");
		await client.editGuildMember(guildId, user("zoe"), { nick: "Zo", communicationDisabledUntil: until });
		const [, member] = await changed;
		assert.equal(member.nick, "Zo");
		assert.equal(member.communicationDisabledUntil, until.getTime());
		const freed = await client.editGuildMember(guildId, user("zoe"), { communicationDisabledUntil: null });
		assert.equal(freed.communicationDisabledUntil, null);
	},

	"a member is kicked": async () => {
		const left = heard("guildMemberRemove");
		await client.kickGuildMember(guildId, user("mona_lisa"), "asked for it");
		assert.equal((await left)[1].id, user("mona_lisa"));
		assert(!guild().members.has(user("mona_lisa")));
	},

	"a webhook sends a message": async () => {
		const changed = heard("webhooksUpdate");
		const webhook = await client.createChannelWebhook(general, { name: "News" });
		await changed;
		assert(webhook.token);
		const message = await client.executeWebhook(webhook.id, webhook.token, {
			content: "fresh bread",
			username: "Baker",
			wait: true,
		});
		assert.equal(message.author.username, "Baker");
		assert.equal(message.webhookID, webhook.id);
		assert.equal((await client.getChannelWebhooks(general)).length, 1);
		await client.deleteWebhook(webhook.id);
	},

	"an invite is created, fetched and deleted": async () => {
		const created = heard("inviteCreate");
		const { code } = await client.createChannelInvite(general, { maxUses: 3 });
		assert.equal((await created)[1].code, code);
		const invite = await client.getInvite(code, true);
		assert.equal(invite.channel.id, general);
		assert.equal(invite.memberCount, guild().memberCount);
		const [listed] = await client.getGuildInvites(guildId);
		assert.equal(listed?.maxUses, 3);
		const gone = heard("inviteDelete");
		await client.deleteInvite(code);
		assert.equal((await gone)[1].code, code);
	},

	"a slash command is registered, used and answered": async () => {
		const command = await client.createGuildCommand(guildId, {
			type: Constants.ApplicationCommandTypes.CHAT_INPUT,
			name: "soup",
			description: "Orders soup",
			options: [{ type: 3, name: "kind", description: "Which one", required: true }],
		});
		const listed = await client.getGuildCommands(guildId);
		assert.deepEqual(
			listed.map(({ id }) => id),
			[command.id],
		);
		const arrives = interaction();
		const { id } = await simulator.run(client.user.id, "soup", [{ name: "kind", value: "onion" }]);
		const used = await arrives;
		assert(used instanceof CommandInteraction);
		assert.equal(used.data.name, "soup");
		assert.deepEqual(used.data.options, [{ type: 3, name: "kind", value: "onion" }]);
		assert.equal(used.member?.username, "ada");
		assert(used.member.permissions.has("administrator"));
		await used.createMessage({ content: "here you are", flags: 64 });
		assert.equal((await used.getOriginalMessage()).content, "here you are");
		assert.equal((await simulator.used(id))?.reply?.content, "here you are");
	},

	"a deferred answer is edited, and followed up": async () => {
		const arrives = interaction();
		const { id } = await simulator.run(client.user.id, "soup", [{ name: "kind", value: "leek" }]);
		const used = await arrives;
		assert(used instanceof CommandInteraction);
		await used.defer();
		await used.editOriginalMessage({ content: "cooked" });
		await used.createFollowup({ content: "enjoy" });
		const shown = await simulator.used(id);
		assert.equal(shown?.reply?.content, "cooked");
		assert.deepEqual(
			shown.follow_ups.map(({ content }) => content),
			["enjoy"],
		);
	},

	"a button updates its message": async () => {
		const message = await client.createMessage(general, {
			content: "more?",
			components: [
				{
					type: Constants.ComponentTypes.ACTION_ROW,
					components: [
						{
							type: Constants.ComponentTypes.BUTTON,
							style: Constants.ButtonStyles.PRIMARY,
							label: "More",
							custom_id: "more",
						},
					],
				},
			],
		});
		const arrives = interaction();
		await simulator.press(client.user.id, message.id, "more");
		const pressed = await arrives;
		assert(pressed instanceof ComponentInteraction);
		assert.equal(pressed.data.custom_id, "more");
		assert.equal(pressed.message.id, message.id);
		await pressed.editParent({ content: "served", components: [] });
		const after = await client.getMessage(general, message.id);
		assert.equal(after.content, "served");
		assert.equal(after.components?.length, 0);
	},

	"a direct message is sent": async () => {
		const dm = await client.getDMChannel(user("ada"));
		assert(dm.recipients.has(user("ada")));
		const arrives = heard("messageCreate");
		const sent = await dm.createMessage({ content: "psst" });
		const [message] = await arrives;
		assert.equal(message.id, sent.id);
		assert.equal(message.guildID, undefined);
	},

	"an AutoMod rule is created, listed and deleted": async () => {
		const created = heard("autoModerationRuleCreate");
		const rule = await client.createAutoModerationRule(guildId, {
			name: "No ads",
			eventType: 1,
			triggerType: 3,
			actions: [{ type: 1 }],
			enabled: true,
		});
		assert.equal((await created)[1].id, rule.id);
		const [listed] = await client.getAutoModerationRules(guildId);
		assert.equal(listed?.name, "No ads");
		await client.deleteAutoModerationRule(guildId, rule.id);
	},

	"a scheduled event is created, listed and deleted": async () => {
		const created = heard("guildScheduledEventCreate");
		const event = await client.createGuildScheduledEvent(guildId, {
			name: "Contest",
			channelID: simulator.lounge,
			entityType: Constants.GuildScheduledEventEntityTypes.VOICE,
			privacyLevel: Constants.GuildScheduledEventPrivacyLevel.GUILD_ONLY,
			scheduledStartTime: new Date(Date.now() + 3_600_000),
		});
		assert.equal((await created)[0].id, event.id);
		const [listed] = await client.getGuildScheduledEvents(guildId);
		assert.equal(listed?.name, "Contest");
		assert.equal(listed.creator?.id, client.user.id);
		await client.deleteGuildScheduledEvent(guildId, event.id);
	},

	"an emoji is created and deleted": async () => {
		const changed = heard("guildEmojisUpdate");
		const { id } = await client.createGuildEmoji(guildId, { name: "dot", image: pixel });
		assert.deepEqual(
			(await changed)[1].map(({ name }) => name),
			["dot"],
		);
		assert(id);
		await client.deleteGuildEmoji(guildId, id);
		assert.equal((await client.getRESTGuildEmojis(guildId)).length, 0);
	},

	"the audit log has entries with reason and actor": async () => {
		const reason = "ja, 是 %";
		// Entries of earlier claims may still be on their way.
		const arrives = heard("guildAuditLogEntryCreate", (entry) => entry.reason === reason);
		await client.createRole(guildId, { name: "Audited" }, reason);
		const [entry] = await arrives;
		const { entries } = await client.getGuildAuditLog(guildId, { limit: 1 });
		assert.equal(entries[0]?.id, entry.id);
		assert.equal(entries[0]?.user.id, client.user.id);
	},

	"a voice state arrives": async () => {
		const joined = heard("voiceChannelJoin");
		await simulator.control("voice", { user_id: user("ada"), channel_id: simulator.lounge });
		const [member, channel] = await joined;
		assert.equal(member.id, user("ada"));
		assert.equal(channel.id, simulator.lounge);
	},

	"an unknown message is an error with Discord's code": async () => {
		await assert.rejects(
			client.getMessage(general, "1"),
			(error) => error instanceof DiscordRESTError && error.code === 10008 && error.res.statusCode === 404,
		);
	},

	"an invalid form is an error that names the field": async () => {
		await assert.rejects(
			send("x".repeat(2001)),
			(error) =>
				error instanceof DiscordRESTError &&
				error.code === 50035 &&
				/content: Must be 2000 or fewer in length/.test(error.message),
		);
	},

	"a lost connection is resumed with what was missed": async () => {
		const shard = client.shards.get(0);
		const session = shard?.sessionID;
		const lost = heard("shardDisconnect");
		await simulator.control("sockets/connections", { held: true });
		await simulator.control("sockets/disconnect", { how: "close", code: 4000 });
		await lost;
		const arrives = heard("messageCreate", ({ content }) => content === "boo");
		const resumed = heard("shardResume");
		await simulator.say("boo");
		await simulator.control("sockets/connections", { held: false });
		await Promise.all([arrives, resumed]);
		assert.equal(shard?.sessionID, session);
	},

	"the library reported no error": async () => {
		// It reports that its connection was closed, too.
		assert.deepEqual(
			problems.filter((one) => !/simulated/.test(String(one))),
			[],
		);
	},
});

client.disconnect({ reconnect: false });
