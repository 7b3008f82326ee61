// Where moderation is told of when the bot cannot write where the guild wants it.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../../src/simulator/world/state/entities.ts";
import { until } from "../../../support/until.ts";
import {
	type ModerationWorld,
	moderator,
	startModerationWorld,
} from "./moderation-world.ts";

const chosen = "The Cooks/records";

interface Chosen extends AsyncDisposable {
	world: ModerationWorld;
	/** The guild's choice; the operator's is the staff's. */
	channel: GuildChannel;
}

async function startWithChoice(): Promise<Chosen> {
	const world = await startModerationWorld();
	const channel = world.simulator.world.channels.add(world.guild, {
		name: "records",
	});
	expect(await world.ask("ada", `!m setlog <#${channel.id}>`)).toEndWith(
		`in <#${channel.id}>.`,
	);
	await world.noted(1);
	await until("it is told there", () => world.answers(chosen).length === 1);
	return {
		...{ world, channel },
		[Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
	};
}

function setDenied(
	{ simulator }: ModerationWorld,
	channel: GuildChannel,
	deny: bigint,
) {
	simulator.world.channels.setOverwrite(channel, {
		...{ id: simulator.bot("alpha").id, type: 1, allow: "0" },
		deny: String(deny),
	});
}

/** Where it is logged, as `setlog` says. */
const where = (world: ModerationWorld) => world.ask("ada", "!m setlog");

function staff({ guild }: ModerationWorld): GuildChannel {
	for (const channel of guild.channels.values())
		if (channel.name === "staff") return channel;
	throw new Error("there is a channel for the staff");
}

/** The lines that say where it is logged instead, and those that say that something was not told. */
function warnings({ logged }: ModerationWorld): string[] {
	return logged.filter((line) =>
		/falls back to|log channel message failed/.test(line),
	);
}

describe.concurrent("a guild's choice that the bot cannot write to", () => {
	const { EmbedLinks, SendMessages, ViewChannel } = PermissionFlagsBits;
	test.each([
		["is deleted", undefined],
		["is hidden from the bot", ViewChannel],
		["takes no message of the bot's", SendMessages],
		["takes no embed of the bot's", EmbedLinks],
	])(
		"where it %s, the operator's channel has all that follows, and the bot's log says so once",
		async (_, deny) => {
			await using start = await startWithChoice();
			const { world, channel } = start;
			if (deny) setDenied(world, channel, deny);
			else world.simulator.world.channels.remove(channel);
			expect(await where(world)).toContain(`in <#${staff(world).id}>.`);
			await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`);
			await world.ask(moderator, `!m unban ${world.id("zoe")}`);
			const titles = (await world.noted(3)).map(({ title }) => title);
			expect(titles).toEqual(["Moderation log", "Ban", "Unban"]);
			expect(warnings(world)).toEqual([
				expect.stringContaining(
					"moderation log falls back to moderation.log_channel: the bot cannot write to the guild's channel",
				),
			]);
			expect(warnings(world)[0]).toContain(channel.id);
		},
	);

	test("it is told there again when the bot may write there again", async () => {
		await using start = await startWithChoice();
		const { world, channel } = start;
		setDenied(world, channel, SendMessages);
		expect(await where(world)).toContain(`in <#${staff(world).id}>.`);
		setDenied(world, channel, 0n);
		expect(await where(world)).toContain(`in <#${channel.id}>.`);
		await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`);
		await until("it is told there", () => world.answers(chosen).length === 2);
		expect(world.notes()).toHaveLength(1);
	});

	test("nothing goes to the operator's channel where the bot may not write there either", async () => {
		await using start = await startWithChoice();
		const { world, channel } = start;
		setDenied(world, staff(world), SendMessages);
		setDenied(world, channel, SendMessages);
		await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`);
		await until("it is said", () => warnings(world).length > 0);
		expect(warnings(world).join("\n")).toContain("log channel message failed");
		expect(warnings(world).join("\n")).not.toContain("falls back");
		expect(await where(world)).toContain(`in <#${channel.id}>.`);
	});

	test("where moderators have switched it off, the operator's channel is told nothing", async () => {
		await using start = await startWithChoice();
		const { world, channel } = start;
		await world.ask("ada", "!m setlog off");
		world.simulator.world.channels.remove(channel);
		await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`);
		expect(await where(world)).toStartWith("Moderation logging is off.");
		await world.stop();
		expect(world.notes()).toHaveLength(1);
	});
});
