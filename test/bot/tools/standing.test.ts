// Checks beyond role permissions, before Discord is asked: timeouts, CONNECT, and mentions that ping nobody.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { tools } from "../../../src/bot/tools/index.ts";
import { until } from "../../support/until.ts";
import { channelNamed, denyBot, memberNamed, startWorld, worldTest, writes } from "../../support/world.ts";

worldTest("a timed out bot says until when, and sends nothing", async (world) => {
	const { simulator, guild } = world;
	const alpha = memberNamed(world, "alpha");
	simulator.world.members.edit(guild, alpha, {
		communication_disabled_until: new Date(Date.now() + 600_000).toISOString(),
	});
	const { id: channel_id } = simulator.channel("The Cooks/general");
	await until("the bot has heard of it", async () => {
		return (await world.call("delete_messages", { channel_id, count: 1, dry_run: true })).isError;
	});
	const { text } = await world.call("send_message", { channel_id, content: "hello" });
	expect(text).toMatch(/^The bot is timed out in the guild \d+ until \S+Z, /);
	expect(writes(world)).toEqual([]);
});

worldTest("editing a voice channel requires CONNECT", async (world) => {
	const channel = channelNamed(world, "Lounge");
	await denyBot(world, channel, PermissionFlagsBits.Connect);
	const { text } = await world.call("edit_channel", { channel_id: channel.id, name: "Quiet" });
	expect(text).toStartWith("The bot lacks CONNECT in #");
});

worldTest("a mention of everyone that would ping nobody is not sent", async (world) => {
	const { simulator } = world;
	const channel = channelNamed(world, "general");
	const channel_id = channel.id;
	await denyBot(world, channel, PermissionFlagsBits.MentionEveryone);
	const send = (mentions: string, content: string) => world.call("send_message", { channel_id, content, mentions });
	const refused = await send("everyone", "@here dinner");
	expect(refused.text).toStartWith("The bot lacks MENTION_EVERYONE in #");
	expect((await send("everyone", "dinner")).isError).toBe(false);
	expect((await send("none", "@everyone dinner")).isError).toBe(false);
	expect(simulator.channel("The Cooks/general").transcript()).toBe("alpha: dinner\nalpha: @everyone dinner");
});

describe("a mention of a role that would ping nobody", () => {
	/** A role that is not mentionable, and a channel in which the bot lacks MENTION_EVERYONE. */
	async function forbidden() {
		const world = await startWorld();
		const { simulator, guild } = world;
		const { world: platform } = simulator;
		const general = channelNamed(world, "general");
		await denyBot(world, general, PermissionFlagsBits.MentionEveryone);
		const role = platform.roles.add(guild, { name: "chefs" });
		const hook = platform.webhooks.add(general, { name: "hook" });
		await world.heard();
		const calls: Record<string, object> = {
			send_message: { channel_id: general.id },
			create_thread: { channel_id: general.id, name: "a" },
			send_webhook_message: { webhook_id: hook.id },
		};
		return { world, general, role, calls, platform, [Symbol.asyncDispose]: world[Symbol.asyncDispose] };
	}

	test("is refused by every tool, with the role and the permission", async () => {
		await using scene = await forbidden();
		const { world, role, calls } = scene;
		for (const [name, args] of Object.entries(calls))
			for (const mentions of ["roles", "everyone"]) {
				const { text, isError } = await world.call(name, {
					...args,
					mentions,
					content: `dinner <@&${role.id}> <@&${role.id}>`,
				});
				expect({ name, isError }).toEqual({ name, isError: true });
				expect(text).toMatch(/^The bot lacks MENTION_EVERYONE in #/);
				expect(text).toContain(`Discord pings nobody for @chefs (ID: ${role.id}), which is not mentionable`);
			}
		const names = tools
			.filter(({ listing }) => Object(listing.inputSchema.properties).mentions?.enum?.includes("roles"))
			.map(({ name }) => name);
		expect(names.sort()).toEqual(Object.keys(calls).sort());
		expect(writes(world)).toEqual([]);
	});

	test("is sent if the role is mentionable or mentions do not ping", async () => {
		await using scene = await forbidden();
		const { world, general, role, platform } = scene;
		const content = `dinner <@&${role.id}> @everyone`;
		const send = (mentions: string) => world.call("send_message", { channel_id: general.id, content, mentions });
		for (const mentions of ["none", "users"]) expect((await send(mentions)).isError).toBe(false);
		platform.roles.edit(world.guild, role, { mentionable: true });
		await world.heard();
		expect((await send("roles")).isError).toBe(false);
		expect(platform.messages.in(general.id).at(-1)?.mention_roles).toEqual([role.id]);
		// Of everyone there is nothing more to say.
		expect((await send("everyone")).text).not.toContain("chefs");
	});
});

worldTest("while Discord's Gateway is disconnected, look-ups say that members may be missing", async (world) => {
	const { simulator } = world;
	simulator.sockets.holdConnections(true);
	simulator.sockets.disconnect({ resumable: true });
	const look = async () => (await world.call("list_members")).text;
	await until("the bot has noticed", async () => (await look()).includes("some are missing"));
	simulator.sockets.holdConnections(false);
	await until("it is back", async () => !(await look()).includes("some are missing"));
});
