// Webhooks: permissions, their messages, and who sees their tokens.

import { expect } from "bun:test";
import { AuditLogEvent, ChannelType, GatewayIntentBits, PermissionFlagsBits, TextChannel } from "discord.js";
import { connect, type Simulator, testWith, usualIntents } from "../../support.ts";

const intents = [...usualIntents, GatewayIntentBits.GuildWebhooks];

const test = testWith(({ channel, user }) => ({ bot: user("alpha"), all: `/channels/${channel.id}/webhooks` }));

/** A call with nothing but the token in its path. */
async function bare(simulator: Simulator, method: string, path: string, body?: unknown) {
	const response = await fetch(`${simulator.api}/v10${path}`, {
		method,
		headers: { "content-type": "application/json", "x-audit-log-reason": "tidy" },
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
	const text = await response.text();
	return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
}

test("discord.js creates, moves and deletes a webhook, with events and audit log entries", async (given) => {
	const { guild, channel, simulator } = given;
	await using bot = await connect(simulator, "alpha", intents);
	const other = simulator.world.channels.add(guild, { name: "news" });
	const found = await bot.client.channels.fetch(channel.id);
	if (!(found instanceof TextChannel)) throw new Error("expected a text channel");
	const hook = await found.createWebhook({ name: "Crier", reason: "news" });
	expect(hook.token).toBeString();
	expect(await bot.event("WEBHOOKS_UPDATE")).toEqual({ guild_id: guild.id, channel_id: channel.id });
	expect((await found.fetchWebhooks()).map(({ name }) => name)).toEqual(["Crier"]);
	await hook.edit({ name: "Herald", channel: other.id, reason: "moved" });
	await bot.event("WEBHOOKS_UPDATE", (data) => data.channel_id === other.id);
	const cached = bot.client.guilds.cache.get(guild.id);
	expect((await cached?.fetchWebhooks())?.map(({ id }) => id)).toEqual([hook.id]);
	const fetched = await bot.client.fetchWebhook(hook.id);
	expect([fetched.name, fetched.channelId]).toEqual(["Herald", other.id]);
	// Its own method would go by the token, and the log would not name the bot.
	await bot.client.deleteWebhook(hook.id, { reason: "enough" });
	expect(simulator.world.webhooks.get(hook.id)).toBeUndefined();
	expect(guild.auditLog.slice(-3)).toMatchObject([
		{ action_type: AuditLogEvent.WebhookCreate, target_id: hook.id, reason: "news" },
		{
			action_type: AuditLogEvent.WebhookUpdate,
			changes: [
				{ key: "name", old_value: "Crier", new_value: "Herald" },
				{ key: "channel_id", old_value: channel.id, new_value: other.id },
			],
			reason: "moved",
		},
		{ action_type: AuditLogEvent.WebhookDelete, reason: "enough" },
	]);
});

test("discord.js sends, edits and deletes messages by a webhook's token", async ({ channel, simulator, guild }) => {
	await using bot = await connect(simulator, "alpha", intents);
	const found = await bot.client.channels.fetch(channel.id);
	if (!(found instanceof TextChannel)) throw new Error("expected a text channel");
	const hook = await found.createWebhook({ name: "Crier" });
	const sent = await hook.send({ content: "hear, @everyone", username: "Town", embeds: [{ title: "news" }] });
	expect(await bot.event("MESSAGE_CREATE")).toMatchObject({
		webhook_id: hook.id,
		mention_everyone: true,
		author: { id: hook.id, username: "Town", bot: true },
	});
	expect((await hook.fetchMessage(sent.id)).embeds).toHaveLength(1);
	await hook.editMessage(sent.id, { content: "hush" });
	expect(simulator.channel("The Cooks/general").transcript()).toBe("Town: hush");
	await hook.deleteMessage(sent.id);
	expect(simulator.world.messages.in(channel.id)).toEqual([]);
	// Nobody deleted anything of someone else's.
	expect(guild.auditLog.at(-1)?.action_type).toBe(AuditLogEvent.WebhookCreate);
});

test("managing webhooks needs MANAGE_WEBHOOKS, except reading own ones", async (given) => {
	const { guild, channel, ada, bot, alpha, all, simulator, deny } = given;
	const { world } = simulator;
	const adas = world.webhooks.add(channel, { name: "adas", user: ada });
	const own = world.webhooks.add(channel, { name: "own", user: bot });
	deny(channel, PermissionFlagsBits.ManageWebhooks);
	expect((await alpha("GET", all)).code).toBe(50013);
	expect((await alpha("POST", all, { name: "x" })).code).toBe(50013);
	for (const method of ["GET", "PATCH", "DELETE"])
		expect((await alpha(method, `/webhooks/${adas.id}`, method === "GET" ? undefined : {})).code).toBe(50013);
	expect((await alpha("GET", `/webhooks/${own.id}`)).status).toBe(200);
	expect((await alpha("DELETE", `/webhooks/${own.id}`)).code).toBe(50013);
	const elsewhere = world.channels.add(guild, { name: "open" });
	const free = world.webhooks.add(elsewhere, { name: "free" });
	const moved = await alpha("PATCH", `/webhooks/${free.id}`, { channel_id: channel.id });
	expect(moved.code).toBe(50013);
	expect(free.channel_id).toBe(elsewhere.id);
});

test("a bot sees the tokens of webhooks that it or a person created", async (given) => {
	const { guild, channel, ada, alpha, simulator, user } = given;
	const { world } = simulator;
	const hooks = [
		world.webhooks.add(channel, { name: "adas", user: ada }),
		world.webhooks.add(channel, { name: "betas", user: user("beta") }),
		world.webhooks.add(channel, { name: "follower", type: 2 }),
	];
	const listed = await alpha("GET", `/guilds/${guild.id}/webhooks`);
	expect(listed.json<{ token?: string }[]>().map(({ token }) => token)).toEqual([
		hooks[0]?.token,
		undefined,
		undefined,
	]);
	const shown = JSON.stringify([simulator.journal.entries(), simulator.requests.list(), guild.auditLog]);
	expect(shown).not.toContain(String(hooks[0]?.token));
});

test("a channel has at most 15 webhooks, with valid names", async ({ guild, channel, alpha, all, simulator }) => {
	const { world } = simulator;
	for (const name of ["My Discord", "CLYDE", "x".repeat(81), ""])
		expect((await alpha("POST", all, { name })).faults.name).toBeString();
	for (let index = 0; index < 15; index += 1) world.webhooks.add(channel, { name: `hook ${index}` });
	expect((await alpha("POST", all, { name: "one more" })).code).toBe(30007);
	const elsewhere = world.channels.add(guild, { name: "news" });
	const free = world.webhooks.add(elsewhere, { name: "free" });
	const moved = await alpha("PATCH", `/webhooks/${free.id}`, { channel_id: channel.id });
	expect(moved.code).toBe(30007);
	const category = world.channels.add(guild, { name: "talk", type: ChannelType.GuildCategory });
	const refused = await alpha("POST", `/channels/${category.id}/webhooks`, { name: "x" });
	expect(refused.code).toBe(50024);
	world.channels.remove(channel);
	expect(world.webhooks.list({ guild_id: guild.id })).toEqual([free]);
});

test("a webhook sends in its own channel, and finds only its own messages", async (given) => {
	const { guild, channel, ada, simulator } = given;
	const { world } = simulator;
	const hook = world.webhooks.add(channel, { name: "Crier", user: ada });
	const path = `/webhooks/${hook.id}/${hook.token}`;
	const quiet = await bare(simulator, "POST", path, { content: "hi" });
	expect(quiet.status).toBe(204);
	const empty = await bare(simulator, "POST", path, { content: " " });
	expect(empty.json.code).toBe(50006);
	const named = await bare(simulator, "POST", `${path}?wait=true`, { content: "hi", username: "clyde" });
	expect(named.json.code).toBe(50035);
	const other = world.channels.add(guild, { name: "news" });
	const elsewhere = await bare(simulator, "POST", `${path}?thread_id=${other.id}`, { content: "hi" });
	expect(elsewhere.json.code).toBe(10003);
	const adas = world.messages.add(channel, ada, { content: "mine" });
	for (const method of ["GET", "PATCH", "DELETE"]) {
		const answer = await bare(
			simulator,
			method,
			`${path}/messages/${adas.id}`,
			method === "GET" ? undefined : { content: "changed" },
		);
		expect(answer.json.code).toBe(10008);
	}
	const forum = world.channels.add(guild, { name: "ideas", type: ChannelType.GuildForum });
	const poster = world.webhooks.add(forum, { name: "Poster" });
	const posted = await bare(simulator, "POST", `/webhooks/${poster.id}/${poster.token}`, { content: "hi" });
	expect(posted.json.code).toBe(220001);
});
