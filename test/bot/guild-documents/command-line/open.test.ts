// Guild documents without a running bot: the database is claimed and released, Discord is logged in to and out of.

import { expect, test } from "bun:test";
import { startBot } from "../../../../src/bot/bot.ts";
import { openGuildDocuments } from "../../../../src/bot/guild-documents/command-line/open.ts";
import { CheckFailed } from "../../../../src/lib/program/check.ts";
import { connectedConfig } from "../../../support/bot-config.ts";
import { recordLog } from "../../../support/log.ts";
import { startSimulator } from "../../../support/simulator.ts";
import { onBoth, type Place, storeConfigOf } from "../../../support/stores.ts";
import { until } from "../../../support/until.ts";
import { quickTiming } from "../../../support/world.ts";

onBoth(({ place }) => {
	const { log } = recordLog();
	const options = { needsMembers: false, timing: quickTiming };

	async function setUp() {
		const simulator = await startSimulator();
		return { simulator, config: configOf(simulator, await place()) };
	}

	const configOf = (simulator: Awaited<ReturnType<typeof startSimulator>>, place: Place) =>
		connectedConfig(simulator, { guildId: simulator.guild("The Cooks").id, ...storeConfigOf(place) });

	test("requests are carried out, and a bot can start afterwards", async () => {
		const { simulator, config } = await setUp();
		await using _ = simulator;
		const own = await openGuildDocuments(config, log, { ...options, needsMembers: true });
		const { document, missing } = await own.send("export", { parts: ["roles", "members"] });
		expect(missing).toEqual([]);
		expect(document.members?.length).toBeGreaterThan(0);
		expect(document.channels).toBeUndefined();
		await own.close();

		const bot = startBot(config, log, { timing: quickTiming });
		await using stack = new AsyncDisposableStack();
		stack.defer(() => bot.close());
		await until("the bot has its database", () => bot.loaded);
	});

	test("a database that another process uses is an error, and Discord is not asked", async () => {
		const { simulator, config } = await setUp();
		await using _ = simulator;
		const first = await openGuildDocuments(config, log, options);
		await using stack = new AsyncDisposableStack();
		stack.defer(() => first.close());
		const before = simulator.requests.list().length;
		const second = openGuildDocuments(config, log, options);
		await expect(second).rejects.toThrow(CheckFailed);
		await expect(second).rejects.toThrow(/is in use by .*on the command line/);
		expect(simulator.requests.list()).toHaveLength(before);
	});

	test("a token that Discord refuses is an error, and the database is released", async () => {
		const { simulator, config } = await setUp();
		await using _ = simulator;
		const wrong = { ...config, discordToken: "wrong" };
		await expect(openGuildDocuments(wrong, log, options)).rejects.toThrow("DISCORD_TOKEN");
		const own = await openGuildDocuments(config, log, options);
		await own.close();
	});
});
