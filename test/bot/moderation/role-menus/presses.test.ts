// Presses in role menus that are hostile, too many, too old, or end without an answer of Discord.

import { expect, test } from "bun:test";
import { type APIMessage, type ButtonInteraction, ChannelType, Events, type Interaction, Routes } from "discord.js";
import { answerPrivately, describeFailure } from "../../../../src/bot/commands/answer.ts";
import { createRoleMenus, defaultPressLimits } from "../../../../src/bot/moderation/role-menus/role-menus.ts";
import { StoreUnavailable } from "../../../../src/bot/store/unavailable.ts";
import { type MenuEntry, menuComponents, menuPrefix } from "../../../../src/discord/role-menu.ts";
import { sayIn } from "../../../../src/texts/texts.ts";
import { testWith } from "../../../support/test-with.ts";
import { present, until } from "../../../support/until.ts";
import { roleNamed } from "../../../support/world.ts";
import { type FeatureSetup, startFeature, withSql } from "../../features/running-feature.ts";

const pressTest = testWith(startPresses);

const memberRoute = "/guilds/:guild_id/members/:user_id";
const roleRoute = `${memberRoute}/roles/:role_id`;
const names = ["Regular", "Newcomer"] as const;

/** Role menus alone, with a menu of Regular and Newcomer, as if it had been there before the bot started. */
async function startPresses(
	limits: Partial<typeof defaultPressLimits> = {},
	setup: Partial<FeatureSetup> = {},
	rules: { max?: number } = {},
) {
	/** Changes an interaction before the handler gets it: what a forged one would have. */
	let forge = (interaction: ButtonInteraction) => interaction;
	const errors: string[] = [];
	const bot = await startFeature({
		...setup,
		create(options) {
			const menus = createRoleMenus(options, { ...defaultPressLimits, ...limits });
			const [handler] = menus.components;
			return {
				...menus,
				attach(client) {
					client.on(Events.InteractionCreate, (interaction: Interaction) => {
						if (!interaction.isButton() || !interaction.inGuild()) return;
						const given = forge(interaction) as typeof interaction;
						const rest = given.customId.slice(menuPrefix.length + 1);
						// As the router does.
						handler?.run(given, rest).catch(async (error: unknown) => {
							const text = describeFailure(error, null, options.log, {});
							errors.push(text);
							await answerPrivately(given, text).catch(() => {});
						});
					});
				},
			};
		},
	});
	const { simulator, guild } = bot;
	const entries = names.map((name): MenuEntry => {
		const { id } = roleNamed(simulator, name);
		return { roleId: id, label: name, isNamed: true };
	});
	const { id: channelId } = simulator.channel("The Cooks/general");
	const components = menuComponents("buttons", entries, { max: rules.max, requires: undefined }, sayIn("en"));
	const { rest } = bot.connection.discord;
	const menu = (await rest.post(Routes.channelMessages(channelId), {
		body: { content: "Roles", components },
	})) as APIMessage;
	const press = async (name: string, label: string, message = menu) => {
		const pressed = await simulator.user(name).press(message, label);
		return (await pressed.reply()).content;
	};
	const rolesOf = (name: string) =>
		bot
			.member(name)
			.roles.map((id) => guild.roles.get(id)?.name)
			.sort();
	return Object.assign(bot, {
		menu,
		errors,
		press,
		rolesOf,
		setForge(change: Partial<Record<keyof ButtonInteraction, unknown>>) {
			forge = (interaction) => Object.assign(Object.create(interaction), change) as ButtonInteraction;
		},
		requests: (method: string) =>
			simulator.requests.list().filter((one) => one.method === method && one.path.includes("/members/")),
	});
}

test("a menu from before the bot's start works, without a row in any database, and after a restart", async () => {
	await using bot = await startPresses();
	expect(await bot.press("liwei", "Regular")).toStartWith("Added");
	await bot.kill();
	await bot.start();
	expect(await bot.press("liwei", "Newcomer")).toStartWith("Added");
	expect(bot.rolesOf("liwei")).toEqual(["Newcomer", "Regular"]);
});

pressTest("a menu in an archived thread, which the bot does not know after its start, works", async (bot) => {
	const { simulator, guild, connection } = bot;
	const { id: channelId } = simulator.channel("The Cooks/general");
	const { id } = (await connection.discord.rest.post(Routes.threads(channelId), {
		body: { name: "roles", type: ChannelType.PublicThread },
	})) as { id: string };
	const menu = (await connection.discord.rest.post(Routes.channelMessages(id), {
		body: { content: "Roles", components: bot.menu.components },
	})) as APIMessage;
	const thread = present(guild.threads.get(id));
	simulator.world.threads.edit(thread, { archived: true });
	await bot.kill();
	await bot.start();
	expect(bot.connection.discord.channels.cache.has(id)).toBe(false);
	expect(await bot.press("liwei", "Regular", menu)).toStartWith("Added");
	expect(await bot.press("liwei", "Regular", menu)).toStartWith("Removed");
	// Discord accepts no answer in a locked thread.
	simulator.world.threads.edit(thread, { locked: true });
	await simulator.user("liwei").press(menu, "Regular");
	await until("the press has failed", () => bot.errors.length > 0);
	expect(bot.errors[0]).toContain("archived");
	expect(bot.rolesOf("liwei")).toEqual([]);
});

test("a custom_id that its message does not have, or of a message by another author, changes nothing", async () => {
	await using bot = await startPresses();
	const staff = roleNamed(bot.simulator, "Staff").id;
	const { id } = roleNamed(bot.simulator, "Regular");
	const forged = [
		`${menuPrefix}:0:0:${staff}`,
		`${menuPrefix}:0:0:${bot.guild.id}`,
		`${menuPrefix}:0:0:select`,
		`${menuPrefix}:0:0:${id}:x`,
		`${menuPrefix}:999:0:${id}`,
		`${menuPrefix}::`,
		menuPrefix,
	];
	for (const customId of forged) {
		bot.setForge({ customId });
		expect(await bot.press("liwei", "Regular")).toEndWith("Nothing was done.");
	}
	// The message's rules count, whatever the custom_id says.
	bot.setForge({ customId: `${menuPrefix}:0:${staff}:${id}` });
	expect(await bot.press("liwei", "Regular")).toStartWith("Added");
	expect(await bot.press("liwei", "Regular")).toStartWith("Removed");
	const { length } = bot.requests("DELETE");
	expect(length).toBe(1);
	// A webhook of this bot could post any components.
	const author = { id: "123456789012345678", bot: true };
	const components = bot.menu.components?.map((one) => ({ toJSON: () => one }));
	const message = { author, components, id: bot.menu.id };
	bot.setForge({ message });
	expect(await bot.press("liwei", "Regular")).toBe("This is not a role menu. Nothing was done.");
	expect(bot.rolesOf("liwei")).toEqual([]);
	expect(["PUT", "PATCH", "DELETE"].flatMap(bot.requests)).toHaveLength(2);
});

test("a full queue answers everyone at once, lets others of the person wait, and goes on", async () => {
	await using bot = await startPresses({ max: 1, maxWaiting: 1, maxOwnWaiting: 1 });
	const { simulator } = bot;
	const stall = simulator.faults.stall(`GET ${memberRoute}`);
	const first = bot.press("liwei", "Regular");
	await until("it is asked for", () => bot.requests("GET").length > 0);
	const second = bot.press("liwei", "Regular");
	await until("it waits", () => deferrals(bot) === 2);
	expect(await bot.press("liwei", "Regular")).toBe(
		"Your earlier choices are still being carried out. Nothing was done; try again when they are.",
	);
	const third = bot.press("zoe", "Regular");
	await until("it waits", () => deferrals(bot) === 4);
	expect(await bot.press("mona_lisa", "Newcomer")).toBe(
		"Many people are choosing roles at the moment. Nothing was done; try again in a minute.",
	);
	stall.release();
	expect(await first).toStartWith("Added");
	expect(await second).toStartWith("Removed");
	expect(await third).toStartWith("Added");
	expect(await bot.press("mona_lisa", "Newcomer")).toStartWith("Added");
});

test("300 people at once are all answered before Discord has answered one request, and as many get their role as may wait", async () => {
	await using bot = await startPresses({ maxWaiting: 20 });
	const { simulator, guild } = bot;
	const { world, faults } = simulator;
	const people = Array.from({ length: 300 }, (_, at) => `person${at}`);
	for (const username of people) world.members.add(guild, world.users.addPerson({ username }).user);
	const stall = faults.stall(`GET ${memberRoute}`);
	const answers: string[] = [];
	const presses = people.map(async (name) => {
		answers.push(await bot.press(name, "Regular"));
	});
	const { max } = defaultPressLimits;
	const served = max + 20;
	await until("the others are told", () => answers.length === 300 - served);
	expect(deferrals(bot)).toBe(300);
	expect(bot.requests("GET").length).toBeLessThanOrEqual(max);
	expect(new Set(answers)).toEqual(
		new Set(["Many people are choosing roles at the moment. Nothing was done; try again in a minute."]),
	);
	stall.release();
	await Promise.all(presses);
	expect(answers.filter((text) => text.startsWith("Added"))).toHaveLength(served);
	expect(bot.requests("PUT")).toHaveLength(served);
});

pressTest("a press that waited too long does nothing", { max: 1, maxWaitMs: 1 }, async (bot) => {
	const stall = bot.simulator.faults.stall(`GET ${memberRoute}`);
	const first = bot.press("liwei", "Regular");
	await until("it is asked for", () => bot.requests("GET").length > 0);
	expect(await bot.press("zoe", "Regular")).toStartWith("Many people are");
	stall.release();
	expect(await first).toStartWith("Added");
	expect(bot.rolesOf("zoe")).toEqual(["Newcomer"]);
});

test("a role whose request got no answer is reported as unknown, and the next press goes by what is", async () => {
	await using bot = await startPresses({ holdMs: 0 }, {}, { max: 1 });
	bot.simulator.faults.drop(`PUT ${roleRoute}`, { when: "after", times: 1 });
	expect(await bot.press("liwei", "Regular")).toContain("Whether it was done is not known");
	expect(bot.rolesOf("liwei")).toEqual(["Regular"]);
	expect(await bot.press("liwei", "Newcomer")).toContain("Removed");
	expect(bot.rolesOf("liwei")).toEqual(["Newcomer"]);
	expect(bot.requests("PUT")).toHaveLength(1);
});

for (const rules of [{}, { max: 1 }])
	test(`after a request without an answer the person is held back, because Discord may carry it out late: ${JSON.stringify(rules)}`, async () => {
		await using bot = await startPresses({}, {}, rules);
		bot.simulator.faults.drop(`PUT ${roleRoute}`, { when: "before", times: 1 });
		expect(await bot.press("liwei", "Regular")).toContain("not known");
		expect(await bot.press("liwei", "Newcomer")).toStartWith("Discord has not answered your last choice");
		expect(bot.requests("PUT")).toHaveLength(1);
		// Only that person is held back.
		expect(await bot.press("mona_lisa", "Newcomer")).toStartWith("Added");
	});

pressTest("after a kill between the request and its response, nothing is repeated", async (bot) => {
	const { faults } = bot.simulator;
	const stall = faults.stall(`PUT ${roleRoute}`, { after: true, times: 1 });
	// Nobody answers this press.
	await bot.simulator.user("liwei").press(bot.menu, "Regular");
	await until("it is held", () => stall.hits === 1);
	await bot.kill();
	stall.release();
	await bot.start();
	expect(bot.rolesOf("liwei")).toEqual(["Regular"]);
	expect(await bot.press("liwei", "Regular")).toStartWith("Removed");
	expect(bot.requests("PUT")).toHaveLength(1);
});

pressTest("an answer that cannot be shown leaves the roles as they were", async (bot) => {
	const callback = "POST /interactions/:interaction_id/:interaction_token/callback";
	bot.simulator.faults.refuse(callback, 10062, { times: 2 });
	const pressed = await bot.simulator.user("liwei").press(bot.menu, "Regular");
	await until("it has failed", () => bot.errors.length > 0);
	expect(pressed.state).toBe("waiting");
	expect(bot.rolesOf("liwei")).toEqual([]);
	expect(bot.requests("GET")).toEqual([]);
});

for (const when of ["before", "after"] as const)
	pressTest(`a deferral whose connection breaks ${when} Discord has it is repeated once`, async (bot) => {
		const callback = "POST /interactions/:interaction_id/:interaction_token/callback";
		bot.simulator.faults.drop(callback, { when, times: 1 });
		expect(await bot.press("liwei", "Regular")).toStartWith("Added");
		expect(bot.rolesOf("liwei")).toEqual(["Regular"]);
		expect(bot.errors).toEqual([]);
	});

test("nobody whose roles are restricted by a chargeback gets one, nor while the database cannot tell", async () => {
	let isAway = false;
	await using bot = await startPresses(
		{},
		{
			settings: (simulator) => ({
				features: { game: true, moderation: true },
				game: {
					restricted_role: roleNamed(simulator, "Staff").id,
					chargeback: true,
					staff_roles: [roleNamed(simulator, "Staff").id],
					staff_channel: simulator.channel("The Cooks/staff").id,
				},
			}),
			store: (store) =>
				withSql(store, (...statement) =>
					isAway ? Promise.reject(new StoreUnavailable("The database is away.")) : store.sql(...statement),
				),
		},
	);
	expect(await bot.press("jose.garcia", "Regular")).toBe("Your roles are restricted at the moment. Nothing was done.");
	isAway = true;
	expect(await bot.press("liwei", "Regular")).toContain("database");
	expect(bot.rolesOf("liwei")).toEqual([]);
	isAway = false;
	expect(await bot.press("liwei", "Regular")).toStartWith("Added");
});

test("presses that wait when the bot ends are told so, and the one that is carried out is finished", async () => {
	await using bot = await startPresses({ max: 1 });
	const stall = bot.simulator.faults.stall(`GET ${memberRoute}`);
	const first = bot.press("liwei", "Regular");
	await until("it is asked for", () => bot.requests("GET").length > 0);
	const second = bot.press("zoe", "Regular");
	await until("it waits", () => deferrals(bot) === 2);
	const stopped = bot.stop();
	expect(await second).toStartWith("The bot is restarting.");
	stall.release();
	expect(await first).toStartWith("Added");
	await stopped;
	expect(bot.rolesOf("zoe")).toEqual(["Newcomer"]);
});

pressTest("a member who has left, and a role that was taken away by hand meanwhile, are no problem", async (bot) => {
	const { simulator, guild } = bot;
	const zoe = bot.member("zoe");
	const stall = simulator.faults.stall(`GET ${memberRoute}`, { times: 1 });
	const pressed = bot.press("zoe", "Newcomer");
	await until("it is asked for", () => bot.requests("GET").length > 0);
	simulator.world.members.edit(guild, zoe, { roles: [] });
	stall.release();
	// What counts is what Discord says, not what the press came with.
	expect(await pressed).toStartWith("Added");
	const leaving = simulator.faults.stall(`GET ${memberRoute}`, { times: 1 });
	const last = bot.press("zoe", "Regular");
	await until("it is asked for", () => bot.requests("GET").length > 1);
	simulator.world.members.remove(guild, zoe);
	leaving.release();
	expect(await last).toContain("Nothing was done.");
});

function deferrals({ simulator }: Awaited<ReturnType<typeof startPresses>>) {
	return simulator.requests.list().filter(({ path }) => path.endsWith("/callback")).length;
}
