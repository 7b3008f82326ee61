// The invite tools.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { present, until } from "../../support/until.ts";
import { denyBot, roleNamed, type TestWorld, userNamed, worldTest, writes } from "../../support/world.ts";

const { ManageChannels, ManageGuild, ViewAuditLog, ViewChannel } = PermissionFlagsBits;

function notes(world: TestWorld) {
	const { world: platform } = world.simulator;
	const channel = platform.channels.add(world.guild, { name: "notes" });
	const ada = userNamed(world, "ada");
	return { platform, channel, ada, invites: platform.invites };
}

/** Adds permissions to the bot's own role, or removes them, and waits until the bot has heard of it. */
async function setBits(world: TestWorld, bits: bigint, on: boolean) {
	const role = roleNamed(world, "alpha");
	const without = BigInt(role.permissions) & ~bits;
	const permissions = String(on ? without | bits : without);
	world.simulator.world.roles.edit(world.guild, role, { permissions });
	await world.heard();
}

worldTest("an invite is created as requested, with a lifetime of a day by default", async (world) => {
	const { channel, invites } = notes(world);
	await world.heard();
	const make = async (args: object) => {
		const { text } = await world.call("create_invite", { channel_id: channel.id, ...args });
		return text;
	};
	const text = await make({});
	const [first] = invites.list({ channel_id: channel.id });
	expect(first).toMatchObject({ max_age: 86_400, max_uses: 0 });
	expect(text.split("\n")).toEqual([
		expect.stringContaining(
			`https://discord.gg/${first?.code} leads to #notes (ID: ${channel.id}), times in UTC, now is `,
		),
		expect.stringContaining(`${first?.code} | to #notes`),
	]);
	expect(await make({})).toContain(String(first?.code));
	const other = { max_age: "forever", max_uses: 3, temporary: true };
	expect(await make({ ...other, unique: true })).toContain(
		"| expires: never | used: 0 of 3 | temporary membership | created: ",
	);
	expect(invites.list({ channel_id: channel.id })).toHaveLength(2);
	expect(await make({ max_age: "60d" })).toContain("used: 0 |");
	for (const bad of [{ max_age: "61d" }, { max_uses: 101 }]) expect(await make(bad)).toContain("expected a");
	world.simulator.world.guilds.edit(world.guild, { features: ["INVITES_DISABLED"] });
	expect(await make({})).toStartWith("Discord created no invite: invites are paused or disabled in this guild.");
});

worldTest("invites are listed newest first, with uses if the bot manages the guild", async (world) => {
	const { channel, invites, ada } = notes(world);
	await setBits(world, ManageGuild, true);
	const none = await world.call("list_invites", { channel_ids: channel.id });
	expect(none.text).toBe(`There is no invite to #notes (ID: ${channel.id}).`);
	const at = (created_at: string) => invites.add(channel, { inviter: ada, max_age: 0, created_at });
	const old = at("2026-01-31T12:00:00.000Z");
	const late = at("2026-02-01T12:00:00.000Z");
	invites.use(old);
	const other = world.simulator.world.channels.add(world.guild, { name: "other" });
	await world.heard();
	const both = await world.call("list_invites", { channel_ids: [channel.id, other.id] });
	expect(both.text).toStartWith(`2 invite(s) to #notes (ID: ${channel.id}), #other (ID: ${other.id}), newest first`);
	const { text } = await world.call("list_invites");
	expect(text.split("\n")).toEqual([
		expect.stringMatching(
			/^2 invite\(s\) to the guild, newest first, times in UTC, now is \S+Z\. Links: https:\/\/discord\.gg\/CODE$/,
		),
		expect.stringContaining(
			`${late.code} | to #notes (ID: ${channel.id}) | by @ada (ID: ${ada.id}) | expires: never | used: 0 | created: 2026-02-01T12:00:00Z`,
		),
		expect.stringContaining(`${old.code} | `),
	]);
	expect(text).toContain("| used: 1 |");
	await setBits(world, ManageGuild, false);
	const partial = await world.call("list_invites");
	expect(partial.text).toContain("in Discord's order");
	expect(partial.text).not.toContain("used: ");
	expect(partial.text).toContain("only with MANAGE_GUILD.");
	await setBits(world, ViewAuditLog, false);
	const refused = await world.call("list_invites");
	expect(refused.text).toContain("lacks MANAGE_GUILD in the guild");
});

worldTest("a link is accepted as its code", async (world) => {
	const { channel, invites, ada } = notes(world);
	const { code } = invites.add(channel, { inviter: ada });
	await world.heard();
	for (const invite_code of [
		code,
		` ${code}\n`,
		`https://discord.gg/${code}`,
		`discord.gg/${code}`,
		`https://discord.com/invite/${code}?event=1`,
		`https://www.discordapp.com/invite/${code}/`,
	]) {
		const { text } = await world.call("get_invite", { invite_code });
		expect(text).toStartWith(`${code} | to #not`);
	}
});

worldTest.each([
	["MANAGE_CHANNELS in it or MANAGE_GUILD", ManageChannels, "MANAGE_CHANNELS"],
	["MANAGE_GUILD if the bot does not see it", ViewChannel, "VIEW_CHANNEL"],
])("deleting a channel's invite requires %s", async (world, _, denied, lacking) => {
	const { channel, invites, ada } = notes(world);
	const { code } = invites.add(channel, { inviter: ada });
	await denyBot(world, channel, denied);
	await setBits(world, ManageGuild, false);
	await setBits(world, ManageChannels, true);
	const remove = () => world.call("delete_invite", { invite_codes: [code] });
	expect((await remove()).text).toContain(
		`lacks ${lacking} in ${denied === ViewChannel ? "a channel that the bot cannot see" : "#notes"}`,
	);
	expect(invites.get(code)?.code).toBe(code);
	await setBits(world, ManageGuild, true);
	expect((await remove()).text).toStartWith(`Deleted 1 of 1 invite(s):\n${code} | `);
	expect(invites.get(code)).toBeUndefined();
	expect((await remove()).text).toContain(`There is no invite ${code} to`);
});

worldTest("several invites are deleted at once, and codes that are not found are named", async (world) => {
	const { channel, invites, ada } = notes(world);
	const codes = [1, 2, 3].map(() => invites.add(channel, { inviter: ada }).code);
	await world.heard();
	const [first = "", second = "", third = ""] = codes;
	const invite_codes = [first, `https://discord.gg/${second}`, "no-such-code"];
	const dry = await world.call("delete_invite", { invite_codes, dry_run: true });
	expect(dry.text).toMatch(
		/^Dry run: nothing was done\.\nWould delete 2 invite\(s\), whose links would stop working; now is \S+Z:\n/,
	);
	expect(dry.text).toContain(`\n${first} | to #not`);
	expect(dry.text).toEndWith("\n1 not found in the guild: no-such-code");
	expect(writes(world)).toEqual([]);
	const { text, isError } = await world.call("delete_invite", { invite_codes });
	expect(isError).toBe(false);
	expect(text).toStartWith(`Deleted 2 of 2 invite(s):\n${first} | `);
	expect(codes.map((code) => invites.get(code)?.code)).toEqual([undefined, undefined, third]);
	const again = await world.expectError("delete_invite", { invite_codes });
	expect(again).toContain(`There is no invite ${first}, ${second}, no-such-code to the guild`);
	const last = await world.call("delete_invite", { invite_codes: [third] });
	expect(last.text).toStartWith(`Deleted 1 of 1 invite(s):\n${third} | `);
});

worldTest("several invites are deleted without MANAGE_GUILD only where the bot manages the channels", async (world) => {
	const { channel, invites, ada } = notes(world);
	const other = world.simulator.world.channels.add(world.guild, { name: "den" });
	const codes = [channel, other].map((place) => invites.add(place, { inviter: ada }).code);
	await denyBot(world, channel, ManageChannels);
	await setBits(world, ManageGuild, false);
	await setBits(world, ManageChannels, true);
	const remove = (invite_codes: string[]) => world.call("delete_invite", { invite_codes });
	const refused = await remove(codes);
	expect(refused.text).toContain("lacks MANAGE_CHANNELS in #notes");
	expect(writes(world)).toEqual([]);
	const { text } = await remove(codes.slice(1));
	expect(text).toStartWith(`Deleted 1 of 1 invite(s):\n${codes[1]} | `);
});

worldTest("the store keeps only the length of a code", async (world) => {
	const { channel, invites, ada } = notes(world);
	const { code } = invites.add(channel, { inviter: ada });
	await world.heard();
	await world.call("get_invite", { invite_code: code });
	const text = await until("the call is on record", async () => {
		const { text } = await world.call("list_recent_tool_calls");
		return text.includes("get_invite") && text;
	});
	expect(text).toContain("[8 characters]");
	expect([text, ...world.logged].join("\n")).not.toContain(code);
});

worldTest("an invite gives roles that the bot may give, and no others", async (world) => {
	const { channel, invites, platform } = notes(world);
	const { guild } = world;
	const cook = platform.roles.add(guild, { name: "Cook | a\nb" });
	await world.heard();
	const make = async (...role_ids: string[]) =>
		(await world.call("create_invite", { channel_id: channel.id, role_ids })).text;
	const own = present([...guild.roles.values()].find(({ tags }) => tags));
	expect(await make(cook.id, own.id)).toContain("does not rank below the bot");
	expect(await make(guild.id)).toContain("cannot be assigned or removed");
	await setBits(world, PermissionFlagsBits.ManageRoles, false);
	expect(await make(cook.id)).toStartWith("The bot lacks MANAGE_ROLES");
	expect(invites.list({ channel_id: channel.id })).toEqual([]);
	await setBits(world, PermissionFlagsBits.ManageRoles, true);
	const gives = `| gives: @Cook \\| a\\nb (ID: ${cook.id}) |`;
	expect(await make(cook.id)).toContain(gives);
	const [made] = invites.list({ channel_id: channel.id });
	expect(made?.role_ids).toEqual([cook.id]);
	const shown = await world.call("get_invite", { invite_code: made?.code });
	expect(shown.text).toContain(gives);
});
