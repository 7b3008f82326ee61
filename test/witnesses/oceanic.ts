// The claims with Oceanic: what libraries read in their own ways. What routes do: test/simulator/rest/routes. https://github.com/OceanicJS/Oceanic

import assert from "node:assert/strict";
import {
	ButtonStyles,
	ChannelTypes,
	Client,
	type ClientEvents,
	ComponentTypes,
	DiscordRESTError,
	InteractionTypes,
	OverwriteTypes,
	Permissions,
} from "oceanic.js";
import { check, findSimulator, listener } from "./claims.ts";

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
