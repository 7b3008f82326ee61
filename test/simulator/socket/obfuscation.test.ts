// Channels that a bot may not view: obfuscated by Discord's Gateway, left out over HTTP, and sent whole after a gain of sight.
// https://docs.discord.com/developers/resources/channel#channel-object-obfuscated-channels

import { expect } from "bun:test";
import { ChannelFlags, ChannelType, type Guild, GatewayIntentBits as Intent, PermissionFlagsBits } from "discord.js";
import { until } from "../../support/until.ts";
import { type Cooks, connect, testWith, usualIntents } from "../support.ts";

const { ViewChannel } = PermissionFlagsBits;

/** The Cooks, with a private category "Back" that has a text and a voice channel, and a role that opens them. */
const test = testWith(({ world, guild, member }) => {
	const opener = world.roles.add(guild, { name: "Opener" });
	const permission_overwrites = [
		{ id: guild.id, type: 0, allow: "0", deny: String(ViewChannel) },
		{ id: opener.id, type: 0, allow: String(ViewChannel), deny: "0" },
	] as const;
	const back = world.channels.add(guild, {
		name: "Back",
		type: ChannelType.GuildCategory,
		permission_overwrites: structuredClone(permission_overwrites) as never,
	});
	const inside = { parent_id: back.id };
	const own = () => ({ ...inside, permission_overwrites: structuredClone(permission_overwrites) as never });
	const safe = world.channels.add(guild, { name: "safe", topic: "the code", nsfw: true, ...own() });
	const cellar = world.channels.add(guild, { name: "Cellar", type: ChannelType.GuildVoice, ...own() });
	return { opener, back, safe, cellar, me: member("alpha") };
});

const stateIn = (guild: Guild | undefined, id: string) => {
	const channel = guild?.channels.cache.get(id);
	if (!channel || channel.isThread()) return "missing";
	return channel.flags.has(ChannelFlags.ChannelObfuscated) ? "hidden" : channel.name;
};

test("a channel that the bot may not view is obfuscated in GUILD_CREATE and CHANNEL_CREATE, and left out of GET channels", async ({
	simulator,
	guild,
	world,
	alpha,
	safe,
	back,
	cellar,
	opener,
}) => {
	await using bot = await connect(simulator);
	const { channels } = await bot.event("GUILD_CREATE");
	const sent = (channels as { id: string }[]).find(({ id }) => id === safe.id);
	const hidden = {
		id: safe.id,
		type: ChannelType.GuildText,
		guild_id: guild.id,
		position: safe.position,
		parent_id: back.id,
		name: "___hidden___",
		flags: 1 << 17,
		topic: null,
		nsfw: false,
		permission_overwrites: [{ id: guild.id, type: 0, allow: "0", deny: String(ViewChannel) }],
	};
	expect(sent).toMatchObject(hidden);
	const vault = world.channels.add(guild, {
		name: "vault",
		parent_id: back.id,
		permission_overwrites: [
			{ id: guild.id, type: 0, allow: "0", deny: String(ViewChannel) },
			{ id: opener.id, type: 0, allow: String(ViewChannel), deny: "0" },
		],
	});
	expect(await bot.event("CHANNEL_CREATE")).toMatchObject({ ...hidden, id: vault.id, position: vault.position });
	const listed = (await alpha("GET", `/guilds/${guild.id}/channels`)).json<{ id: string; name: string }[]>();
	const ids = listed.map(({ id }) => id);
	expect(ids).toEqual([...guild.channels.keys()].filter((id) => ![safe.id, back.id, cellar.id, vault.id].includes(id)));
	for (const id of [safe.id, back.id])
		expect(await alpha("GET", `/channels/${id}`)).toMatchObject({ status: 403, code: 50001 });
});

type Given = Cooks & {
	[K in "safe" | "back" | "cellar"]: Cooks["channel"];
} & { opener: ReturnType<Cooks["role"]>; me: ReturnType<Cooks["member"]> };

/** How a bot gains sight, how it loses it again, and what it then sees. */
const ways: Record<string, { gain(given: Given): void; lose(given: Given): void; sees?: string[] }> = {
	"a role of the bot": {
		gain: ({ world, guild, me, opener }) => world.members.edit(guild, me, { roles: [...me.roles, opener.id] }),
		lose: ({ world, guild, me, opener }) =>
			world.members.edit(guild, me, { roles: me.roles.filter((id) => id !== opener.id) }),
	},
	"a role that is deleted": {
		gain: ({ world, guild, me, opener }) => world.members.edit(guild, me, { roles: [...me.roles, opener.id] }),
		lose: ({ world, guild, opener }) => world.roles.remove(guild, opener),
	},
	"a permission of its role": {
		gain: ({ world, guild, me }) => {
			const own = guild.roles.get(me.roles[0] ?? "");
			if (own) world.roles.edit(guild, own, { permissions: String(BigInt(own.permissions) | 8n) });
		},
		lose: ({ world, guild, me }) => {
			const own = guild.roles.get(me.roles[0] ?? "");
			if (own) world.roles.edit(guild, own, { permissions: String(BigInt(own.permissions) & ~8n) });
		},
	},
	"an overwrite of one channel": {
		gain: ({ world, safe, me }) =>
			world.channels.setOverwrite(safe, { id: me.user.id, type: 1, deny: "0", allow: String(ViewChannel) }),
		lose: ({ world, safe, me }) => {
			const own = safe.permission_overwrites.find(({ id }) => id === me.user.id);
			if (own) world.channels.removeOverwrite(safe, own);
		},
		// The category is shown because a channel in it is.
		sees: ["Back", "safe", "hidden"],
	},
	"its voice": {
		gain: ({ world, cellar, me }) => world.voice.join(cellar, me),
		lose: ({ world, guild, me }) => world.voice.leave(guild, me),
		sees: ["Back", "hidden", "Cellar"],
	},
};

for (const [way, { gain, lose, sees = ["Back", "safe", "Cellar"] }] of Object.entries(ways))
	test(`${way} gives sight with CHANNEL_UPDATE, and takes it again`, async (given) => {
		const { simulator, guild, back, safe, cellar, alpha } = given;
		const ids = [back.id, safe.id, cellar.id];
		await using bot = await connect(simulator, "alpha", [...usualIntents, Intent.GuildVoiceStates]);
		const own = bot.client.guilds.cache.get(guild.id);
		const states = () => ids.map((id) => stateIn(own, id));
		const hidden = ["hidden", "hidden", "hidden"];
		expect(states()).toEqual(hidden);
		gain(given);
		await until("sight is gained", () => Bun.deepEquals(states(), sees));
		const listed = (await alpha("GET", `/guilds/${guild.id}/channels`)).json<{ id: string; name: string }[]>();
		expect(ids.map((id) => listed.find((one) => one.id === id)?.name ?? "hidden")).toEqual(sees);
		// discord.js replaces what it knew, and fetching all channels removes none.
		const topic = () => own?.channels.cache.get(safe.id);
		expect(topic()).toMatchObject({ topic: sees.includes("safe") ? "the code" : null });
		const before = own?.channels.cache.size;
		await own?.channels.fetch();
		expect(own?.channels.cache.size).toBe(before ?? 0);
		lose(given);
		await until("sight is lost", () => Bun.deepEquals(states(), hidden));
		expect(topic()).toMatchObject({ topic: null, nsfw: false });
		// One event for each channel that changed, each time.
		const updates = bot.events.filter(({ t }) => t === "CHANNEL_UPDATE");
		expect(updates).toHaveLength(2 * sees.filter((name) => name !== "hidden").length);
		await own?.channels.fetch();
		expect(states()).toEqual(hidden);
	});

test("a channel that is called ___hidden___ is not obfuscated", async ({ simulator, guild, world }) => {
	const { id } = world.channels.add(guild, { name: "___hidden___" });
	await using bot = await connect(simulator);
	expect(stateIn(bot.client.guilds.cache.get(guild.id), id)).toBe("___hidden___");
});
