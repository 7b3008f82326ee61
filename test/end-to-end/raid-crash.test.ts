// Raid mode, and the bot as a process that is killed in the middle of turning it on and off. Whatever Discord had done by
// then: it ends with all settings changed, and later with exactly those that were before.

import { expect, test } from "bun:test";
import type { Guild } from "../../src/simulator/world/state/entities.ts";
import { type BotProcess, startBotProcess } from "../support/bot-process.ts";
import { connectTo } from "../support/mcp.ts";
import { startSimulator } from "../support/simulator.ts";
import { botEnvOf, onBoth, type Place } from "../support/stores.ts";
import { until } from "../support/until.ts";

type Simulator = Awaited<ReturnType<typeof startSimulator>>;
type Wanted = "on" | "off";

const pause = "PUT /guilds/:guild_id/incident-actions";
const editGuild = "PATCH /guilds/:guild_id";
const edit = "PATCH /channels/:channel_id";
const limitMs = 240_000;
const channels = 12;

onBoth((databases, kind) => {
	test(
		`a bot that is killed at any request finishes and restores exactly, on ${kind}`,
		async () => {
			await using world = await startWorld(await databases.place());
			const before = world.settings();
			// On PostgreSQL only after the request took effect.
			for (const route of [pause, editGuild, edit])
				for (const after of kind === "SQLite" ? [false, true] : [true])
					for (const wanted of ["on", "off"] as const) {
						await world.killedAt(wanted, { route, after });
						await world.ended(wanted);
						if (wanted === "on") expect(world.settings()).toEqual(world.strict());
						else expect(world.settings()).toEqual(before);
					}
		},
		limitMs,
	);

	test(
		`what people change while the bot is dead is left, on ${kind}`,
		async () => {
			await using world = await startWorld(await databases.place());
			const { simulator, guild } = world;
			const { channels, guilds } = simulator.world;
			const [one, two, three] = world.slow();
			if (!one || !two || !three) throw new Error("there are channels");
			await world.killedAt("on", { route: edit, after: true }, () => {
				channels.remove(three);
				channels.add(guild, { name: "fresh" });
				channels.edit(two, { name: "renamed" });
			});
			await world.ended("on");
			expect(world.settings()).toEqual(world.strict());
			await world.killedAt("off", { route: pause, after: true }, () => {
				channels.edit(one, { rate_limit_per_user: 17 });
				guilds.edit(guild, { verification_level: 4 });
			});
			const text = await world.ended("off");
			expect(one.rate_limit_per_user).toBe(17);
			expect(guild.verification_level).toBe(4);
			expect(two.rate_limit_per_user).toBe(2);
			expect(world.settings().fresh).toBe(0);
			expect(text).toContain("somebody changed it meanwhile");
		},
		limitMs,
	);
});

/** A bot process with raid mode, in a guild whose channels have slow modes of their own. */
async function startWorld(place: Place) {
	const simulator: Simulator = await startSimulator();
	const guild: Guild = simulator.guild("The Cooks");
	for (let index = 0; index < channels; index += 1)
		simulator.world.channels.add(guild, {
			name: `c-${index}`,
			rate_limit_per_user: index,
		});
	const bot: BotProcess = await startBotProcess(
		{
			DISCORD_TOKEN: simulator.bot("alpha").token,
			DISCORD_API_URL: simulator.api,
			GUILD_ID: guild.id,
			...botEnvOf(place),
		},
		'bot_name = "Alpha"\n[features]\nmoderation = true\nchat = false\n[moderation]\n',
	);
	const all = () =>
		[...guild.channels.values()].flatMap((one) =>
			"rate_limit_per_user" in one && one.type !== 4 && one.name !== "staff" ? [one] : [],
		);
	const isPaused = () => guild.incidents_data?.invites_disabled_until != null;
	return {
		...{ simulator, guild },
		slow: () =>
			all()
				.filter(({ name }) => name.startsWith("c-"))
				.slice(1),
		settings: (): Record<string, unknown> => ({
			level: guild.verification_level,
			paused: isPaused(),
			...Object.fromEntries(all().map(({ name, rate_limit_per_user }) => [name, rate_limit_per_user])),
		}),
		/** The settings while raid mode is on. */
		strict: (): Record<string, unknown> => ({
			level: 3,
			paused: true,
			...Object.fromEntries(all().map(({ name }) => [name, 30])),
		}),
		/** Turns it on or off; the bot is killed at a request, before or after Discord has carried it out. */
		async killedAt(
			mode: Wanted,
			{ route, after }: { route: string; after: boolean },
			meanwhile: () => void = () => {},
		) {
			const held = simulator.faults.stall(route, { after });
			const mcp = await connectTo(bot.url);
			// Its response is lost.
			mcp.call("raid_mode", { mode }).catch(() => {});
			await until("it is asked for", () => held.hits > 0);
			await bot.restart("SIGKILL", () => {
				held.release();
				meanwhile();
			});
		},
		/** Raid mode is on or off, and nothing is left to do. Returns its status. */
		ended: (mode: Wanted) =>
			until(`raid mode is ${mode}`, async () => {
				const mcp = await connectTo(bot.url);
				const { text } = await mcp.call("raid_status", {});
				return text.includes(`Raid mode is ${mode},`) && text;
			}),
		async [Symbol.asyncDispose]() {
			await bot[Symbol.asyncDispose]();
			await simulator[Symbol.asyncDispose]();
		},
	};
}
