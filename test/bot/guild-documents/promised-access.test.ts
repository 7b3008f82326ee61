// A job ends as done only when the guild has what its plan promised: the access of moved channels, and members' roles.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { readGuildState } from "../../../src/bot/guild-documents/read/read-guild.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { until } from "../../support/until.ts";
import { channelNamed, roleNamed } from "../../support/world.ts";
import { startService } from "./running-service.ts";

/** The reads of the guild before the one with which a job would end: by plan, apply, and the job's first round. */
const readsBefore = 3;

/** A channel to move into a read-only category, and a role to give. `undo` is called before each later read. */
async function scene(undo: (simulator: Simulator, times: number) => void) {
	let reads = 0;
	const running = await startService({
		hasRealRules: true,
		prepare(simulator) {
			const guild = simulator.guild("The Cooks");
			const { channels, roles } = simulator.world;
			channels.add(guild, {
				name: "Season",
				type: ChannelType.GuildCategory,
				permission_overwrites: [{ id: guild.id, type: 0, allow: "0", deny: String(PermissionFlagsBits.SendMessages) }],
			});
			channels.add(guild, { name: "place", type: ChannelType.GuildText });
			roles.add(guild, { name: "Guests" });
		},
		rules: {
			async read(guild, parts) {
				reads += 1;
				const times = reads - readsBefore;
				if (times > 0) {
					undo(running.bot.simulator, times);
					await until("the bot has heard of it", () => isHeard());
				}
				return readGuildState(guild, parts, running.bot);
			},
		},
	});
	const { bot } = running;
	const channel = channelNamed(bot, "place");
	const id = bot.guild.owner_id;
	const held = () => bot.guild.members.get(id)?.roles ?? [];
	const isHeard = () => {
		const seen = running.guild().members.cache.get(id)?.roles.cache;
		return held().every((role) => seen?.has(role)) && seen?.size === held().length + 1;
	};
	const jobId = await running.apply({
		categories: [{ name: "Season", channels: [{ name: "place", id: channel.id }] }],
		members: [{ id, roles: ["Guests"] }],
	});
	const text = await until("the job ends", async () => {
		const shown = await running.service().job(jobId);
		return shown.includes("ended 2") && shown;
	});
	return {
		text,
		channel,
		category: channelNamed(bot, "Season"),
		hasRole: () => held().includes(roleNamed(bot, "Guests").id),
		[Symbol.asyncDispose]: running[Symbol.asyncDispose],
	};
}

const loseAccess = (simulator: Simulator) =>
	simulator.world.channels.edit(channelNamed(simulator, "place"), { permission_overwrites: [] });
const loseRoles = (simulator: Simulator) => {
	const guild = simulator.guild("The Cooks");
	const owner = guild.members.get(guild.owner_id);
	if (owner) simulator.world.members.edit(guild, owner, { roles: [] });
};

test("what was lost meanwhile is given again", async () => {
	await using it = await scene((simulator, times) => {
		if (times > 1) return;
		loseAccess(simulator);
		loseRoles(simulator);
	});
	expect(it.text).toContain(": done, ");
	expect(it.text).toContain("nothing of the plan is left to do");
	expect(it.channel.permission_overwrites).toEqual(it.category.permission_overwrites);
	expect(it.hasRole()).toBe(true);
});

test.each([
	["the access of a moved channel", loseAccess, "edit channel #place"],
	["a member's role", loseRoles, "assign role Guests of member "],
] as const)("a job that does not get %s is not done", async (_, lose, what) => {
	await using it = await scene(lose);
	expect(it.text).toContain("ended, not everything was done");
	expect(it.text).not.toContain("nothing of the plan is left to do");
	expect(it.text).toContain(`failed: ${what}`);
	expect(it.text).toContain("it was done 3 times and is still different");
});
