// Guild documents of a guild with channels that the bot may not view: nothing is lost from them, and nothing is made twice.

import { expect } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildDocument } from "../../../src/guild-document/format/document.ts";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../support/test-with.ts";
import { denyBot, startWorld, type TestWorld } from "../../support/world.ts";

const hidingTest = testWith(() => startHiding());

const { ViewChannel } = PermissionFlagsBits;

/** A world with a category "Back" and the channel "staff" in it, and a channel "notes", which the guild refers to. */
async function startHiding() {
	const world = await startWorld();
	const { simulator, guild } = world;
	const { channels, guilds } = simulator.world;
	const back = channels.add(guild, { name: "Back", type: ChannelType.GuildCategory });
	const staff = channels.add(guild, { name: "staff", topic: "secret", parent_id: back.id });
	const notes = channels.add(guild, { name: "notes", topic: "to do" });
	guilds.edit(guild, { system_channel_id: notes.id });
	const hidden = [back, staff, notes];
	const bot = { id: simulator.bot("alpha").id, type: 1 } as const;
	const close = () => world[Symbol.asyncDispose]();
	await world.heard();
	return {
		world,
		hidden,
		staff,
		notes,
		async hide() {
			for (const one of hidden) channels.setOverwrite(one, { ...bot, allow: "0", deny: String(ViewChannel) });
			await world.heard();
		},
		async show() {
			for (const one of hidden) {
				const own = one.permission_overwrites.find(({ id }) => id === bot.id);
				if (own) channels.removeOverwrite(one, own);
			}
			await world.heard();
		},
		[Symbol.asyncDispose]: close,
	};
}

async function exported({ call }: TestWorld) {
	const { text } = await call("export_guild");
	const at = text.indexOf("{");
	return { document: JSON.parse(text.slice(at)) as GuildDocument, missing: text.slice(0, at) };
}

const planned = async ({ call }: TestWorld, document: object, args: object = {}) =>
	(await call("plan_guild", { document, ...args })).text;

const snapshot = (channels: readonly GuildChannel[]) => structuredClone(channels.map((one) => ({ ...one })));

hidingTest("an export names what the bot cannot see, and keeps references to it", async (hiding) => {
	const { world, hidden, notes, staff } = hiding;
	const { guild, simulator } = world;
	const open = simulator.world.channels.add(guild, {
		name: "Open",
		type: ChannelType.GuildCategory,
		permission_overwrites: [{ id: guild.id, type: 0, allow: String(ViewChannel), deny: "0" }],
	});
	await hiding.hide();
	simulator.world.channels.edit(staff, { parent_id: open.id });
	await world.heard();
	const { document, missing } = await exported(world);
	expect(document.categories?.find(({ id }) => id === open.id)).toMatchObject({
		name: "Open",
		channels: [{ name: `unseen (ID ${staff.id})`, id: staff.id, unseen: true }],
	});
	expect(JSON.stringify(document.categories)).not.toContain('"overwrites":[]');
	expect(missing).toStartWith("Missing: channels: the bot cannot see 3 of its channels");
	for (const { id } of hidden) expect(missing).toContain(id);
	const name = `unseen (ID ${notes.id})`;
	expect(document.channels).toContainEqual({ name, id: notes.id, unseen: true });
	expect(document.settings?.system_channel).toBe(name);
	expect(JSON.stringify(document)).not.toMatch(/___hidden___|secret|to do/);
	const again = await exported(world);
	expect(again).toEqual({ document, missing });
	expect(await planned(world, document, { prune: true })).toContain("There is nothing to do.");
});

hidingTest("a document from before the bot lost sight creates no seconds", async (hiding) => {
	const { world, hidden } = hiding;
	const { document } = await exported(world);
	await hiding.hide();
	const before = snapshot(hidden);
	const plan = await planned(world, document, { prune: true });
	expect(plan).toContain("cannot 3\n");
	expect(plan).not.toMatch(/^[+~^-] /m);
	expect(plan).toMatch(
		/^cannot: (.*(Back|staff|notes)){3}: the bot cannot see it, so it neither compares nor changes it$/m,
	);
	// What else the document changes is done.
	const more = await planned(world, { ...document, channels: [...(document.channels ?? []), { name: "new" }] });
	expect(more).toContain("create 1");
	expect(more).toContain("note: new channels: The guild may have them already: the bot cannot see 3");
	const [, hash = ""] = /plan_hash=(\w+)/.exec(more) ?? [];
	const count = world.guild.channels.size;
	const { text } = await world.call("apply_guild", { plan_hash: hash });
	expect(text).toContain("1 of 1");
	expect(world.guild.channels.size).toBe(count + 1);
	expect(snapshot(hidden)).toEqual(before);
});

hidingTest("a document made without sight leaves the channels as they are once the bot sees them", async (hiding) => {
	const { world, hidden } = hiding;
	await hiding.hide();
	const { document } = await exported(world);
	await hiding.show();
	const before = snapshot(hidden);
	const plan = await planned(world, document, { prune: true });
	expect(plan).toContain("There is nothing to do.");
	for (const { name } of hidden) expect(plan).not.toContain(name);
	expect(snapshot(hidden)).toEqual(before);
});

hidingTest("what was not seen and is deleted is not created with an invented name", async (hiding) => {
	const { world, hidden, staff } = hiding;
	await hiding.hide();
	const { document } = await exported(world);
	for (const one of hidden) world.simulator.world.channels.remove(one);
	await world.heard();
	const plan = await planned(world, document);
	expect(plan).not.toMatch(/^\+ /m);
	expect(plan).toContain(`channel unseen (ID ${staff.id})`);
	expect(plan).toContain(`: the guild does not have it, and the document does not describe it`);
});

hidingTest("a channel of which the bot is about to hear that it is hidden is not created again", async (hiding) => {
	const { world } = hiding;
	const { document } = await exported(world);
	world.simulator.sockets.holdEvents(true);
	for (const one of hiding.hidden) await denyBot({ simulator: world.simulator }, one, ViewChannel);
	const plan = await planned(world, document);
	expect(plan).toContain("cannot 3\n");
	expect(plan).not.toMatch(/^\+ /m);
	world.simulator.sockets.holdEvents(false);
});

hidingTest("prune does not delete what the bot cannot see", async (hiding) => {
	const { world, hidden } = hiding;
	await hiding.hide();
	const plan = await planned(world, { version: 1, channels: [], categories: [] }, { prune: true });
	for (const { id } of hidden) {
		expect(plan).toContain(id);
		expect(plan).not.toMatch(new RegExp(`^- .*${id}`, "m"));
	}
});
