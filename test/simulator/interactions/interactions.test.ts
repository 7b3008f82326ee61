// Interactions: people run commands and press buttons, a real discord.js bot responds, and they see the response.

import { describe, expect, test } from "bun:test";
import { type ChatInputCommandInteraction, MessageFlags, PermissionFlagsBits } from "discord.js";
import { until } from "../../support/until.ts";
import { as } from "../support.ts";
import { buttons, general, post, startAnswering } from "./answering.ts";

const { Ephemeral } = MessageFlags;

describe("commands", () => {
	test("an interaction has the command's options, place and user", async () => {
		let seen: ChatInputCommandInteraction | undefined;
		await using world = await startAnswering({
			command: (interaction) => {
				seen = interaction;
				return interaction.reply("done");
			},
		});
		const { simulator, bot } = world;
		const zoe = simulator.user("zoe");
		const asked = await simulator
			.user("jose.garcia")
			.run(general, "verify", { code: "ABC", times: 2, who: zoe.id, loud: true });
		expect(await asked.reply()).toMatchObject({ content: "done", ephemeral: false, failed: false, edits: [] });
		expect(seen?.options.getString("code")).toBe("ABC");
		expect(seen?.options.getInteger("times")).toBe(2);
		expect(seen?.options.getBoolean("loud")).toBe(true);
		expect(seen?.options.getUser("who")?.username).toBe("zoe");
		expect(seen?.options.getMember("who")).toMatchObject({ nickname: null });
		expect(seen?.member).toMatchObject({ nickname: "Chef José" });
		const { KickMembers, BanMembers } = PermissionFlagsBits;
		expect(seen?.memberPermissions?.has(KickMembers)).toBe(true);
		expect(seen?.memberPermissions?.has(BanMembers)).toBe(false);
		expect(seen?.appPermissions.has(BanMembers)).toBe(true);
		const { id } = simulator.channel(general);
		expect(seen?.channel?.id).toBe(id);
		expect(await bot.event("INTERACTION_CREATE")).toMatchObject({
			type: 2,
			version: 1,
			locale: "en-US",
			context: 0,
			application_id: simulator.bot("alpha").id,
			guild_id: simulator.guild("The Cooks").id,
			guild_locale: "en-US",
			data: { name: "verify", type: 1, resolved: { members: { [zoe.id]: { permissions: expect.anything() } } } },
			entitlements: [],
		});
		expect(simulator.channel(general).transcript()).toBe("alpha: done");
		const [message] = simulator.world.messages.in(id);
		expect(message).toMatchObject({
			type: 20,
			application_id: simulator.bot("alpha").id,
			interaction_metadata: { type: 2, user: { username: "jose.garcia" } },
		});
	});

	test("an interaction has the languages of its user and of the guild", async () => {
		await using world = await startAnswering({ command: (interaction) => interaction.reply("done") });
		const { simulator, bot, ada } = world;
		simulator.world.users.locales.set(ada.id, "fr");
		simulator.world.guilds.edit(simulator.guild("The Cooks"), { preferred_locale: "de" });
		await (await ada.run(general, "verify", { code: "ABC" })).reply();
		expect(await bot.event("INTERACTION_CREATE")).toMatchObject({ locale: "fr", guild_locale: "de" });
	});

	test("an ephemeral reply is visible only to its user", async () => {
		await using world = await startAnswering({
			command: (interaction) => interaction.reply({ content: "psst", flags: Ephemeral }),
		});
		const { simulator, bot, ada } = world;
		const asked = await ada.run(general, "verify", { code: "ABC" });
		const reply = await asked.reply();
		expect(reply).toMatchObject({ content: "psst", ephemeral: true });
		expect(simulator.channel(general).transcript()).toBe("");
		const { id } = simulator.channel(general);
		const alpha = as(simulator, simulator.bot("alpha"));
		const path = `/channels/${id}/messages`;
		expect((await alpha("GET", path)).json<unknown>()).toEqual([]);
		expect((await alpha("GET", `${path}/${reply.id}`)).code).toBe(10008);
		await ada.say(general, "that is all");
		await bot.event("MESSAGE_CREATE");
		const told = bot.events.filter(({ t }) => t === "MESSAGE_CREATE");
		expect(told.map(({ d }) => d.content)).toEqual(["that is all"]);
	});

	test("a deferred reply appears with its first edit; edits and follow-ups are visible", async () => {
		await using world = await startAnswering({
			command: async (interaction) => {
				await interaction.deferReply({ flags: Ephemeral });
				await interaction.editReply("one moment");
				await interaction.followUp({ content: "more", flags: Ephemeral });
				await interaction.followUp("for all");
				await interaction.editReply("done");
			},
		});
		const { simulator, ada } = world;
		const asked = await ada.run(general, "verify", { code: "ABC" });
		expect(await asked.acknowledged()).toBe(true);
		const reply = await asked.reply();
		expect(await asked.followUp()).toMatchObject({ content: "more", ephemeral: true });
		expect(await asked.followUp(2)).toMatchObject({ ephemeral: false });
		await until("the last edit", () => reply.content === "done");
		expect(reply.edits).toEqual(["done"]);
		const followUps = reply.followUps.map(({ content }) => content);
		expect(followUps).toEqual(["more", "for all"]);
		expect(simulator.channel(general).transcript()).toBe("alpha: for all");
	});

	test("replies and follow-ups are fetched, edited and deleted", async () => {
		await using world = await startAnswering({
			command: async (interaction) => {
				await interaction.reply({ content: "1", flags: Ephemeral });
				expect((await interaction.fetchReply()).content).toBe("1");
				const second = await interaction.followUp({ content: "2", flags: Ephemeral });
				const { webhook } = interaction;
				await webhook.editMessage(second, "two");
				expect((await webhook.fetchMessage(second.id)).content).toBe("two");
				await webhook.deleteMessage(second);
				await interaction.deleteReply();
				await interaction.followUp("3");
			},
		});
		const asked = await world.ada.run(general, "verify", { code: "ABC" });
		const reply = await asked.reply();
		expect(await asked.followUp(2)).toMatchObject({ content: "3" });
		expect(world.errors).toEqual([]);
		expect(reply.deleted).toBe(true);
		expect(reply.followUps).toMatchObject([{ deleted: true, edits: ["two"] }, { deleted: false }]);
	});

	test("a late response is refused, and the user sees a failure", async () => {
		const late = Promise.withResolvers<void>();
		await using world = await startAnswering(
			{
				command: async (interaction) => {
					await late.promise;
					await interaction.reply("here I am");
				},
			},
			{ timing: { acknowledgeMs: 20 } },
		);
		const { simulator, ada } = world;
		const asked = await ada.run(general, "verify", { code: "ABC" });
		expect(await asked.reply()).toMatchObject({ failed: true, content: "The application did not respond" });
		expect(asked.state).toBe("failed");
		expect(await asked.acknowledged()).toBe(false);
		late.resolve();
		await until("the refusal", () => world.errors.length > 0);
		expect(world.errors).toMatchObject([{ code: 10062, status: 404 }]);
		expect(simulator.channel(general).transcript()).toBe("");
	});

	test("a second response is refused, and with_response returns the message", async () => {
		let told: unknown;
		await using world = await startAnswering({
			command: async (interaction) => {
				const answer = await interaction.reply({ content: "once", withResponse: true });
				told = answer.resource?.message?.content;
				expect(answer.interaction.responseMessageId).toBe(answer.resource?.message?.id ?? null);
				await interaction.client.rest.post(`/interactions/${interaction.id}/${interaction.token}/callback`, {
					body: { type: 4, data: { content: "twice" } },
					auth: false,
				});
			},
		});
		const { simulator, ada } = world;
		const asked = await ada.run(general, "verify", { code: "ABC" });
		await asked.reply();
		await until("the refusal", () => world.errors.length > 0);
		expect(world.errors).toMatchObject([{ code: 40060, status: 400 }]);
		expect(told).toBe("once");
		expect(simulator.channel(general).transcript()).toBe("alpha: once");
	});

	test("with_response of a deferred response names its message without it", async () => {
		const told = Promise.withResolvers<unknown>();
		await using world = await startAnswering({
			command: async (interaction) => {
				const answer = await interaction.deferReply({ withResponse: true });
				told.resolve([answer.interaction.responseMessageLoading, answer.resource]);
			},
		});
		await world.ada.run(general, "verify", { code: "ABC" });
		expect(await told.promise).toEqual([true, null]);
	});

	test("responses mention users by default, but neither roles nor everyone", async () => {
		await using world = await startAnswering({
			command: async (interaction) => {
				const content = `@everyone <@${interaction.user.id}>`;
				await interaction.reply(content);
				await interaction.followUp({ content, allowedMentions: { parse: ["everyone"] } });
			},
		});
		const { simulator, ada } = world;
		const asked = await ada.run(general, "verify", { code: "ABC" });
		await asked.followUp();
		const { id } = simulator.channel(general);
		expect(simulator.world.messages.in(id)).toMatchObject([
			{ mentions: [{ username: "ada" }], mention_everyone: false },
			{ mentions: [], mention_everyone: true },
		]);
	});

	test("the journal has each response, without tokens", async () => {
		await using world = await startAnswering({
			command: async (interaction) => {
				await interaction.deferReply();
				await interaction.editReply("done");
				await interaction.followUp("more");
			},
		});
		const { simulator, bot, ada } = world;
		const asked = await ada.run(general, "verify", { code: "ABC" });
		await asked.followUp();
		const { token } = await bot.event("INTERACTION_CREATE");
		expect(simulator.journal.entries().map(({ route }) => route)).toEqual([
			"PUT /applications/:application_id/commands",
			"POST /interactions",
			"POST /interactions/:interaction_id/:interaction_token/callback",
			"PATCH /webhooks/:application_id/:interaction_token/messages/@original",
			"POST /webhooks/:application_id/:interaction_token",
		]);
		const state = await fetch(`${simulator.url}/simulator/interactions`);
		const shown = [
			JSON.stringify(simulator.journal.entries()),
			JSON.stringify(simulator.requests.list()),
			await state.text(),
		];
		for (const text of shown) expect(text).not.toContain(String(token));
		expect(shown[2]).toContain("done");
	});
});

describe("buttons", () => {
	test("a press updates the message, and disables its buttons", async () => {
		await using world = await startAnswering({
			button: (interaction) =>
				interaction.update({
					content: `${interaction.customId} by ${interaction.user.username}`,
					components: buttons("-Ban", "-Dismiss"),
				}),
		});
		const { simulator, bot, ada } = world;
		const message = await post(simulator, bot.client, "Ban", "Dismiss");
		const pressed = await ada.press(message, "Ban");
		const reply = await pressed.reply();
		expect(reply).toMatchObject({ id: message.id, content: "id:Ban by ada" });
		expect(reply.buttons).toMatchObject([{ disabled: true }, { disabled: true }]);
		expect(await bot.event("MESSAGE_UPDATE")).toMatchObject({ content: "id:Ban by ada" });
		expect(await bot.event("INTERACTION_CREATE")).toMatchObject({
			type: 3,
			message: { id: message.id, content: "choose" },
			data: { component_type: 2, custom_id: "id:Ban" },
		});
		await expect(ada.press(message, "-Ban")).rejects.toThrow("is disabled");
		const unknown = ada.press(message, "Kick");
		await expect(unknown).rejects.toThrow("has no button Kick");
		const forced = await as(simulator, ada)("POST", "/interactions", {
			type: 3,
			application_id: simulator.bot("alpha").id,
			guild_id: simulator.guild("The Cooks").id,
			channel_id: message.channel_id,
			message_id: message.id,
			data: { component_type: 2, custom_id: "id:-Ban" },
		});
		expect(forced.faults).toEqual({ data: "COMPONENT_VALIDATION_FAILED" });
	});

	test("two presses at once are two interactions with a response each", async () => {
		const pressers: string[] = [];
		await using world = await startAnswering({
			button: async (interaction) => {
				pressers.push(interaction.user.username);
				if (pressers.length > 1) return interaction.reply({ content: "too late", flags: Ephemeral });
				await interaction.deferUpdate();
				return interaction.editReply({ content: "taken", components: [] });
			},
		});
		const { simulator, bot, ada } = world;
		const message = await post(simulator, bot.client, "Ban");
		const [first, second] = await Promise.all([
			ada.press(message, "Ban"),
			simulator.user("zoe").press(message, "id:Ban"),
		]);
		const replies = await Promise.all([first.reply(), second.reply()]);
		await until("the update", () => replies.some(({ content }) => content === "taken"));
		const contents = replies.map(({ content }) => content);
		expect(contents).toEqual(["taken", "too late"]);
		expect(pressers).toEqual(["ada", "zoe"]);
		expect(simulator.channel(general).transcript()).toBe("alpha: taken");
	});

	test("only its user can press the buttons of an ephemeral message, which update it", async () => {
		await using world = await startAnswering({
			command: (interaction) => interaction.reply({ content: "sure?", flags: Ephemeral, components: buttons("Yes") }),
			button: (interaction) => interaction.update({ content: "yes", components: [] }),
		});
		const { simulator, ada } = world;
		const asked = await ada.run(general, "verify", { code: "ABC" });
		const reply = await asked.reply();
		const foreign = simulator.user("jose.garcia").press(reply, "Yes");
		await expect(foreign).rejects.toThrow("cannot see the message");
		await (await ada.press(reply, "Yes")).reply();
		expect(reply).toMatchObject({ content: "yes", ephemeral: true, buttons: [], edits: ["yes"] });
		expect(simulator.channel(general).transcript()).toBe("");
	});

	test("a press without a response fails and leaves the message unchanged", async () => {
		await using world = await startAnswering({}, { timing: { acknowledgeMs: 20 } });
		const { simulator, bot, ada } = world;
		const message = await post(simulator, bot.client, "Ban");
		const pressed = await ada.press(message, "Ban");
		expect(await pressed.reply()).toMatchObject({ failed: true, content: "This interaction failed" });
		expect(simulator.channel(general).transcript()).toBe("alpha: choose");
	});
});
