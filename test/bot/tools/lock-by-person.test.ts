// lock_channel in the name of a moderator who is no administrator: who locks can unlock.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { roleOverwrite } from "../../support/world.ts";
import { type Cast, permit, startCast } from "../person-cast.ts";
import { freshName } from "../tool-rows/scene.ts";
import { settle } from "../tool-scene.ts";

const { Connect } = PermissionFlagsBits;

let cast: Cast & AsyncDisposable;
beforeAll(async () => {
	cast = await startCast();
	const bits = denied.reduce((all, name) => all | PermissionFlagsBits[name], 0n);
	const members = { name: "Members", permissions: String(bits) };
	cast.world.simulator.world.roles.add(cast.guild, members);
});
afterAll(() => cast[Symbol.asyncDispose]());
/** What a lock denies, which a person may deny only with the same permissions. */
const denied = [
	"AddReactions",
	"SendMessages",
	"SendMessagesInThreads",
	"CreatePublicThreads",
	"CreatePrivateThreads",
	"Connect",
	"Speak",
] as const;
beforeEach(() => permit(cast, ["ManageRoles", ...denied]));

function add(type: ChannelType, parent?: GuildChannel): GuildChannel {
	const { world, guild } = cast;
	return world.simulator.world.channels.add(guild, {
		name: freshName(),
		type: type as never,
		...(parent && { parent_id: parent.id }),
	});
}

async function change(channel: GuildChannel, unlock: boolean) {
	await settle(cast);
	return cast.client.call("lock_channel", { channel_ids: [channel.id], unlock });
}

test("a moderator can undo the lock of a voice channel", async () => {
	const lounge = add(ChannelType.GuildVoice);
	const locked = await change(lounge, false);
	expect(locked).toMatchObject({ isError: false });
	expect(locked.text).toContain(`can still connect to unlock it: @${cast.role.name}`);
	expect(lounge.permission_overwrites).toContainEqual({ id: cast.role.id, type: 0, deny: "0", allow: String(Connect) });
	const unlocked = await change(lounge, true);
	expect(unlocked).toMatchObject({ isError: false });
	expect(lounge.permission_overwrites).toEqual([]);
});

test("a moderator by the channel's overwrite for them can undo it, too", async () => {
	const lounge = add(ChannelType.GuildVoice);
	permit(cast, denied);
	const own = { id: cast.person.user.id, type: 1 as const, deny: "0", allow: String(PermissionFlagsBits.ManageRoles) };
	cast.world.simulator.world.channels.setOverwrite(lounge, own);
	expect(await change(lounge, false)).toMatchObject({ isError: false });
	const unlocked = await change(lounge, true);
	expect(unlocked).toMatchObject({ isError: false });
	expect(lounge.permission_overwrites).toEqual([own]);
});

test("in a category, a channel that the moderator cannot change is left, and the others are changed", async () => {
	const category = add(ChannelType.GuildCategory);
	const text = add(ChannelType.GuildText, category);
	const closed = add(ChannelType.GuildVoice, category);
	cast.world.simulator.world.channels.setOverwrite(closed, roleOverwrite(cast.guild.id, { deny: Connect }));
	const locked = await change(category, false);
	expect(locked).toMatchObject({ isError: false });
	expect(locked.text).toMatch(/Not locked: .*: You lack CONNECT/);
	expect((await change(category, true)).isError).toBe(false);
	expect(text.permission_overwrites).toEqual([]);
	const named = await change(closed, false);
	expect(named.text).toContain("You lack CONNECT");
});
