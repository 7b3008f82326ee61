// Custom emoji: permissions, limits, and where they can be used.

import { expect } from "bun:test";
import { AuditLogEvent, GatewayIntentBits as Intent, PermissionFlagsBits } from "discord.js";
import { type Cooks, connect, testWith } from "../../support.ts";

const png = Buffer.from("\x89PNG\r\n\x1a\nxxxx", "latin1");
const picture = `data:image/png;base64,${png.toString("base64")}`;

const test = testWith(({ guild }) => ({ emojis: `/guilds/${guild.id}/emojis` }));

/** Gives the bot these permissions, and no others. */
function allow({ world, guild, role }: Cooks, ...permissions: bigint[]): void {
	world.roles.edit(guild, role("alpha"), { permissions: String(permissions.reduce((all, bit) => all | bit, 0n)) });
}

const { CreateGuildExpressions, ManageGuildExpressions, UseExternalEmojis } = PermissionFlagsBits;

test("discord.js creates, edits and deletes an emoji, with events and audit log entries", async (given) => {
	const { guild, simulator } = given;
	await using bot = await connect(simulator, "alpha", [Intent.Guilds, Intent.GuildExpressions]);
	const found = await bot.client.guilds.fetch(guild.id);
	const made = await found.emojis.create({ attachment: png, name: "soup", reason: "hungry" });
	expect(guild.emojis.get(made.id)).toMatchObject({
		name: "soup",
		animated: false,
		roles: [],
		user: { username: "alpha" },
	});
	expect(await bot.event("GUILD_EMOJIS_UPDATE")).toEqual({
		guild_id: guild.id,
		emojis: [
			{ id: made.id, name: "soup", roles: [], animated: false, require_colons: true, managed: false, available: true },
		],
	});
	const [role = ""] = guild.roles.keys();
	await made.edit({ name: "stew", roles: [role] });
	expect(guild.emojis.get(made.id)).toMatchObject({ name: "stew", roles: [role] });
	await made.delete("eaten");
	await bot.event("GUILD_EMOJIS_UPDATE", ({ emojis }) => (emojis as unknown[]).length === 0);
	expect(guild.emojis.size).toBe(0);
	expect(guild.auditLog.slice(-3)).toMatchObject([
		{
			action_type: AuditLogEvent.EmojiCreate,
			target_id: made.id,
			changes: [{ key: "name", new_value: "soup" }],
			reason: "hungry",
		},
		{
			action_type: AuditLogEvent.EmojiUpdate,
			changes: [{ key: "name", old_value: "soup", new_value: "stew" }, { key: "roles" }],
		},
		{ action_type: AuditLogEvent.EmojiDelete, changes: [{ key: "name", old_value: "stew" }], reason: "eaten" },
	]);
});

test("a bot receives the emoji when it starts, and no changes without the intent", async (given) => {
	const { guild, user, simulator } = given;
	const { id } = simulator.world.emojis.add(guild, user("ada"), { name: "soup" });
	await using bot = await connect(simulator);
	expect(bot.client.emojis.cache.get(id)?.name).toBe("soup");
	simulator.world.emojis.add(guild, user("ada"), { name: "stew" });
	simulator.world.guilds.edit(guild, { name: "Cooks" });
	await bot.event("GUILD_UPDATE");
	expect(bot.events.map(({ t }) => t)).not.toContain("GUILD_EMOJIS_UPDATE");
});

test("the creator of an emoji is shown to those who can create or manage emoji", async (given) => {
	const { guild, user, alpha, emojis, simulator } = given;
	const add = (name: string) => simulator.world.emojis.add(guild, user(name), { name: `${name}_s` });
	const [own, other] = [add("alpha"), add("ada")];
	const shown = async () => {
		const list = (await alpha("GET", emojis)).json<{ user?: object }[]>();
		const one = async (id: string) => "user" in (await alpha("GET", `${emojis}/${id}`)).json();
		return [list.map((emoji) => "user" in emoji), await one(own.id), await one(other.id)];
	};
	allow(given);
	expect(await shown()).toEqual([[false, false], false, false]);
	allow(given, CreateGuildExpressions);
	expect(await shown()).toEqual([[true, true], true, false]);
	allow(given, ManageGuildExpressions);
	expect(await shown()).toEqual([[true, true], true, true]);
	expect((await alpha("GET", `${emojis}/1`)).code).toBe(10014);
});

test("creating needs CREATE_, own emoji either, others' MANAGE_GUILD_EXPRESSIONS", async (given) => {
	const { guild, user, alpha, emojis, simulator } = given;
	const codes = async () => {
		const own = simulator.world.emojis.add(guild, user("alpha"), { name: "own" });
		const other = simulator.world.emojis.add(guild, user("ada"), { name: "other" });
		const calls = [
			await alpha("POST", emojis, { name: "made", image: picture }),
			await alpha("PATCH", `${emojis}/${own.id}`, { name: "mine" }),
			await alpha("DELETE", `${emojis}/${own.id}`),
			await alpha("PATCH", `${emojis}/${other.id}`, { name: "mine" }),
			await alpha("DELETE", `${emojis}/${other.id}`),
		];
		return calls.map(({ code, status }) => code ?? status);
	};
	allow(given);
	expect(await codes()).toEqual([50013, 50013, 50013, 50013, 50013]);
	allow(given, CreateGuildExpressions);
	expect(await codes()).toEqual([201, 200, 204, 50013, 50013]);
	allow(given, ManageGuildExpressions);
	expect(await codes()).toEqual([50013, 200, 204, 200, 204]);
});

test("invalid names, images and roles are refused", async ({ alpha, emojis }) => {
	const faults = async (body: object) =>
		(await alpha("POST", emojis, { name: "soup", image: picture, ...body })).faults;
	expect(await faults({ name: "x" })).toEqual({ name: "BASE_TYPE_BAD_LENGTH" });
	expect(await faults({ name: "a soup" })).toEqual({ name: "STRING_TYPE_REGEX" });
	for (const image of ["soup", "data:image/png;base64,AAAA", "data:,x"])
		expect(await faults({ image })).toEqual({ image: "IMAGE_INVALID" });
	const sized = (kib: number) => {
		const large = Buffer.concat([png, Buffer.alloc(kib * 1024)]);
		const image = `data:image/png;base64,${large.toString("base64")}`;
		return alpha("POST", emojis, { name: "soup", image });
	};
	expect((await sized(256)).code).toBe(50045);
	expect((await sized(2048)).faults).toEqual({ image: "BINARY_TYPE_MAX_SIZE" });
	const roles = ["1"];
	const body = { name: "soup", image: picture, roles };
	expect((await alpha("POST", emojis, body)).code).toBe(10011);
});

test("reacting with another guild's emoji needs USE_EXTERNAL_EMOJIS", async (given) => {
	const { guild, user, alpha, simulator, channel, deny } = given;
	const bakers = simulator.guild("The Bakers");
	const { world } = simulator;
	const soup = world.emojis.add(guild, user("ada"), { name: "soup", animated: true });
	const bread = world.emojis.add(bakers, user("zoe"), { name: "bread" });
	const said = await simulator.user("ada").say("The Cooks/general", "hi");
	const react = async (emoji: string) =>
		(await alpha("PUT", `/channels/${said.channel_id}/messages/${said.id}/reactions/${emoji}/@me`)).code;
	expect(await react(`_:${soup.id}`)).toBeUndefined();
	expect(await react(`bread:${bread.id}`)).toBe(10014);
	world.members.add(bakers, user("alpha"));
	expect(await react(`bread:${bread.id}`)).toBeUndefined();
	world.reactions.clear(simulator.channel(said.channel_id).channel, message());
	deny(channel, UseExternalEmojis);
	expect(await react(`bread:${bread.id}`)).toBe(10014);
	expect(await react(`_:${soup.id}`)).toBeUndefined();
	expect(message().reactions.map(({ emoji }) => emoji)).toEqual([{ id: soup.id, name: "soup", animated: true }]);

	function message() {
		const found = world.messages.get(said.channel_id, said.id);
		if (!found) throw new Error("expected the message");
		return found;
	}
});
