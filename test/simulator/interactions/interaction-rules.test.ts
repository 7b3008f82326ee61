// Refused interactions: without permission, and with late, repeated or invalid responses.

import { describe, expect, test } from "bun:test";
import { MessageFlags, PermissionFlagsBits } from "discord.js";
import type { SimulatorOptions } from "../../../src/simulator/simulator.ts";
import { present, until } from "../../support/until.ts";
import { as } from "../support.ts";
import { general, startAnswering } from "./answering.ts";

const { Ephemeral } = MessageFlags;

describe("permissions", () => {
	test("a command needs the permission and a visible channel", async () => {
		await using world = await startAnswering({});
		const { simulator } = world;
		const guild = simulator.guild("The Cooks");
		const zoe = simulator.user("zoe");
		const options = { code: "ABC" };
		await expect(zoe.run("The Cooks/staff", "verify", options)).rejects.toThrow("Missing Access");
		const everyone = present(guild.roles.get(guild.id));
		const { UseApplicationCommands } = PermissionFlagsBits;
		simulator.world.roles.edit(guild, everyone, {
			permissions: String(BigInt(everyone.permissions) & ~UseApplicationCommands),
		});
		await expect(zoe.run(general, "verify", options)).rejects.toThrow("Missing Permissions");
		await world.ada.run(general, "verify", options);
	});

	test("a command's default member permissions are enforced", async () => {
		await using world = await startAnswering({});
		const { simulator, bot } = world;
		await bot.client.application.commands.set([
			{ name: "sweep", description: "Remove messages", defaultMemberPermissions: PermissionFlagsBits.ManageMessages },
		]);
		await expect(simulator.user("zoe").run(general, "sweep")).rejects.toThrow("Missing Permissions");
		await simulator.user("jose.garcia").run(general, "sweep");
	});

	test.each([
		["no code", {}, "data.options.code"],
		["a long code", { code: "x".repeat(11) }, "data.options.0"],
		["a code that is a number", { code: 7 }, "data.options.0"],
		["too small a number", { code: "A", times: 0 }, "data.options.1"],
		["nobody", { code: "A", who: "1" }, "data.options.1"],
		["an unknown option", { code: "A", x: 1 }, "data.options.1"],
	])("%s is refused", async (_, options, path) => {
		await using world = await startAnswering({});
		const { simulator } = world;
		const given = Object.entries(options).map(([name, value]) => ({ name, value }));
		const answer = await as(simulator, world.ada)("POST", "/interactions", {
			type: 2,
			application_id: simulator.bot("alpha").id,
			guild_id: simulator.guild("The Cooks").id,
			channel_id: simulator.channel(general).id,
			data: { name: "verify", options: given },
		});
		expect(Object.keys(answer.faults)).toEqual([path]);
	});

	test("an unknown command and a bot outside the guild are refused", async () => {
		await using world = await startAnswering({});
		const { simulator, ada } = world;
		await expect(ada.run(general, "dance")).rejects.toThrow("can see no command /dance");
		const ask = (who: string, application: string, name: string) =>
			as(simulator, simulator.user(who))("POST", "/interactions", {
				type: 2,
				application_id: simulator.bot(application).id,
				guild_id: simulator.guild("The Cooks").id,
				channel_id: simulator.channel(general).id,
				data: { name },
			});
		expect((await ask("ada", "alpha", "dance")).code).toBe(10063);
		expect((await ask("ada", "beta", "verify")).code).toBe(10002);
		expect((await ask("alpha", "alpha", "verify")).code).toBe(20001);
		expect((await ask("bob_the_baker", "alpha", "verify")).code).toBe(50001);
	});

	test("commands work in a direct channel with the bot", async () => {
		await using world = await startAnswering({
			command: (interaction) => interaction.reply(`${interaction.guildId} ${interaction.user.username}`),
		});
		const { simulator, ada } = world;
		const opened = await as(simulator, ada)("POST", "/users/@me/channels", { recipient_id: simulator.bot("alpha").id });
		const { id } = opened.json<{ id: string }>();
		const asked = await ada.run(id, "verify", { code: "ABC" });
		expect(await asked.reply()).toMatchObject({ content: "null ada" });
	});
});

describe("tokens", () => {
	/** Runs a command without a response, and returns how to call the routes of its token. */
	async function startWaiting(options: SimulatorOptions = {}) {
		const world = await startAnswering({}, options);
		const { simulator, bot, ada } = world;
		const asked = await ada.run(general, "verify", { code: "ABC" });
		const event = await bot.event("INTERACTION_CREATE");
		const call = async (method: string, path: string, body?: unknown) => {
			const response = await fetch(`${simulator.api}/v10${path}`, {
				method,
				headers: { "content-type": "application/json" },
				...(body ? { body: JSON.stringify(body) } : {}),
			});
			const text = await response.text();
			const { code } = text ? JSON.parse(text) : { code: undefined };
			return { status: response.status, code };
		};
		const callback = `/interactions/${event.id}/${event.token}/callback`;
		const webhook = `/webhooks/${simulator.bot("alpha").id}/${event.token}`;
		return { ...world, asked, call, callback, webhook };
	}

	test("an unknown interaction is 10062, an unknown token 50027, and before the first response there is no webhook", async () => {
		await using waiting = await startWaiting();
		const { call, callback, webhook } = waiting;
		const answer = { type: 4, data: { content: "hi" } };
		const [, , application] = webhook.split("/");
		const wrong = `/webhooks/${application}/x/messages/@original`;
		for (const [method, path, body, status, code] of [
			["POST", "/interactions/1/x/callback", answer, 404, 10062],
			["GET", wrong, undefined, 401, 50027],
			["GET", "/webhooks/1/x/messages/@original", undefined, 404, 10015],
			["POST", webhook, answer.data, 404, 10015],
		] as const)
			expect(await call(method, path, body)).toEqual({ status, code });
		expect((await call("POST", callback, answer)).status).toBe(204);
		expect(await call("GET", `${webhook}/messages/1`)).toEqual({ status: 404, code: 10008 });
		expect((await call("POST", webhook, answer.data)).status).toBe(200);
	});

	test("a token expires", async () => {
		await using waiting = await startWaiting({ timing: { interactionTokenMs: 50 } });
		const { call, callback, webhook } = waiting;
		await call("POST", callback, { type: 5 });
		const original = `${webhook}/messages/@original`;
		await until("it has expired", async () => (await call("GET", original)).code === 50027);
		expect((await call("POST", webhook, { content: "late" })).code).toBe(50027);
	});

	test.each([
		["an unknown type", { type: 99 }, 400, 50035],
		["an empty modal", { type: 9, data: {} }, 400, 50035],
		["suggestions", { type: 8, data: { choices: [] } }, 400, 50035],
		["a premium button", { type: 10 }, 501, 0],
		["a pong", { type: 1 }, 400, 50035],
		["an update of no message", { type: 7, data: {} }, 400, 50035],
		["an empty message", { type: 4, data: {} }, 400, 50006],
		["no type", {}, 400, 50035],
	])("%s is refused as a response to a command", async (_, body, status, code) => {
		await using waiting = await startWaiting();
		const { call, callback, asked } = waiting;
		expect(await call("POST", callback, body)).toEqual({ status, code });
		expect(asked.state).toBe("waiting");
	});

	test("a response in a deleted channel is refused", async () => {
		await using waiting = await startWaiting();
		const { call, callback, webhook, simulator } = waiting;
		await call("POST", callback, { type: 5, data: { flags: Ephemeral } });
		simulator.world.guilds.remove(simulator.guild("The Cooks"));
		const answer = await call("POST", webhook, { content: "<@1> hi" });
		expect(answer).toEqual({ status: 404, code: 10003 });
	});

	test("a follow-up completes a deferred response", async () => {
		await using waiting = await startWaiting();
		const { call, callback, webhook, asked } = waiting;
		await call("POST", callback, { type: 5, data: { flags: Ephemeral } });
		await call("POST", webhook, { content: "there" });
		expect(await asked.reply()).toMatchObject({ content: "there", ephemeral: true, followUps: [] });
	});

	test("responses are exempt from the global rate limit", async () => {
		await using waiting = await startWaiting({
			rateLimits: { global: { requests: 3, perMs: 60_000 }, each: { requests: 100, perMs: 60_000 } },
		});
		const { call, callback, webhook, simulator } = waiting;
		expect((await call("POST", callback, { type: 5 })).status).toBe(204);
		for (let number = 0; number < 5; number += 1)
			expect((await call("POST", webhook, { content: "x" })).status).toBe(200);
		const alpha = as(simulator, simulator.bot("alpha"));
		const statuses = [];
		for (let number = 0; number < 3; number += 1) statuses.push((await alpha("GET", "/users/@me")).status);
		expect(statuses).toContain(429);
	});
});
