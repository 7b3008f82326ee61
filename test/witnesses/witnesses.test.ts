// Another Discord library uses the simulator: what it expects of Discord, nobody here has written. It runs in a process of
// its own, with the dependencies of this folder.

import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { bunIn } from "../support/run-bun.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";
import type { Outcome } from "./claims.ts";

const run = bunIn(import.meta.dir);

beforeAll(async () => {
	await run("install", "--frozen-lockfile");
});

test("its checks have no type errors", async () => {
	await run("../../node_modules/.bin/tsc", "--project", ".");
});

test("Oceanic finds in the simulator what it expects of Discord", async () => {
	await using simulator = await startSimulator({ onlyResponses: true });
	const { out } = await run("oceanic.ts", simulator.url);
	const lines = out.split("\n").filter((line) => line.startsWith("{"));
	const outcomes = lines.map((line) => JSON.parse(line) as Outcome);
	expect(outcomes.filter(({ error }) => error)).toEqual([]);
	expect(outcomes).toHaveLength(12);
});

// An unchanged bot of a framework on discord.js, as src/simulator/README.md redirects it.
describe("a Sapphire bot", () => {
	const redirect = join(import.meta.dir, "../../src/simulator/redirect.cjs");
	const runtimes = {
		bun: { command: [process.execPath, "--preload", redirect], env: {} },
		node: { command: ["node"], env: { NODE_OPTIONS: `--require ${redirect}` } },
	};

	async function startBot(runtime: keyof typeof runtimes) {
		const simulator = await startSimulator({ onlyResponses: true });
		const { command, env } = runtimes[runtime];
		const child = Bun.spawn([...command, "main.js"], {
			cwd: join(import.meta.dir, "sapphire-bot"),
			env: { ...process.env, ...env, SIMULATOR_URL: simulator.url, DISCORD_TOKEN: simulator.bot("alpha").token },
			stdout: "ignore",
			stderr: "inherit",
		});
		const ada = simulator.user("ada");
		await until("the bot is ready", () => ada.commands("The Cooks/general").some(({ name }) => name === "menu"));
		return {
			simulator,
			ada,
			/** Resolves when a channel of the Cooks has a message that fits. */
			said: (channel: string, fits: RegExp) =>
				until(`${fits} in ${channel}`, () => fits.test(simulator.channel(`The Cooks/${channel}`).transcript())),
			async [Symbol.asyncDispose]() {
				child.kill();
				await child.exited;
				await simulator.close();
			},
		};
	}

	test.each(Object.keys(runtimes) as (keyof typeof runtimes)[])(
		"runs on %s with commands, preconditions, cooldowns, a button and a listener",
		async (runtime) => {
			await using bot = await startBot(runtime);
			const { simulator, ada, said } = bot;
			const { world } = simulator;
			const asked = await ada.run("The Cooks/general", "menu", { meal: "tea" });
			const reply = await asked.reply();
			expect(reply.embeds).toMatchObject([{ title: "Menu for tea", fields: [{ name: "Soup", value: "Onion" }] }]);
			const pressed = await ada.press(reply, "Order");
			expect(await pressed.reply()).toMatchObject({ content: "Ordered.", ephemeral: true });
			const again = await ada.run("The Cooks/general", "menu", { meal: "tea" });
			expect((await again.reply()).content).toStartWith("There is a cooldown");

			await ada.say("The Cooks/staff", "!menu tea");
			await said("staff", /^alpha: Not among the staff\.$/m);
			const mona = simulator.user("mona_lisa");
			const { id } = await mona.say("The Cooks/general", "!menu supper");
			const { channel } = simulator.channel("The Cooks/general");
			const answer = await until("the command is answered", () =>
				world.messages.in(channel.id).find(({ message_reference: to }) => to?.message_id === id),
			);
			expect(answer.embeds).toMatchObject([{ title: "Menu for supper" }]);

			const guest = world.users.add({ username: "guest" });
			world.members.add(simulator.guild("The Cooks"), guest);
			await said("general", new RegExp(`^alpha: Welcome, <@${guest.id}>!$`, "m"));
			expect(simulator.unknownRoutes).toEqual([]);
		},
	);
});
