// The moderation log when the bot cannot write to the channel that the guild chose.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { connectTo } from "../../support/mcp.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { type ModerationWorld, moderator, startModerationWorld } from "./moderation-world.ts";

const choiceTest = testWith(startWithChoice);

const chosen = "The Cooks/records";

/** The guild has chosen `channel`; the operator's is the staff channel. */
async function startWithChoice() {
	const world = await startModerationWorld();
	const channel = world.simulator.world.channels.add(world.guild, { name: "records" });
	expect(await world.ask("ada", `!m setlog <#${channel.id}>`)).toContain(`in <#${channel.id}>.`);
	await world.noted(1);
	await until("it is logged there", () => world.answers(chosen).length === 1);
	const dispose = () => world[Symbol.asyncDispose]();
	return { world, channel, [Symbol.asyncDispose]: dispose };
}

function setDenied({ simulator }: ModerationWorld, channel: GuildChannel, deny: bigint) {
	simulator.world.channels.setOverwrite(channel, {
		id: simulator.bot("alpha").id,
		type: 1,
		allow: "0",
		deny: String(deny),
	});
}

/** The answer of `setlog`. */
const where = (world: ModerationWorld) => world.ask("ada", "!m setlog");

function staff({ guild }: ModerationWorld): GuildChannel {
	const found = guild.channels.values().find(({ name }) => name === "staff");
	if (!found) throw new Error("the guild has no staff channel");
	return found;
}

/** The log lines about the fallback, and about entries that were not sent. */
function warnings({ logged }: ModerationWorld): string[] {
	return logged.filter((line) => /using the channel of the setting|could not send log entries/.test(line));
}

describe.concurrent("the guild's channel", () => {
	const { EmbedLinks, SendMessages, ViewChannel } = PermissionFlagsBits;
	test.each([
		["deleted", undefined],
		["hidden from the bot", ViewChannel],
		["closed to the bot's messages", SendMessages],
		["closed to the bot's embeds", EmbedLinks],
	])("%s: the operator's channel is used, and one warning is logged", async (_, deny) => {
		await using start = await startWithChoice();
		const { world, channel } = start;
		if (deny) setDenied(world, channel, deny);
		else world.simulator.world.channels.remove(channel);
		expect(await where(world)).toContain(`in <#${staff(world).id}>.`);
		await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`);
		await world.ask(moderator, `!m unban ${world.id("zoe")}`);
		const titles = (await world.noted(3)).map(({ title }) => title);
		expect(titles).toEqual(["Moderation log", "Temporary ban", "Unban"]);
		expect(warnings(world)).toEqual([
			expect.stringContaining(
				"cannot write to the guild's moderation log channel, using the channel of the setting moderation.log_channel instead",
			),
		]);
		expect(warnings(world)[0]).toContain(channel.id);
	});

	choiceTest("is used again when the bot may write there again", async ({ world, channel }) => {
		setDenied(world, channel, SendMessages);
		expect(await where(world)).toContain(`in <#${staff(world).id}>.`);
		setDenied(world, channel, 0n);
		expect(await where(world)).toContain(`in <#${channel.id}>.`);
		await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`);
		await until("it is logged there", () => world.answers(chosen).length === 2);
		expect(world.notes()).toHaveLength(1);
	});

	choiceTest("is tried if the bot cannot write to the operator's channel either", async ({ world, channel }) => {
		setDenied(world, staff(world), SendMessages);
		setDenied(world, channel, SendMessages);
		await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`);
		await until("it is logged", () => warnings(world).length > 0);
		expect(warnings(world).join("\n")).toContain("could not send log entries to a Discord channel");
		expect(warnings(world).join("\n")).not.toContain("using moderation.log_channel");
		expect(await where(world)).toContain(`in <#${channel.id}>.`);
	});

	choiceTest("turned off is not replaced by the operator's channel", async ({ world, channel }) => {
		await world.ask("ada", "!m setlog off");
		world.simulator.world.channels.remove(channel);
		await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`);
		expect(await where(world)).toStartWith("Moderation logging is off.");
		await world.stop();
		expect(world.notes()).toHaveLength(1);
	});
});

test.each([true, false])(
	"notes and reasons of warnings are in the log of a private channel only: public %p",
	async (isPublic) => {
		await using scene = await startWithChoice();
		const { world, channel } = scene;
		const bits = String(PermissionFlagsBits.ViewChannel);
		const overwrites = [
			{ id: world.guild.id, type: 0 as const, allow: "0", deny: bits },
			{ id: world.simulator.bot("alpha").id, type: 1 as const, allow: bits, deny: "0" },
		];
		if (!isPublic) world.simulator.world.channels.edit(channel, { permission_overwrites: overwrites });
		const warning = "so notes and the reasons of warnings are left out";
		await until("the bot knows the channel", async () => (await where(world)).includes(warning) === isPublic);
		const { call } = await connectTo(world.bot.url);
		const user_ids = [world.id("zoe")];
		const secret = "a suspicion that is nobody's business";
		await call("note_member", { user_ids, note: secret });
		await call("edit_case", { number: 1, reason: `${secret}!` });
		await call("warn_member", { user_ids, reason: secret, tell: false });
		await call("edit_case", { number: 2, reason: `${secret}!` });
		await call("timeout", { user_ids, duration: "1h", reason: "the last one" });
		const posted = () => JSON.stringify(world.answers(chosen).flatMap(({ embeds }) => embeds));
		await until("the last entry", () => posted().includes("the last one"));
		expect(posted().includes(secret)).toBe(!isPublic);
		expect(posted().includes('"Note')).toBe(!isPublic);
		expect(posted()).toContain('"Warning"');
	},
);
