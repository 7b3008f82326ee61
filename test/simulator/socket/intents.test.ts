// Privileged intents, which need consent in the developer portal.

import { expect, test } from "bun:test";
import { Client, GatewayIntentBits as Intent } from "discord.js";
import { connect, startSimulator } from "../support.ts";

const seed = {
	bots: [{ username: "blind", privilegedIntents: [] }],
	users: [{ username: "ada" }],
	guilds: [
		{ name: "G", owner: "ada", bots: [{ username: "blind", permissions: 0n }], channels: [{ name: "general" }] },
	],
};

test("a bot without consent to read content cannot identify with the intent", async () => {
	await using simulator = await startSimulator({ seed });
	const client = new Client({
		rest: { api: simulator.api },
		intents: [Intent.Guilds, Intent.GuildMessages, Intent.MessageContent],
	});
	const refused = await client.login(simulator.bot("blind").token).then(
		() => undefined,
		(error: unknown) => String(error),
	);
	await client.destroy();
	expect(refused).toContain("disallowed intents");
	expect(simulator.sockets.connected).toEqual([]);
});

test("without the intent for messages it receives none, but still interactions", async () => {
	await using simulator = await startSimulator({ seed });
	await using bot = await connect(simulator, "blind", [Intent.Guilds]);
	await bot.client.application.commands.set([{ name: "ping", description: "Pong" }]);
	await simulator.user("ada").say("general", "hidden");
	await simulator.user("ada").run("general", "ping");
	await bot.event("INTERACTION_CREATE");
	expect(bot.events.some(({ t }) => t === "MESSAGE_CREATE")).toBe(false);
});
