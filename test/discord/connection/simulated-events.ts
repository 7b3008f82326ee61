// An event of each type that the simulator sends, as a bot with all intents receives it.

import { GatewayIntentBits } from "discord.js";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { as, connect, cooksOf } from "../../simulator/support.ts";

const image = `data:image/gif;base64,${Buffer.from("GIF89a--").toString("base64")}`;
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const components = [
	{ type: 1, components: [{ type: 2, style: 1, label: "Press", custom_id: "x", emoji: { name: "👍" } }] },
	{ type: 1, components: [{ type: 3, custom_id: "y", options: [{ label: "l", value: "v", description: "d" }] }] },
];
const embeds = [{ title: "t", footer: { text: "f" }, author: { name: "a" }, fields: [{ name: "n", value: "v" }] }];
const poll = { question: { text: "q" }, answers: [{ poll_media: { text: "a" } }, { poll_media: { text: "b" } }] };
const blocked = [{ type: 1, metadata: { custom_message: "m" } }];

/** Does in The Cooks what causes them. Messages, members and channels that later events refer to stay until the end. */
export async function simulatedEvents(simulator: Simulator): Promise<[type: string, data: object][]> {
	const intents = Object.values(GatewayIntentBits).filter((bit) => typeof bit === "number");
	await using watching = await connect(simulator, "alpha", intents);
	const seen = new Map<string, [type: string, data: object]>();
	simulator.sockets.alterEvents((type, data) => {
		// Commands, buttons and menus have one type of event.
		const { component_type } = (data as { data?: { component_type?: number } }).data ?? {};
		seen.set(`${type} ${component_type}`, [type, JSON.parse(JSON.stringify(data))]);
		return data;
	});
	const { world, guild, channel, channelNamed, member, deny } = cooksOf(simulator);
	const person = simulator.user("ada");
	const [ada, alpha] = [as(simulator, person), as(simulator, simulator.bot("alpha"))];
	const made = async (by: typeof ada, path: string, body: object) =>
		(await by("POST", path, body)).json<{ id: string; code: string }>();
	const [inGuild, inChannel] = [`/guilds/${guild.id}`, `/channels/${channel.id}`];
	const zoe = member("zoe");

	const role = await made(ada, `${inGuild}/roles`, { name: "Sample" });
	await ada("PATCH", `${inGuild}/roles/${role.id}`, { name: "Samples" });
	const other = await made(ada, `${inGuild}/channels`, { name: "sample", topic: "t" });
	await ada("PATCH", `/channels/${other.id}`, { topic: "u" });
	deny(channelNamed("staff"), 0n, zoe.user.id);
	await ada("PATCH", inGuild, { afk_timeout: 900 });
	world.members.edit(guild, zoe, { nick: "Zo", roles: [role.id] });
	world.voice.join(channelNamed("Lounge"), zoe);

	const message = await made(alpha, `${inChannel}/messages`, { content: `<@${zoe.user.id}>`, embeds, components });
	const messagePath = `${inChannel}/messages/${message.id}`;
	const there = { id: message.id, channel_id: channel.id };
	await alpha("PATCH", messagePath, { content: `<@${person.id}>` });
	await ada("POST", `${inChannel}/typing`);
	await ada("PUT", `${messagePath}/reactions/👍/@me`);
	await ada("DELETE", `${messagePath}/reactions/👍/@me`);
	await ada("PUT", `${messagePath}/reactions/👍/@me`);
	await ada("DELETE", `${messagePath}/reactions/👍`);
	await ada("DELETE", `${messagePath}/reactions`);
	await ada("PUT", `${inChannel}/messages/pins/${message.id}`);
	await ada("DELETE", `${inChannel}/messages/pins/${message.id}`);
	const asked = await made(alpha, `${inChannel}/messages`, { poll });
	await person.vote({ id: asked.id, channel_id: channel.id }, 1);
	await person.vote({ id: asked.id, channel_id: channel.id });
	const command = { name: "sample", description: "d", options: [{ type: 6, name: "who", description: "d" }] };
	await alpha("POST", `/applications/${simulator.bot("alpha").id}/guilds/${guild.id}/commands`, command);
	await person.run("The Cooks/general", "sample", { who: zoe.user.id });
	await person.press(there, "Press");
	await person.select(there, "y", "v");

	const thread = await made(ada, `${messagePath}/threads`, { name: "thread" });
	await ada("PATCH", `/channels/${thread.id}`, { name: "threads" });
	await ada("PUT", `/channels/${thread.id}/thread-members/${zoe.user.id}`);
	const invite = await made(ada, `${inChannel}/invites`, { max_uses: 3 });
	await ada("DELETE", `/invites/${invite.code}`);
	await made(ada, `${inChannel}/webhooks`, { name: "news" });
	await made(ada, `${inGuild}/emojis`, { name: "dot", image });
	const time = { scheduled_start_time: inAnHour(), scheduled_end_time: new Date(Date.now() + 7_200_000).toISOString() };
	const event = { name: "n", entity_type: 3, entity_metadata: { location: "l" }, privacy_level: 2, ...time };
	const { id: eventId } = await made(ada, `${inGuild}/scheduled-events`, event);
	await ada("PATCH", `${inGuild}/scheduled-events/${eventId}`, { name: "m" });
	await ada("DELETE", `${inGuild}/scheduled-events/${eventId}`);
	const stage = await made(ada, `${inGuild}/channels`, { name: "stage", type: 13 });
	await ada("POST", "/stage-instances", { channel_id: stage.id, topic: "t" });
	await ada("PATCH", `/stage-instances/${stage.id}`, { topic: "u" });
	await ada("DELETE", `/stage-instances/${stage.id}`);
	const rule = {
		name: "n",
		event_type: 1,
		trigger_type: 1,
		trigger_metadata: { keyword_filter: ["k"] },
		actions: blocked,
	};
	const { id: ruleId } = await made(ada, `${inGuild}/auto-moderation/rules`, { ...rule, enabled: true });
	await ada("PATCH", `${inGuild}/auto-moderation/rules/${ruleId}`, { name: "m" });
	await simulator
		.user("zoe")
		.say("The Cooks/general", "k")
		.catch(() => {});
	await ada("DELETE", `${inGuild}/auto-moderation/rules/${ruleId}`);

	const said = await Promise.all(
		[1, 2, 3].map((content) => made(ada, `${inChannel}/messages`, { content: `${content}` })),
	);
	const [first, ...rest] = said.map(({ id }) => id);
	await ada("DELETE", `${inChannel}/messages/${first}`);
	await alpha("POST", `${inChannel}/messages/bulk-delete`, { messages: rest });
	await ada("DELETE", `/channels/${thread.id}`);
	await ada("DELETE", `${inGuild}/roles/${role.id}`);
	await ada("DELETE", `/channels/${other.id}`);
	const guest = world.users.add({ username: "guest" });
	world.members.add(guild, guest);
	const ban = world.bans.add(guild, guest);
	world.bans.remove(guild, ban);
	const bakers = simulator.guild("The Bakers");
	world.members.remove(bakers, world.members.add(bakers, cooksOf(simulator).user("alpha"), { botPermissions: 8n }));
	await watching.event("GUILD_DELETE");
	simulator.sockets.alterEvents(undefined);
	return [...seen.values()];
}
