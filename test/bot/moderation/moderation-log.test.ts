// The moderation log of each guild, and what is written there.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { connectTo } from "../../support/mcp.ts";
import { until } from "../../support/until.ts";
import { type ModerationWorld, moderationTest, moderator, staffChannel } from "./moderation-world.ts";

const records = "The Cooks/records";

function addRecords({ simulator, guild }: ModerationWorld) {
	return simulator.world.channels.add(guild, { name: "records" });
}

const titlesIn = (world: ModerationWorld, channel: string) =>
	world.answers(channel).flatMap(({ embeds }) => embeds.map((embed) => String(Object(embed).title)));

moderationTest("a change of its channel is noted in the old and the new one", async (world) => {
	const { simulator } = world;
	const { id } = addRecords(world);
	expect(await world.set({ "moderation.log_channel": "#records" })).toContain("everyone can see it, so notes");
	const alpha = `<@${simulator.bot("alpha").id}>`;
	const [noted] = await world.noted(1);
	expect(noted).toEqual({
		title: "Moderation log",
		description: `Moderation is now logged in <#${id}>.`,
		Moderator: alpha,
	});
	await until("it is noted there too", () => titlesIn(world, records).length === 1);
	await world.ask(moderator, `!m ban ${world.id("zoe")} 1h`);
	await until("it is logged there", () => titlesIn(world, records).includes("Temporary ban"));
	await world.set({ "moderation.log_channel": null });
	await world.ask(moderator, `!m unban ${world.id("zoe")}`);
	await world.stop();
	expect(titlesIn(world, records)).toEqual(["Moderation log", "Temporary ban", "Moderation log"]);
	expect(titlesIn(world, staffChannel)).toEqual(["Moderation log"]);
});

moderationTest.each([true, false])(
	"notes and reasons of warnings are in the log of a private channel only: public %p",
	async (world, isPublic) => {
		const channel = addRecords(world);
		const bits = String(PermissionFlagsBits.ViewChannel);
		const overwrites = [
			{ id: world.guild.id, type: 0 as const, allow: "0", deny: bits },
			{ id: world.simulator.bot("alpha").id, type: 1 as const, allow: bits, deny: "0" },
		];
		if (!isPublic) world.simulator.world.channels.edit(channel, { permission_overwrites: overwrites });
		await until("the bot knows the channel", async () => {
			const text = await world.set({ "moderation.log_channel": channel.id });
			return text.includes("everyone can see it") === isPublic;
		});
		const { call } = await connectTo(world.bot.url);
		const user_ids = [world.id("zoe")];
		const secret = "a suspicion that is nobody's business";
		await call("note_member", { user_ids, note: secret });
		await call("edit_case", { number: 1, reason: `${secret}!` });
		await call("warn_member", { user_ids, reason: secret, tell: false });
		await call("edit_case", { number: 2, reason: `${secret}!` });
		await call("timeout", { user_ids, duration: "1h", reason: "the last one" });
		const posted = () => JSON.stringify(world.answers(records).flatMap(({ embeds }) => embeds));
		await until("the last entry", () => posted().includes("the last one"));
		expect(posted().includes(secret)).toBe(!isPublic);
		expect(posted().includes('"Note')).toBe(!isPublic);
		expect(posted()).toContain('"Warning"');
	},
);
