// The claims with Oceanic. https://github.com/OceanicJS/Oceanic

import assert from "node:assert/strict";
import {
	AutoModerationActionTypes,
	AutoModerationEventTypes,
	AutoModerationTriggerTypes,
	ButtonStyles,
	ChannelTypes,
	Client,
	type ClientEvents,
	ComponentTypes,
	DiscordRESTError,
	GuildScheduledEventEntityTypes,
	GuildScheduledEventPrivacyLevels,
	InteractionTypes,
	OverwriteTypes,
	Permissions,
} from "oceanic.js";
import { check, findSimulator, listener, pixel } from "./claims.ts";

const simulator = await findSimulator();
const { guildId, general, user } = simulator;
const client = new Client({
	auth: `Bot ${simulator.token}`,
	rest: { baseURL: `${simulator.url}/api/v10` },
	gateway: { intents: ["ALL"] },
});
const heard = listener<ClientEvents>((event, hear) => client.on(event, hear));
const problems: unknown[] = [];
client.on("error", (error) => problems.push(error));
client.on("warn", (warning) => problems.push(warning));

const { channels, guilds, applications } = client.rest;
const guild = () => {
	const found = client.guilds.get(guildId);
	assert(found);
	return found;
};
const send = (content: string) => channels.createMessage(general, { content });

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
		assert.equal(client.application.id, client.user.id);
		const application = await client.rest.oauth.getApplication();
		assert.equal(application.name, "alpha");
		assert.equal(application.owner.username, "developer");
		const current = await applications.getCurrent();
		assert.equal(current.owner?.id, application.ownerID);
		assert.equal((await client.rest.getGateway()).url.slice(0, 5), "ws://");
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
		assert(channel?.type === ChannelTypes.GUILD_TEXT);
		assert.equal(channel.topic, "Everything and nothing");
		assert.equal(channel.parent?.name, "Talk");
		assert(members.has(client.user.id));
	},

	"the bot's own permissions follow from its roles": async () => {
		const { permissions } = guild().clientMember;
		assert(permissions.has("BAN_MEMBERS"));
		assert(!permissions.has("ADMINISTRATOR"));
		const channel = guild().channels.get(general);
		assert(channel?.permissionsOf(client.user.id).has("SEND_MESSAGES"));
	},

	"members are requested over the Gateway": async () => {
		const everyone = await guild().fetchMembers();
		assert.equal(everyone.length, 6);
		const [zoe] = await guild().fetchMembers({ userIDs: [user("zoe")] });
		assert.equal(zoe?.displayName, "Zoë 🍞");
		const [chef] = await guild().fetchMembers({ query: "Chef", limit: 5 });
		assert.equal(chef?.username, "jose.garcia");
	},

	"members are fetched, listed and searched over REST": async () => {
		const mona = await guilds.getMember(guildId, user("mona_lisa"));
		assert.deepEqual(mona.roles, [simulator.regular]);
		assert.equal((await guilds.getMembers(guildId, { limit: 10 })).length, 6);
		const found = await guilds.searchMembers(guildId, { query: "mona" });
		assert.deepEqual(
			found.map(({ id }) => id),
			[mona.id],
		);
		await assert.rejects(guilds.getMember(guildId, user("bob_the_baker")));
	},

	"a guild is fetched with its counts": async () => {
		const fetched = await guilds.get(guildId, true);
		assert.equal(fetched.approximateMemberCount, 6);
		const [own] = await client.rest.oauth.getCurrentGuilds({ withCounts: true });
		assert.equal(own?.name, "The Cooks");
		assert.equal(own.owner, false);
	},

	"the guild is edited": async () => {
		const changed = heard("guildUpdate");
		const edited = await guild().edit({ afkTimeout: 900 });
		assert.equal(edited.afkTimeout, 900);
		assert.equal((await changed)[0].afkTimeout, 900);
	},

	"a person types": async () => {
		const arrives = heard("typingStart");
		await simulator.type();
		const [channel, member] = await arrives;
		assert.deepEqual([channel.id, member.id], [general, user("ada")]);
	},

	"a person's message arrives with author, member and mentions": async () => {
		const arrives = heard("messageCreate");
		await simulator.say(`hello <@${client.user.id}>`);
		const [message] = await arrives;
		assert.equal(message.content, `hello <@${client.user.id}>`);
		assert.equal(message.author.username, "ada");
		assert.equal(message.member?.displayName, "Ada");
		assert.equal(message.guildID, guildId);
		assert.deepEqual(
			message.mentions.users.map(({ id }) => id),
			[client.user.id],
		);
	},

	"a message with an embed is sent, edited and deleted": async () => {
		const sent = await channels.createMessage(general, {
			content: "soup",
			embeds: [
				{ title: "Today", fields: [{ name: "Soup", value: "Onion", inline: true }], footer: { text: "Guildhall" } },
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
		const { attachments } = await channels.createMessage(general, {
			files: [{ name: "menu.txt", contents: Buffer.from("Onion") }],
		});
		const [file] = attachments.toArray();
		assert.equal(file?.filename, "menu.txt");
		assert.equal(file.size, 5);
		assert.equal(await (await fetch(file.url)).text(), "Onion");
	},

	"a reply has the message it answers": async () => {
		const { id } = await simulator.say("a question");
		const reply = await channels.createMessage(general, { content: "an answer", messageReference: { messageID: id } });
		assert.equal(reply.referencedMessage?.content, "a question");
		assert.equal(reply.messageReference?.channelID, general);
	},

	"messages are listed, and deleted in bulk": async () => {
		const first = await send("first");
		const second = await send("second");
		const listed = await channels.getMessages(general, { limit: 2 });
		assert.deepEqual(
			listed.map(({ content }) => content),
			["second", "first"],
		);
		const gone = heard("messageDeleteBulk");
		await channels.deleteMessages(general, [first.id, second.id]);
		const [deleted] = await gone;
		assert.equal(deleted.length, 2);
	},

	"a reaction is added, listed and removed": async () => {
		const { id } = await send("like it?");
		const added = heard("messageReactionAdd");
		await channels.createReaction(general, id, "👍");
		const [message, reactor, { emoji }] = await added;
		assert.equal(message.id, id);
		assert.equal(reactor.id, client.user.id);
		assert.equal(emoji.name, "👍");
		const [who] = await channels.getReactions(general, id, "👍");
		assert.equal(who?.id, client.user.id);
		const removed = heard("messageReactionRemove");
		await channels.deleteReaction(general, id, "👍");
		await removed;
	},

	"a message is pinned, listed and unpinned": async () => {
		const { id } = await send("rules");
		const changed = heard("channelPinsUpdate");
		await channels.pinMessage(general, id);
		await changed;
		const pins = await channels.getPins(general);
		assert.deepEqual(
			pins.map(({ message }) => message.id),
			[id],
		);
		await channels.unpinMessage(general, id);
		assert.equal((await channels.getPins(general)).length, 0);
	},

	"a role is created, edited, given, taken and deleted": async () => {
		const created = heard("guildRoleCreate");
		const role = await guilds.createRole(guildId, {
			name: "Judge",
			permissions: String(Permissions.KICK_MEMBERS),
			reason: "a contest",
		});
		assert.equal((await created)[0].id, role.id);
		assert(role.permissions.has("KICK_MEMBERS"));
		const edited = heard("guildRoleUpdate", ({ id }) => id === role.id);
		await role.edit({ name: "Chief judge", hoist: true });
		assert.equal((await edited)[0].name, "Chief judge");
		const zoe = user("zoe");
		const given = heard("guildMemberUpdate", ({ id }) => id === zoe);
		await guilds.addMemberRole(guildId, zoe, role.id);
		assert((await given)[0].roles.includes(role.id));
		const taken = heard("guildMemberUpdate", ({ id }) => id === zoe);
		await guilds.removeMemberRole(guildId, zoe, role.id);
		assert(!(await taken)[0].roles.includes(role.id));
		const gone = heard("guildRoleDelete");
		await role.delete();
		assert.equal((await gone)[0].id, role.id);
	},

	"a channel is created with overwrites, edited and deleted": async () => {
		const created = heard("channelCreate");
		const channel = await guilds.createChannel(guildId, ChannelTypes.GUILD_TEXT, {
			name: "judges",
			permissionOverwrites: [{ id: guildId, type: OverwriteTypes.ROLE, deny: Permissions.SEND_MESSAGES }],
		});
		assert.equal((await created)[0].id, channel.id);
		assert(!channel.permissionsOf(user("zoe")).has("SEND_MESSAGES"));
		await channel.editPermission(user("zoe"), { type: OverwriteTypes.MEMBER, allow: Permissions.SEND_MESSAGES });
		const edited = heard("channelUpdate", (one) => "topic" in one && one.topic !== null);
		await channel.edit({ topic: "verdicts", rateLimitPerUser: 5 });
		const [after] = await edited;
		assert(after.type === ChannelTypes.GUILD_TEXT);
		assert.equal(after.topic, "verdicts");
		assert(after.permissionsOf(user("zoe")).has("SEND_MESSAGES"));
		const gone = heard("channelDelete");
		await channel.delete();
		assert.equal((await gone)[0].id, channel.id);
	},

	"a thread is started, joined, archived and deleted": async () => {
		const { id } = await send("the contest");
		const started = heard("threadCreate");
		const thread = await channels.startThreadFromMessage(general, id, { name: "Contest", autoArchiveDuration: 1440 });
		assert.equal((await started)[0].id, thread.id);
		assert.equal(thread.ownerID, client.user.id);
		await channels.addThreadMember(thread.id, user("zoe"));
		const members = await channels.getThreadMembers(thread.id);
		assert(members.some(({ userID }) => userID === user("zoe")));
		const { threads } = await guilds.getActiveThreads(guildId);
		assert(threads.some((one) => one.id === thread.id));
		const archived = heard("threadUpdate");
		await thread.edit({ archived: true });
		assert.equal((await archived)[0].threadMetadata.archived, true);
		const gone = heard("threadDelete");
		await thread.delete();
		assert.equal((await gone)[0].id, thread.id);
	},

	"a forum post is created": async () => {
		const { GUILD_FORUM } = ChannelTypes;
		const forum = await guilds.createChannel(guildId, GUILD_FORUM, {
			name: "recipes",
			availableTags: [{ name: "Easy", moderated: false, emoji: null }],
		});
		const [tag] = forum.availableTags;
		assert.equal(tag?.name, "Easy");
		const started = heard("threadCreate");
		const post = await forum.startThread({ name: "Soup", message: { content: "Boil water." }, appliedTags: [tag.id] });
		assert.equal((await started)[0].id, post.id);
		assert.deepEqual(post.appliedTags, [tag.id]);
		const [message] = await channels.getMessages(post.id);
		assert.equal(message?.content, "Boil water.");
	},

	"a poll is voted in and ended": async () => {
		const { id, poll } = await channels.createMessage(general, {
			poll: {
				question: { text: "Soup?" },
				answers: [{ pollMedia: { text: "Yes" } }, { pollMedia: { text: "No" } }],
				allowMultiselect: false,
				duration: 1,
			},
		});
		assert.equal(poll?.answers[1]?.pollMedia.text, "No");
		const voted = heard("messagePollVoteAdd");
		await simulator.vote(id, 2);
		const [message, voter, answer] = await voted;
		assert.deepEqual([message.id, voter.id, answer.answerID], [id, user("ada"), 2]);
		const voters = await channels.getPollAnswerUsers(general, id, 2);
		assert.deepEqual(
			voters.map(({ username }) => username),
			["ada"],
		);
		await channels.expirePoll(general, id);
		const ended = await channels.getMessage(general, id);
		const counts = ended.poll?.results?.answerCounts ?? [];
		assert.equal(counts.find(({ id }) => id === 2)?.count, 1);
	},

	"a member is banned and unbanned": async () => {
		const liwei = user("liwei");
		const banned = heard("guildBanAdd");
		const left = heard("guildMemberRemove");
		await guilds.createBan(guildId, liwei, { deleteMessageSeconds: 60, reason: "spam" });
		assert.equal((await banned)[1].id, liwei);
		assert.equal((await left)[0].id, liwei);
		assert.equal((await guilds.getBan(guildId, liwei)).reason, "spam");
		assert.equal((await guilds.getBans(guildId)).length, 1);
		const lifted = heard("guildBanRemove");
		await guilds.removeBan(guildId, liwei);
		assert.equal((await lifted)[1].id, liwei);
	},

	"a member gets a nickname and a timeout": async () => {
		const until = new Date(Date.now() + 3_600_000).toISOString();
		const changed = heard("guildMemberUpdate");
		await guilds.editMember(guildId, user("zoe"), { nick: "Zo", communicationDisabledUntil: until });
		const [member] = await changed;
		assert.equal(member.nick, "Zo");
		assert.equal(member.communicationDisabledUntil?.toISOString(), until);
		const freed = await guilds.editMember(guildId, user("zoe"), { communicationDisabledUntil: null });
		assert.equal(freed.communicationDisabledUntil, null);
	},

	"a member is kicked": async () => {
		const left = heard("guildMemberRemove");
		await guilds.removeMember(guildId, user("mona_lisa"), "asked for it");
		assert.equal((await left)[0].id, user("mona_lisa"));
		assert(!guild().members.has(user("mona_lisa")));
	},

	"a webhook sends a message": async () => {
		const { webhooks } = client.rest;
		const changed = heard("webhooksUpdate");
		const webhook = await webhooks.create(general, { name: "News" });
		await changed;
		assert(webhook.token);
		const message = await webhook.execute({ content: "fresh bread", username: "Baker", wait: true });
		assert.equal(message.author.username, "Baker");
		assert.equal(message.webhookID, webhook.id);
		assert.equal((await webhooks.getForChannel(general)).length, 1);
		await webhook.delete();
	},

	"an invite is created, fetched and deleted": async () => {
		const created = heard("inviteCreate");
		const { code } = await channels.createInvite(general, { maxUses: 3 });
		assert.equal((await created)[0].code, code);
		const invite = await channels.getInvite(code, { withCounts: true });
		assert.equal(invite.guild?.name, "The Cooks");
		assert.equal(invite.approximateMemberCount, guild().memberCount);
		const [listed] = await guilds.getInvites(guildId);
		assert.equal(listed?.maxUses, 3);
		const gone = heard("inviteDelete");
		await channels.deleteInvite(code);
		assert.equal((await gone)[0].code, code);
	},

	"a slash command is registered, used and answered": async () => {
		const command = await applications.createGuildCommand(client.user.id, guildId, {
			type: 1,
			name: "soup",
			description: "Orders soup",
			options: [{ type: 3, name: "kind", description: "Which one", required: true }],
		});
		const listed = await applications.getGuildCommands(client.user.id, guildId);
		assert.deepEqual(
			listed.map(({ id }) => id),
			[command.id],
		);
		const arrives = interaction();
		const { id } = await simulator.run(client.user.id, "soup", [{ name: "kind", value: "onion" }]);
		const used = await arrives;
		assert(used.type === InteractionTypes.APPLICATION_COMMAND);
		assert.equal(used.data.name, "soup");
		assert.equal(used.data.options.getString("kind"), "onion");
		assert.equal(used.user.username, "ada");
		assert.equal(used.member?.guildID, guildId);
		assert(used.memberPermissions?.has("ADMINISTRATOR"));
		await used.createMessage({ content: "here you are", flags: 64 });
		assert.equal((await used.getOriginal()).content, "here you are");
		assert.equal((await simulator.used(id))?.reply?.content, "here you are");
	},

	"a deferred answer is edited, and followed up": async () => {
		const arrives = interaction();
		const { id } = await simulator.run(client.user.id, "soup", [{ name: "kind", value: "leek" }]);
		const used = await arrives;
		assert(used.type === InteractionTypes.APPLICATION_COMMAND);
		await used.defer();
		await used.editOriginal({ content: "cooked" });
		await used.createFollowup({ content: "enjoy" });
		const shown = await simulator.used(id);
		assert.equal(shown?.reply?.content, "cooked");
		assert.deepEqual(
			shown.follow_ups.map(({ content }) => content),
			["enjoy"],
		);
	},

	"a button updates its message": async () => {
		const message = await channels.createMessage(general, {
			content: "more?",
			components: [
				{
					type: ComponentTypes.ACTION_ROW,
					components: [{ type: ComponentTypes.BUTTON, style: ButtonStyles.PRIMARY, label: "More", customID: "more" }],
				},
			],
		});
		const arrives = interaction();
		await simulator.press(client.user.id, message.id, "more");
		const pressed = await arrives;
		assert(pressed.type === InteractionTypes.MESSAGE_COMPONENT);
		assert.equal(pressed.data.customID, "more");
		assert.equal(pressed.message.id, message.id);
		await pressed.editParent({ content: "served", components: [] });
		const after = await channels.getMessage(general, message.id);
		assert.equal(after.content, "served");
		assert.equal(after.components.length, 0);
	},

	"a direct message is sent": async () => {
		const dm = await channels.createDM(user("ada"));
		assert.equal(dm.recipient.username, "ada");
		const arrives = heard("messageCreate");
		const sent = await dm.createMessage({ content: "psst" });
		const [message] = await arrives;
		assert.equal(message.id, sent.id);
		assert.equal(message.guildID, null);
	},

	"an AutoMod rule is created, listed and deleted": async () => {
		const created = heard("autoModerationRuleCreate");
		const rule = await guilds.createAutoModerationRule(guildId, {
			name: "No ads",
			eventType: AutoModerationEventTypes.MESSAGE_SEND,
			triggerType: AutoModerationTriggerTypes.KEYWORD,
			triggerMetadata: { keywordFilter: ["buy now"] },
			actions: [{ type: AutoModerationActionTypes.BLOCK_MESSAGE, metadata: {} }],
			enabled: true,
		});
		assert.equal((await created)[0].id, rule.id);
		const [listed] = await guilds.getAutoModerationRules(guildId);
		assert.deepEqual(listed?.triggerMetadata.keywordFilter, ["buy now"]);
		await rule.deleteAutoModerationRule();
	},

	"a scheduled event is created, listed and deleted": async () => {
		const created = heard("guildScheduledEventCreate");
		const event = await guilds.createScheduledEvent(guildId, {
			name: "Contest",
			entityType: GuildScheduledEventEntityTypes.EXTERNAL,
			entityMetadata: { location: "Kitchen" },
			privacyLevel: GuildScheduledEventPrivacyLevels.GUILD_ONLY,
			scheduledStartTime: new Date(Date.now() + 3_600_000).toISOString(),
			scheduledEndTime: new Date(Date.now() + 7_200_000).toISOString(),
		});
		assert.equal((await created)[0].id, event.id);
		const [listed] = await guilds.getScheduledEvents(guildId);
		assert.equal(listed?.entityMetadata?.location, "Kitchen");
		assert.equal(listed.creator?.id, client.user.id);
		await event.deleteScheduledEvent();
	},

	"an emoji is created and deleted": async () => {
		const changed = heard("guildEmojisUpdate");
		const emoji = await guilds.createEmoji(guildId, { name: "dot", image: pixel });
		assert.deepEqual(
			(await changed)[1].map(({ name }) => name),
			["dot"],
		);
		await guilds.deleteEmoji(guildId, emoji.id);
		assert.equal((await guilds.getEmojis(guildId)).length, 0);
	},

	"the audit log has entries with reason and actor": async () => {
		const reason = "ja, 是 %";
		// Entries of earlier claims may still be on their way.
		const arrives = heard("guildAuditLogEntryCreate", (_, entry) => entry.reason === reason);
		await guilds.createRole(guildId, { name: "Audited", reason });
		const [, entry] = await arrives;
		const log = await guilds.getAuditLog(guildId, { limit: 1 });
		assert.equal(log.entries[0]?.id, entry.id);
		assert.equal(log.entries[0]?.user?.id, client.user.id);
	},

	"a voice state arrives": async () => {
		const joined = heard("voiceChannelJoin");
		await simulator.control("voice", { user_id: user("ada"), channel_id: simulator.lounge });
		const [member, channel] = await joined;
		assert.equal(member.id, user("ada"));
		assert.equal(channel.id, simulator.lounge);
		const state = await guilds.getVoiceState(guildId, user("ada"));
		assert.equal(state.channelID, simulator.lounge);
	},

	"an unknown message is an error with Discord's code": async () => {
		await assert.rejects(
			channels.getMessage(general, "1"),
			(error) => error instanceof DiscordRESTError && error.code === 10008 && error.status === 404,
		);
	},

	"an invalid form is an error that names the field": async () => {
		await assert.rejects(
			channels.createMessage(general, { content: "x".repeat(2001) }),
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
			problems.filter((one) => !/simulated|1006/.test(String(one))),
			[],
		);
	},
});

client.disconnect(false);
