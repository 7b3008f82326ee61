// Payments that were taken back: what the game server tells, what becomes of the person, and what the staff decide.

import { describe, expect, spyOn, test } from "bun:test";
import { type ButtonInteraction, DiscordAPIError, RESTJSONErrorCodes } from "discord.js";
import { createAlert } from "../../../src/bot/game/chargeback-alert.ts";
import { createChargebackButtons } from "../../../src/bot/game/chargeback-buttons.ts";
import { ChargebackSteps, failureReason } from "../../../src/bot/game/chargeback-steps.ts";
import { createChargebackWebhook } from "../../../src/bot/game/chargeback-webhook.ts";
import { GuildChargebacks } from "../../../src/bot/game/chargebacks.ts";
import { startStore } from "../../../src/bot/store/store.ts";
import {
	type Chargeback,
	decide,
	insertChargeback,
	selectOpenChargebacks,
	selectRestricted,
	updateChargebacks,
} from "../../../src/bot/store/tables/chargebacks.ts";
import { migrations } from "../../../src/bot/store/tables.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import type { Connection } from "../../../src/discord/connection/connection.ts";
import { PlatformTimeout } from "../../../src/discord/rest/rest.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import type { Sql } from "../../../src/lib/store/statement.ts";
import type { ChargebackAnswer } from "../../../src/simulator/game/game-server.ts";
import type { InjectedFault } from "../../../src/simulator/rest/faults.ts";
import type { Message } from "../../../src/simulator/world/state/entities.ts";
import { type Language, render, said } from "../../../src/texts/texts.ts";
import { recordLog } from "../../support/log.ts";
import { openPlace } from "../../support/place.ts";
import { chunked, exchange, requestText } from "../../support/raw-http.ts";
import { onBoth, onOwnPostgres, openStore } from "../../support/stores.ts";
import { sharedBy, testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { addToBakers, giveRole, memberNamed, userNamed } from "../../support/world.ts";
import { type ChargebackFixture, createChargebackFixture, pressable, staff, staffChannel } from "./chargeback-world.ts";
import { type GameWorld, type GameWorldOptions, startGameWorld } from "./game-world.ts";
import { allows } from "./openapi.ts";

const chargebackTest = testWith(startChargebackWorld);

const patchMember = "PATCH /guilds/:guild_id/members/:user_id";
const putBan = "PUT /guilds/:guild_id/bans/:user_id";
const sendMessage = "POST /channels/:channel_id/messages";
const editMessage = "PATCH /channels/:channel_id/messages/:message_id";

interface ChargebackWorld extends GameWorld {
	scene: ChargebackFixture;
	/** The keys of [game], for the next start, too. */
	settings: Record<string, unknown>;
	/** Tells the bot of a payment of mona_lisa's, or of whom is named, and gives its answer. */
	chargeback(given?: Partial<{ chatId: string | null; tier: string; username: string }>): Promise<ChargebackAnswer>;
	/** The alert about such a chargeback, once it contains the text. */
	charged(text: string, given?: Parameters<ChargebackWorld["chargeback"]>[0]): Promise<Message>;
	/** What the person saw in answer to a press. */
	press(person: string, message: Message, button: string): Promise<string>;
	/** The bot's writes of this kind that were carried out. */
	written(route: string): number;
}

async function startChargebackWorld(options: GameWorldOptions = {}): Promise<ChargebackWorld> {
	let scene: ChargebackFixture | undefined;
	const settings: Record<string, unknown> = {};
	const world = await startGameWorld({
		...options,
		settings,
		async prepare(simulator, game) {
			scene = createChargebackFixture(simulator);
			Object.assign(settings, scene.settings, options.settings);
			await options.prepare?.(simulator, game);
		},
	});
	if (!scene) throw new Error("the scene was not set");
	const { simulator, game } = world;
	const { target, shown } = scene;
	await until("the store is open", async () => {
		const answer = await fetch(world.bot.url);
		return (await answer.text()) === "ready";
	});
	return Object.assign(world, {
		scene,
		settings,
		chargeback: (given = {}) =>
			game.chargeback(
				{ username: "Mona", chatId: target.id, tier: "gold", ...given },
				{ url: new URL(world.bot.url).origin },
			),
		async charged(text: string, given = {}) {
			await this.chargeback(given);
			return shown(text);
		},
		async press(person: string, message: Message, button: string) {
			const asked = await simulator.user(person).press(message, button);
			const { content, ephemeral } = await asked.reply();
			expect(ephemeral).toBe(true);
			return content;
		},
		written: (route: string) => simulator.journal.entries(route).length,
	});
}

describe.concurrent("a chargeback", () => {
	chargebackTest("restricts the person at once, keeps their roles, and is told to the staff", async (world) => {
		const { scene, simulator } = world;
		const { status, body } = await world.chargeback();
		expect({ status, body }).toEqual({ status: 202, body: { accepted: true } });
		const alert = await scene.shown("2 roles saved");
		const { roles, managed, target } = scene;
		expect(target.roles()).toEqual([managed, roles.restricted].sort());
		expect(pressable(alert)).toEqual(["Ban", "Dismiss"]);
		expect(scene.fields(alert)).toMatchObject({
			Tier: "`gold`",
			"Discord account": `<@${target.id}>`,
			Restriction: `Restricted to <@&${roles.restricted}>. 2 roles saved.`,
		});
		expect(alert.mentions).toEqual([]);
		// One change, and it says why.
		const [change, ...others] = simulator.journal.entries(patchMember);
		expect(change?.reason).toMatch(/^Chargeback \([0-9a-f]{8}\)$/);
		expect(others).toEqual([]);
		expect(simulator.unknownRoutes).toEqual([]);
	});

	chargebackTest("is announced once the restriction has a result", async (world) => {
		const { scene, simulator } = world;
		const held = simulator.faults.stall(patchMember);
		await world.chargeback();
		await until("the restriction is under way", () => held.hits > 0);
		// One that comes later and needs none is told meanwhile.
		await world.charged("Not linked:", { chatId: null });
		expect(scene.alerts()).toHaveLength(1);
		held.release();
		await scene.shown("2 roles saved");
		expect(scene.alerts()).toHaveLength(2);
	});

	chargebackTest("that is repeated is the same one, in any notation", async (world) => {
		const { scene } = world;
		const first = await world.chargeback();
		await scene.shown("saved");
		const { uuid, timestamp, ...rest } = first.event;
		const again = [
			first.event,
			{ ...first.event, uuid: uuid?.replaceAll("-", "").toUpperCase() },
			{ ...first.event, timestamp: Date.parse(timestamp ?? "") },
			{ ...first.event, timestamp: timestamp?.replace("Z", "999+00:00") },
			{ uuid, timestamp, ...rest, chat_id: undefined, discord_id: rest.chat_id },
			{ ...first.event, username: "Renamed" },
		];
		for (const body of again) expect((await first.again({ body })).status).toBe(202);
		await world.chargeback({ tier: "other" });
		await until("the next alert", () => scene.alerts().length > 1);
		expect(scene.alerts()).toHaveLength(2);
		expect(world.written(patchMember)).toBe(1);
	});

	chargebackTest("of an account that nobody has linked is told, and restricts nobody", async (world) => {
		const { scene, game } = world;
		const { event } = await world.chargeback({ chatId: null });
		const alert = await scene.shown("Not linked:");
		expect(await world.press(staff, alert, "Ban")).toContain("Decision saved");
		await scene.shown("No account linked.");
		await until("the ban in the game", () => game.bans.has(event.uuid ?? ""));
		expect(world.written(patchMember) + world.written(putBan)).toBe(0);
	});

	chargebackTest("shows what the game server wrote as data, and pings nobody", async (world) => {
		const { scene } = world;
		const username = "`@everyone` <@&1> **x** \u202e[a](http://b)";
		await world.chargeback({ username, tier: `<@${scene.target.id}>` });
		const alert = await scene.shown("saved");
		const fields = scene.fields(alert);
		expect(fields["Game account"]).toStartWith("`ˋ@everyoneˋ <@&1> **x** \\u{202e}[a](http://b)` (`");
		expect(fields.Tier).toBe(`\`<@${scene.target.id}>\``);
		expect([alert.mention_everyone, alert.mentions]).toEqual([false, []]);
	});

	chargebackTest("is processed when Discord is back", async (world) => {
		const { scene, simulator } = world;
		const fault = simulator.faults.fail("* *", 500);
		expect((await world.chargeback()).status).toBe(202);
		await until("an attempt", () => fault.hits > 0);
		expect(scene.alerts()).toEqual([]);
		fault.release();
		await scene.shown("2 roles saved");
		expect(scene.alerts()).toHaveLength(1);
	});

	chargebackTest("is one alert, also where Discord's answer to it is lost", async (world) => {
		const { scene, simulator } = world;
		const lost = simulator.faults.drop(sendMessage, { when: "after", times: 1 });
		const alert = await world.charged("2 roles saved");
		await world.press(staff, alert, "Dismiss");
		await scene.shown("Restored.");
		expect(lost.hits).toBe(1);
		expect(scene.alerts()).toHaveLength(1);
	});

	chargebackTest("has an alert again when somebody deletes it before the decision", async (world) => {
		const { scene, simulator, guild } = world;
		const alert = await world.charged("saved");
		scene.remove(alert);
		const mona = scene.target.member();
		if (mona) simulator.world.members.remove(guild, mona);
		const next = await scene.shown("Not in the server.");
		expect(next.id).not.toBe(alert.id);
		expect(pressable(next)).toEqual(["Ban", "Dismiss"]);
	});

	test("has an alert again at once, however it was deleted", async () => {
		// Discord tells of deletions to who reads messages.
		await using world = await startChargebackWorld({ settings: { verify: true } });
		const { scene, simulator } = world;
		await world.charged("saved");
		const { channel } = simulator.channel(staffChannel);
		if (!("guild_id" in channel)) throw new Error("it is a guild's");
		const deletions: ((alert: Message) => void)[] = [
			(alert) => simulator.world.messages.remove(channel, alert),
			(alert) => simulator.world.messages.removeMany(channel, [alert]),
		];
		for (const remove of deletions) {
			const alert = present(scene.alerts()[0]);
			remove(alert);
			await until("the next alert", () => scene.alerts().length > 0);
		}
		const alert = await scene.shown("saved");
		await world.press(staff, alert, "Dismiss");
		await scene.shown("Restored.");
		expect(scene.alerts()).toHaveLength(1);
	});

	chargebackTest("has an alert again when it was deleted while the bot was away", async (world) => {
		const { scene } = world;
		const alert = await world.charged("saved");
		await world.bot.close();
		scene.remove(alert);
		await world.restart();
		await until("the next alert", () => scene.alerts().length > 0);
		expect(pressable(scene.alerts()[0])).toEqual(["Ban", "Dismiss"]);
	});

	test("has an alert again after the decision, while something is still to be done", async () => {
		await using world = await startChargebackWorld({ settings: { verify: true } });
		const { scene, game } = world;
		game.misbehave("500", { route: "POST /api/ban" });
		await world.press(staff, await world.charged("saved"), "Ban");
		const alert = await scene.shown("Failed, will retry: the game server answered HTTP 500");
		scene.remove(alert);
		await until("the next alert", () => scene.alerts().length > 0);
		game.behave();
		await scene.field("Ban in the game", "Done.");
		expect(scene.alerts()).toHaveLength(1);
	});
});

describe.concurrent("Ban", () => {
	chargebackTest("bans on Discord and in the game, once, and says who decided", async (world) => {
		const { scene, simulator, game } = world;
		const { event } = await world.chargeback();
		const alert = await scene.shown("saved");
		expect(await world.press(staff, alert, "Ban")).toBe("Decision saved: Ban. The alert shows the progress.");
		const decided = await until("both halves are done", () => {
			const fields = scene.fields(scene.alerts()[0]);
			return fields["Ban on Discord"] === "Done." && fields["Ban in the game"] === "Done." && fields;
		});
		const by = simulator.user(staff).id;
		expect(decided.Decision).toMatch(new RegExp(`^Ban, by <@${by}> on <t:\\d+:f>$`));
		expect(pressable(scene.alerts()[0])).toEqual([]);
		expect(world.guild.bans.get(scene.target.id)?.reason).toMatch(
			new RegExp(`^Chargeback \\([0-9a-f]{8}\\), decided by ${by}$`),
		);
		expect([...game.bans]).toEqual([[event.uuid ?? "", `Chargeback of gold, ${event.timestamp}`]]);
		expect(world.written(putBan)).toBe(1);
		expect(game.requests.map(({ body }) => body)).toHaveLength(1);
		expect(scene.alerts()).toHaveLength(1);
	});

	test("on Discord is done and told though the game server fails, and the other half follows", async () => {
		await using world = await startChargebackWorld();
		const { scene, game } = world;
		game.misbehave("500", { route: "POST /api/ban" });
		await world.press(staff, await world.charged("saved"), "Ban");
		const alert = await scene.shown("Failed, will retry: the game server answered HTTP 500");
		await scene.field("Ban on Discord", "Done");
		expect(scene.fields(alert)["Ban in the game"]).toContain("HTTP 500");
		expect(game.bans.size).toBe(0);
		game.behave();
		await scene.field("Ban in the game", "Done.");
		expect(game.bans.size).toBe(1);
		expect(world.written(putBan)).toBe(1);
	});

	chargebackTest("on Discord does not wait for bans in the game, however many are under way", async (world) => {
		const { scene, game, guild } = world;
		game.misbehave("slow", { route: "POST /api/ban" });
		// As many as are asked for at once, and one more.
		for (let n = 1; n <= 6; n++) {
			await world.chargeback({ chatId: null, tier: `tier ${n}` });
			const alert = await until("its alert", () => (scene.alerts().length === n ? scene.alerts().at(-1) : undefined));
			await world.press(staff, alert, "Ban");
		}
		await until("five bans are asked for", () => game.requests.length >= 5);
		await world.press(staff, await world.charged("saved"), "Ban");
		await until("the ban on Discord", () => guild.bans.has(scene.target.id));
		await until("the alert is sent", () => {
			const fields = scene.fields(scene.alerts().at(-1));
			return fields["Ban on Discord"] === "Done.";
		});
		expect(game.bans.size).toBe(0);
		game.behave();
		await until("all bans", () => game.bans.size === 7);
	});

	chargebackTest("in the game is done and told though Discord refuses, and the other half follows", async (world) => {
		const { scene, simulator, game } = world;
		const refused = simulator.faults.refuse(putBan, RESTJSONErrorCodes.MissingPermissions);
		await world.press(staff, await world.charged("saved"), "Ban");
		await scene.shown("Failed, will retry: Discord refuses: the bot lacks a permission, or its role is too low");
		await until("the ban in the game", () => game.bans.size === 1);
		refused.release();
		await scene.field("Ban on Discord", "Done.");
		expect(game.requests).toHaveLength(1);
	});

	chargebackTest("is said to be impossible on Discord for an account that is no more", async (world) => {
		const { scene, game } = world;
		await world.press(staff, await world.charged("Not in the server", { chatId: "12345678901234567" }), "Ban");
		await scene.shown("Impossible: the Discord account no longer exists");
		await until("the ban in the game", () => game.bans.size === 1);
	});

	chargebackTest("leaves a ban as it is that somebody else has set", async (world) => {
		const { scene, simulator, guild } = world;
		await world.charged("saved");
		const user = scene.target.member()?.user;
		if (user) simulator.world.bans.add(guild, user);
		const alert = await scene.shown("Not in the server.");
		await world.press(staff, alert, "Ban");
		await scene.field("Ban on Discord", "Done.");
		expect(world.written(putBan)).toBe(0);
		expect(guild.bans.get(scene.target.id)?.reason).toBeNull();
	});
});

describe.concurrent("Dismiss", () => {
	test("gives the saved roles back, keeps what came meanwhile, and says what cannot be given", async () => {
		await using world = await startChargebackWorld();
		const { scene, simulator, guild } = world;
		const { roles, target, managed } = scene;
		const gone = giveRole(world, "mona_lisa", { name: "Gone" });
		const alert = await world.charged("3 roles saved");
		const meanwhile = giveRole(world, "mona_lisa", { name: "Meanwhile" });
		simulator.world.roles.remove(guild, gone);
		// Out of the bot's reach, from now on.
		const supporter = guild.roles.get(roles.supporter);
		if (supporter) simulator.world.roles.move(guild, new Map([[supporter, 100]]));
		await world.call("list_guilds");
		expect(await world.press(staff, alert, "Dismiss")).toStartWith("Decision saved: Dismiss.");
		await scene.shown(
			`Restored, except deleted roles and those above the bot's: <@&${roles.supporter}> <@&${gone.id}>`,
		);
		expect(target.roles()).toEqual([roles.regular, managed, meanwhile.id].sort());
		expect(world.written(patchMember)).toBe(2);
		expect(simulator.journal.entries(patchMember).at(-1)?.reason).toMatch(
			/^Chargeback dismissed \([0-9a-f]{8}\), decided by \d+$/,
		);
		expect(pressable(scene.alerts()[0])).toEqual([]);
		expect(world.written(putBan)).toBe(0);
	});

	chargebackTest("of one chargeback keeps the roles back until the other one is dismissed, too", async (world) => {
		const { scene } = world;
		const before = scene.target.roles();
		const first = await world.charged("2 roles saved");
		const second = await world.charged("There were no other roles.", { tier: "silver" });
		await world.press(staff, first, "Dismiss");
		await scene.field("Roles", "Restored once this person's other chargebacks are dismissed");
		expect(scene.target.roles()).toContain(scene.roles.restricted);
		expect(world.written(patchMember)).toBe(1);
		await world.press(staff, second, "Dismiss");
		await until("both are over", () => scene.alerts().every((alert) => scene.fields(alert).Roles === "Restored."));
		expect(scene.target.roles()).toEqual(before);
		expect(scene.alerts()).toHaveLength(2);
	});

	chargebackTest("does not undo the ban that another chargeback ends in", async (world) => {
		const { scene, guild } = world;
		const first = await world.charged("2 roles saved");
		const second = await world.charged("There were no other roles.", { tier: "silver" });
		await world.press(staff, first, "Dismiss");
		await world.press(staff, second, "Ban");
		await scene.field("Roles", "Not restored");
		await until("the ban", () => guild.bans.has(scene.target.id));
	});
});

test("each guild restricts and decides for itself, and its staff see and press only their own alert", async () => {
	const bakery: Record<string, string> = {};
	await using world = await startChargebackWorld({
		prepare(simulator) {
			const { world } = simulator;
			const bakers = addToBakers(simulator);
			for (const name of ["mona_lisa", staff]) world.members.add(bakers, userNamed(simulator, name), {});
			bakery.restricted = world.roles.add(bakers, { name: "Jail" }).id;
			bakery.staff = [...bakers.roles.values()].find(({ name }) => name === "Staff")?.id ?? "";
		},
		others: ({ guild, channel }) => ({
			[guild("The Bakers").id]: {
				"game.chargeback": true,
				"game.restricted_role": bakery.restricted,
				"game.staff_channel": channel("The Bakers/general").id,
				"game.staff_roles": [bakery.staff],
			},
		}),
	});
	const { scene, simulator, guild, game } = world;
	const bakers = simulator.guild("The Bakers");
	const alert = await world.charged("2 roles saved");
	const channel = simulator.channel("The Bakers/general").id;
	const elsewhere = await until("the other alert", () => simulator.world.messages.in(channel).at(-1));
	const inBakery = () => bakers.members.get(scene.target.id)?.roles;
	await until("both restrict", () => inBakery()?.includes(bakery.restricted ?? ""));
	expect(scene.target.roles()).toContain(scene.roles.restricted);
	// José is staff of one, Zoë of the other.
	expect(await world.press(staff, elsewhere, "Ban")).toContain("Only staff");
	expect(await world.press("zoe", elsewhere, "Dismiss")).toContain("Decision saved: Dismiss");
	await until("the roles are back there", () => inBakery()?.length === 0);
	expect(scene.target.roles()).toContain(scene.roles.restricted);
	await world.press(staff, alert, "Ban");
	await scene.field("Ban on Discord", "Done.");
	expect([guild.bans.has(scene.target.id), bakers.bans.has(scene.target.id)]).toEqual([true, false]);
	await until("the ban in the game", () => game.bans.size === 1);
});

test("a chargeback is for the next try while no guild handles it, and is not lost", async () => {
	await using world = await startChargebackWorld({ settings: { chargeback: false } });
	const first = await world.chargeback();
	expect(first.status).toBe(503);
	expect(first.body).toMatchObject({ error: expect.stringContaining("game.chargeback is off") });
	await world.call("set_settings", { settings: { "game.chargeback": true } });
	expect((await first.again()).status).toBe(202);
	await world.scene.shown("2 roles saved");
});

test("a changed restricted_role leaves nobody with the one before, though the change is refused and then dismissed", async () => {
	await using world = await startChargebackWorld();
	const { scene, simulator, guild, settings } = world;
	const before = scene.target.roles();
	const alert = await world.charged("2 roles saved");
	await world.bot.close();
	const next = simulator.world.roles.add(guild, { name: "Jail" });
	settings.restricted_role = next.id;
	const refused = simulator.faults.refuse(patchMember, RESTJSONErrorCodes.MissingPermissions);
	await world.restart();
	await until("the change is refused", () => refused.hits > 0);
	await world.press(staff, alert, "Dismiss");
	refused.release();
	await scene.shown("Restored.");
	expect(scene.target.roles()).toEqual(before);
});

describe.concurrent("a person who is not in the guild", () => {
	chargebackTest("is restricted when they come back, and keeps what was saved before they left", async (world) => {
		const { scene, simulator, guild } = world;
		const { target, roles } = scene;
		await world.charged("2 roles saved");
		const mona = target.present();
		simulator.world.members.remove(guild, mona);
		await scene.shown("They will be restricted when they rejoin.");
		simulator.world.members.add(guild, mona.user, {});
		const alert = await scene.shown("2 roles saved");
		expect(target.roles()).toEqual([roles.restricted]);
		await world.press(staff, alert, "Dismiss");
		await scene.shown("Restored.");
		expect(target.roles()).toEqual([roles.regular, roles.supporter].sort());
	});

	chargebackTest("gets their roles when they come back after Dismiss", async (world) => {
		const { scene, simulator, guild } = world;
		const { target, roles } = scene;
		await world.charged("2 roles saved");
		const mona = target.present();
		simulator.world.members.remove(guild, mona);
		const alert = await scene.shown("They will be restricted when they rejoin.");
		await world.press(staff, alert, "Dismiss");
		await scene.shown("The roles will be restored when they rejoin.");
		simulator.world.members.add(guild, mona.user, {});
		await scene.shown("Restored.");
		expect(target.roles()).toEqual([roles.regular, roles.supporter].sort());
	});

	for (const away of ["the bot was stopped", "Discord's Gateway had lost the bot"] as const)
		chargebackTest(`is restricted, too, if they came back while ${away}`, async (world) => {
			const { scene, simulator, guild } = world;
			const { sockets } = simulator;
			const mona = scene.target.present();
			simulator.world.members.remove(guild, mona);
			await world.charged("They will be restricted when they rejoin.");
			if (away === "the bot was stopped") await world.bot.close();
			sockets.refuseConnections(502);
			sockets.disconnect({ resumable: false });
			simulator.world.members.add(guild, mona.user, { roles: [scene.roles.regular] });
			sockets.refuseConnections(undefined);
			if (away === "the bot was stopped") await world.restart();
			await scene.shown("1 role saved");
			expect(scene.target.roles()).toEqual([scene.roles.restricted]);
			expect(scene.alerts()).toHaveLength(1);
		});
});

describe.concurrent("a restriction", () => {
	let givingHeld: InjectedFault | undefined;
	const tiers = { gold: "" };

	test("takes what the supporters' sync gives meanwhile", async () => {
		await using world = await startChargebackWorld({
			async prepare(simulator, game) {
				game.addDonator({ chat_id: simulator.user("mona_lisa").id, tier: "gold" });
				givingHeld = simulator.faults.stall("PUT /guilds/:guild_id/members/:user_id/roles/:role_id");
				const guild = simulator.guild("The Cooks");
				const { id } = simulator.world.roles.add(guild, { name: "Gold" });
				tiers.gold = id;
			},
			settings: { donator_sync: true, check_interval: 3600, tiers },
		});
		const { scene, simulator } = world;
		await until("the role is being given", () => (givingHeld?.hits ?? 0) > 0);
		await world.chargeback();
		// One that comes later and needs no restriction is told meanwhile.
		await world.charged("Not linked:", { chatId: null });
		expect(world.written(patchMember)).toBe(0);
		givingHeld?.release();
		await scene.shown("3 roles saved");
		expect(scene.target.roles()).toEqual([scene.managed, scene.roles.restricted].sort());
		expect(simulator.unknownRoutes).toEqual([]);
	});

	chargebackTest("is not prevented by a managed role above the bot, which is kept", async (world) => {
		const { scene, simulator, guild } = world;
		const booster = present(guild.roles.get(scene.managed));
		simulator.world.roles.move(guild, new Map([[booster, 100]]));
		await until("the bot has heard", async () => (await world.call("list_roles")).text.match(/Booster[\s\S]*alpha/));
		await world.charged("2 roles saved");
		expect(scene.target.roles()).toEqual([scene.managed, scene.roles.restricted].sort());
	});

	chargebackTest("that was there before stays after Dismiss", async (world) => {
		const { scene, simulator, guild } = world;
		const mona = scene.target.present();
		simulator.world.members.edit(guild, mona, { roles: [...mona.roles, scene.roles.restricted] });
		const before = scene.target.roles();
		const first = await world.charged("3 roles saved");
		const second = await world.charged("There were no other roles.", { tier: "silver" });
		await world.press(staff, first, "Dismiss");
		await world.press(staff, second, "Dismiss");
		await scene.shown("Restored.");
		expect(scene.target.roles()).toEqual(before);
	});
});

describe.concurrent("who cannot be restricted", () => {
	chargebackTest("because they own the guild is told of, and so is the ban that Discord refuses", async (world) => {
		const { scene, simulator, game } = world;
		const alert = await world.charged("the bot cannot remove roles from the owner of the server", {
			chatId: simulator.user("ada").id,
		});
		await world.press(staff, alert, "Ban");
		await scene.shown("Discord refuses: the bot lacks a permission, or its role is too low");
		await until("the ban in the game", () => game.bans.size === 1);
		expect(world.written(patchMember)).toBe(0);
	});

	chargebackTest("because they rank above the bot is told of, and restricted once they do not", async (world) => {
		const { scene, simulator, guild } = world;
		const supporter = present(guild.roles.get(scene.roles.supporter));
		const { position } = supporter;
		simulator.world.roles.move(guild, new Map([[supporter, 100]]));
		await until("the bot has heard", async () => (await world.call("list_roles")).text.match(/Supporter[\s\S]*alpha/));
		await world.charged("not below the bot's highest role");
		expect(world.written(patchMember)).toBe(0);
		simulator.world.roles.move(guild, new Map([[supporter, position]]));
		await scene.shown("2 roles saved");
		expect(scene.alerts()).toHaveLength(1);
	});
});

describe.concurrent("a press", () => {
	chargebackTest("of somebody who is not staff is refused, and decides nothing", async (world) => {
		const { scene, simulator, guild } = world;
		const alert = await world.charged("saved");
		// The owner, who sees every channel.
		expect(await world.press("ada", alert, "Ban")).toBe("Only staff can decide on chargebacks.");
		const zoe = memberNamed({ guild }, "zoe");
		simulator.world.members.edit(guild, zoe, { roles: [scene.roles.staff] });
		expect(await world.press("zoe", alert, "Dismiss")).toStartWith("Decision saved: Dismiss");
		await scene.shown("Restored.");
		expect(guild.bans.size).toBe(0);
	});

	chargebackTest("that comes second changes nothing, and its person is told who was first", async (world) => {
		const { scene, simulator, guild } = world;
		const zoe = memberNamed({ guild }, "zoe");
		simulator.world.members.edit(guild, zoe, { roles: [scene.roles.staff] });
		const alert = await world.charged("saved");
		// Its buttons stay as they are for now.
		const held = simulator.faults.stall(editMessage);
		await world.press(staff, alert, "Dismiss");
		const { id } = simulator.user(staff);
		expect(await world.press("zoe", alert, "Ban")).toBe(`<@${id}> has already decided: Dismiss. Nothing was done.`);
		expect(await world.press(staff, alert, "Ban")).toBe("You have already decided: Dismiss. Nothing was done.");
		held.release();
		await scene.shown("Restored.");
		expect(guild.bans.size).toBe(0);
	});

	chargebackTest("is about whom the store says, whatever the message says", async (world) => {
		const { scene, simulator, guild } = world;
		const liwei = simulator.user("liwei").id;
		const alert = await world.charged("saved");
		const embeds = JSON.parse(JSON.stringify(alert.embeds).replaceAll(scene.target.id, liwei));
		const { channel } = simulator.channel(staffChannel);
		simulator.world.messages.edit(channel, alert, { embeds });
		await world.press(staff, alert, "Ban");
		await until("the ban", () => guild.bans.size > 0);
		expect([...guild.bans.keys()]).toEqual([scene.target.id]);
	});

	chargebackTest("on a chargeback that is not in the store is told so", async (world) => {
		const { simulator, guild } = world;
		const alert = await world.charged("saved");
		const components = JSON.parse(JSON.stringify(alert.components).replaceAll(/[0-9a-f]{64}/g, "0".repeat(64)));
		const { channel } = simulator.channel(staffChannel);
		const forged = simulator.world.messages.add(channel, alert.author, { content: "", components });
		expect(await world.press(staff, forged, "Ban")).toBe(
			"This chargeback is not in the bot's database. Nothing was done.",
		);
		expect(guild.bans.size).toBe(0);
	});
});

const event = {
	uuid: "8667ba71-b85a-4004-af54-457a9734eed7",
	username: "Alex",
	chat_id: "12345678901234567",
	tier: "gold",
	timestamp: "2026-01-31T12:00:00Z",
};

const post = (body: string | ReadableStream) =>
	new Request("http://bot/webhook/chargeback", { method: "POST", headers: { authorization: "Bearer s" }, body });

describe("POST /webhook/chargeback", () => {
	/** For tests that begin no chargeback, or none that they look at. */
	const shared = sharedBy(startChargebackWorld);

	const without = (name: keyof typeof event) => {
		const { [name]: _, ...rest } = event;
		return rest;
	};
	const beyondSchema = /18446744073709551616|1e\+300|:-1[,}]/;
	const faulty: [body: unknown, names: string][] = [
		...(["uuid", "username", "chat_id", "tier", "timestamp"] as const).flatMap((name): [unknown, string][] => [
			[without(name), name],
			[{ ...event, [name]: { secret: "hidden" } }, name],
			[{ ...event, [name]: "" }, name],
			[{ ...event, [name]: "hidden\u0000" }, name],
			[{ ...event, [name]: "hidden".repeat(100) }, name],
		]),
		[{ ...event, chat_id: 12345678901234560 }, "chat_id"],
		[{ ...event, chat_id: "18446744073709551616" }, "chat_id"],
		[{ ...without("chat_id"), discord_id: "hidden" }, "discord_id"],
		[{ ...event, uuid: "hid den" }, "uuid"],
		[{ ...event, timestamp: "2026-02-31T12:00" }, "timestamp"],
		[{ ...event, timestamp: "tomorrow" }, "timestamp"],
		[{ ...event, timestamp: 1e300 }, "timestamp"],
		[{ ...event, timestamp: -1 }, "timestamp"],
		[{ ...event, tier: null, uuid: null }, "uuid tier"],
	];

	test("says which fields are not as they should be, and never what is in them", async () => {
		const world = shared();
		const { game } = world;
		const url = new URL(world.bot.url).origin;
		for (const [body, names] of faulty) {
			const answer = await game.chargeback({ username: "", chatId: null, tier: "" }, { url, body });
			const { error = "" } = answer.body as { error?: string };
			const named = error.split("; ").map((fault) => fault.split(":")[0]);
			expect([body, answer.status, named]).toEqual([body, 400, names.split(" ")]);
			expect(error).not.toContain("hid");
			if (!beyondSchema.test(JSON.stringify(body)))
				expect([body, allows("POST /webhook/chargeback", "request", body)]).toEqual([body, false]);
		}
		for (const body of ["", "{", "[]", '"text"', "null", "\xff"]) {
			const answer = await game.chargeback({ username: "", chatId: null, tier: "" }, { url, body });
			expect([answer.status, answer.body]).toEqual([
				400,
				{ accepted: false, error: "request body is not a JSON object" },
			]);
		}
		expect(world.scene.alerts()).toEqual([]);
	});

	test("asks for the secret first, and for nothing but POST, by whatever name it is called", async () => {
		const world = shared();
		const { game } = world;
		const origin = new URL(world.bot.url).origin;
		const { port } = new URL(origin);
		const authorization = `Bearer ${game.secret}`;
		const ask = async (method: string, headers: Record<string, string>) => {
			const response = await fetch(`${origin}/webhook/chargeback`, {
				method,
				headers,
				...(method === "POST" && { body: JSON.stringify(event) }),
			});
			return { status: response.status, headers: response.headers };
		};
		for (const header of ["", "Bearer", "Bearer wrong", `Basic ${game.secret}`, game.secret]) {
			const { status, headers } = await ask("POST", { authorization: header });
			expect([header, status]).toEqual([header, 401]);
			expect(headers.get("www-authenticate")).toStartWith("Bearer");
		}
		for (const method of ["GET", "PUT", "DELETE"]) {
			const { status, headers } = await ask(method, { authorization });
			expect([status, headers.get("allow")]).toEqual([405, "POST"]);
		}
		const page = { authorization, origin: "https://evil.example" };
		expect((await ask("POST", page)).status).toBe(403);
		const called = { authorization, host: `bot.internal:${port}` };
		expect((await ask("POST", called)).status).toBe(202);
		expect((await ask("POST", { authorization })).status).toBe(202);
	});

	test("answers over the wire before the body is there, where it can", async () => {
		const world = shared();
		const origin = new URL(world.bot.url).origin;
		const secret = `Bearer ${world.game.secret}`;
		const ask = async (authorization: string, header: readonly [string, string], body: string) => {
			const { status } = await exchange(
				origin,
				requestText(
					"POST /webhook/chargeback",
					[["Host", new URL(origin).host], ["Authorization", authorization], header],
					body,
				),
			);
			return status;
		};
		const announced = (length: number) => ["Content-Length", String(length)] as const;
		const unannounced = ["Transfer-Encoding", "chunked"] as const;
		/** Chunks without the last one, which says that there are no more. */
		const unended = (text: string) => chunked(text).slice(0, -"0\r\n\r\n".length);
		const answers = await Promise.all([
			ask("Bearer wrong", announced(100), ""),
			ask("Bearer wrong", unannounced, ""),
			ask("Bearer wrong", announced(64 * 1024 + 1), ""),
			ask(secret, announced(64 * 1024 + 1), ""),
			ask(secret, unannounced, unended(" ".repeat(64 * 1024 + 1))),
			ask(secret, announced(100), "{"),
			ask(secret, unannounced, unended("{")),
			ask(secret, unannounced, chunked(JSON.stringify(event))),
		]);
		expect(answers).toEqual([401, 401, 401, 413, 413, 408, 408, 202]);
	});

	test("takes 64 KiB and not a byte more, announced or not", async () => {
		const stored: unknown[] = [];
		const answer = createChargebackWebhook({ secret: "s", accept: async (one) => stored.push(one) > 0 });
		const ask = (body: string | ReadableStream) => answer(post(body));
		const text = JSON.stringify(event);
		const full = text.padEnd(64 * 1024);
		const streamed = (content: string) => new Blob([content]).stream();
		for (const [body, status] of [
			[full, 202],
			[`${full} `, 413],
			[streamed(full), 202],
			[streamed(`${full} `), 413],
		] as const)
			expect((await ask(body)).status).toBe(status);
		expect(stored).toHaveLength(2);
		expect(allows("POST /webhook/chargeback", "request", event)).toBe(true);
	});

	test("does not wait for a body without end", async () => {
		const answer = createChargebackWebhook({
			secret: "s",
			accept: () => Promise.reject(new Error("there is nothing to accept")),
			bodyTimeoutMs: 20,
		});
		const response = await answer(
			post(new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode("{")) })),
		);
		expect(response.status).toBe(408);
		expect(response.headers.get("connection")).toBe("close");
	});

	test("is told to try again while the store is away", async () => {
		const answer = createChargebackWebhook({
			secret: "s",
			accept: () => Promise.reject(new StoreUnavailable("it is away")),
		});
		const response = await answer(post(JSON.stringify(event)));
		expect([response.status, await response.json()]).toEqual([
			503,
			{ accepted: false, error: "the bot's database is unavailable: try again" },
		]);
		expect(response.headers.get("retry-after")).toBe("30");
	});

	test("understands seconds, milliseconds and ISO 8601", async () => {
		const at: string[] = [];
		const answer = createChargebackWebhook({
			secret: "s",
			accept: async ({ happened_at }) => at.push(happened_at) > 0,
		});
		const timestamps = [
			1_769_860_800,
			1_769_860_800_000,
			"2026-01-31T12:00:00Z",
			"2026-01-31T12:00",
			"2026-01-31T12:00:00.123456789Z",
			"2026-01-31T14:00:00+02:00",
		];
		for (const timestamp of timestamps) await answer(post(JSON.stringify({ ...event, timestamp })));
		const noon = "2026-01-31T12:00:00.000Z";
		expect(at).toEqual([...[noon, noon, noon, noon], "2026-01-31T12:00:00.123Z", noon]);
	});
});

const row: Chargeback = {
	id: "0".repeat(64),
	guild_id: "7",
	uuid: "u",
	username: "Alex",
	tier: "gold",
	chat_id: event.chat_id,
	happened_at: event.timestamp,
	received_at: 0,
	restriction: "restricted",
	restriction_error: null,
	saved_roles: [],
	restricted_role: "1",
	alerts_lost: 0,
	shown: null,
	channel_id: null,
	message_id: null,
	closed: 0,
	decision: "dismiss",
	decided_by: "2",
	decided_at: 0,
	discord_ban: "none",
	discord_ban_error: null,
	game_ban: "none",
	game_ban_error: null,
	restoration: "restored",
	restoration_error: null,
	lost_roles: [],
};

/** Chargebacks without a bot around them, on a store of their own; `around` is what statements go through. */
async function startAlone(
	connection: object,
	around: (run: () => Promise<unknown[]>, text: string) => Promise<unknown[]>,
) {
	const place = openPlace();
	const { log, lines } = recordLog("debug");
	const where = { databaseUrl: undefined, schema: undefined, directory: place.path };
	const store = startStore({ ...where, instance: "Alpha", log });
	await store.opened;
	const sql = ((strings, ...values) => around(() => store.sql(strings, ...values), strings.join("?"))) as Sql;
	const chargebacks = new GuildChargebacks({
		store: { sql },
		log,
		guildId: "7",
		game: { ban: async () => {} },
		mutex: new KeyedMutex(),
		connection: connection as Connection,
		settings: { restrictedRole: "1", staffChannel: "2", staffRoles: [] },
	});
	const respond = createChargebackWebhook({
		secret: "s",
		async accept(told) {
			await chargebacks.accept(told);
			return true;
		},
	});
	return {
		chargebacks,
		log,
		lines,
		sql,
		open: () => selectOpenChargebacks(store.sql, "7"),
		/** The status of what is answered to `event`. */
		async tell() {
			return (await respond(post(JSON.stringify(event)))).status;
		},
		async [Symbol.asyncDispose]() {
			await chargebacks.close();
			await store.close();
			place[Symbol.dispose]();
		},
	};
}

describe("where the store's answer is lost", () => {
	/** What holds this text is carried out once without an answer. */
	function losing(text: string) {
		let isLost = false;
		return async (run: () => Promise<unknown[]>, statement: string) => {
			const rows = await run();
			if (isLost || !statement.includes(text)) return rows;
			isLost = true;
			throw new StoreUnavailable("the answer was lost");
		};
	}

	test("a chargeback is begun at the second try", async () => {
		const around = losing("INSERT INTO chargebacks");
		let isBegun = false;
		const away = {
			get ready(): boolean {
				isBegun = true;
				return false;
			},
		};
		await using alone = await startAlone(away, around);
		expect(await alone.tell()).toBe(503);
		expect(await alone.tell()).toBe(202);
		await until("it is begun", () => isBegun);
	});

	test("a decision is looked at", async () => {
		const around = losing("UPDATE chargebacks SET");
		await using alone = await startAlone({ ready: false }, around);
		let looks = 0;
		const buttons = createChargebackButtons({
			store: { sql: alone.sql },
			staffRoles: () => ["1"],
			log: alone.log,
			onDecision() {
				looks += 1;
			},
		});
		await alone.tell();
		const [row] = await alone.open();
		const press = {
			user: { id: "9" },
			guildId: "7",
			member: { roles: ["1"] },
			isButton: () => true,
			deferReply: async () => {},
		};
		const pressed = buttons.run(press as unknown as ButtonInteraction<"cached">, `ban:${row?.id}`);
		expect(pressed).rejects.toBeInstanceOf(StoreUnavailable);
		await pressed.catch(() => {});
		expect((await alone.open())[0]?.decision).toBe("ban");
		expect(looks).toBe(1);
	});
});

test("an internal error in a restriction is stored, so that the alert is sent", async () => {
	const broken = {
		get ready(): boolean {
			throw new TypeError("x is not a function");
		},
	};
	await using alone = await startAlone(broken, (run) => run());
	await alone.tell();
	const row = await until("the fault is noted", async () => {
		const [one] = await alone.open();
		return one?.restriction_error ? one : undefined;
	});
	expect(row.restriction_error).toBe(JSON.stringify(said("why.internal")));
	expect(alone.lines.join("\n")).toContain("x is not a function");
});

test("steps that change a person's roles or bans wait for the person's lock", async () => {
	const mutex = new KeyedMutex();
	const held = Promise.withResolvers<void>();
	void mutex.withLock(event.chat_id, () => held.promise);
	const steps = new ChargebackSteps({
		connection: { ready: false } as Connection,
		store: { sql: async () => [] },
		mutex,
		guildId: "7",
		game: { ban: async () => {} },
		settings: { restrictedRole: "1", staffChannel: "2", staffRoles: [] },
	});
	const ended: string[] = [];
	for (const step of ["restrict", "restore", "ban on Discord"] as const) {
		const end = () => ended.push(step);
		void steps.run(step, row, false).then(end, end);
	}
	await Bun.sleep(0);
	expect(ended).toEqual([]);
	held.resolve();
	await until("all have ended", () => ended.length === 3);
});

test("nothing is scanned after close", async () => {
	const held = Promise.withResolvers<unknown[]>();
	let isAsked = false;
	await using alone = await startAlone({ ready: false }, () => {
		isAsked = true;
		return held.promise;
	});
	alone.chargebacks.start();
	await until("it looks", () => isAsked);
	const closed = alone.chargebacks.close();
	const timers = spyOn(globalThis, "setTimeout");
	try {
		held.reject(new StoreUnavailable("away"));
		await closed;
		expect(timers.mock.calls.filter(([, ms]) => ms !== 0)).toEqual([]);
	} finally {
		timers.mockRestore();
	}
});

describe("what the staff read", () => {
	const fields = (changes: Partial<Chargeback>, language: Language = "en") =>
		(createAlert({ ...row, ...changes }, false, language).body.embeds ?? [])
			.flatMap((embed) => embed.fields ?? [])
			.map(({ value }) => value);

	test.each<[Partial<Chargeback>, string]>([
		[{}, "In Arbeit."],
		[
			{ restriction: "restricted", restricted_role: "7", saved_roles: ["1"] },
			"Auf <@&7> eingeschränkt. 1 Rolle ist gesichert.",
		],
		[
			{ restriction_error: JSON.stringify(said("chargeback.refused.owner")) },
			"Fehlgeschlagen, wird wiederholt: Der Bot kann dem Inhaber des Servers keine Rollen nehmen.",
		],
		[
			{ restriction_error: JSON.stringify(failureReason(new PlatformTimeout("unknown"))) },
			"Fehlgeschlagen, wird wiederholt: Discord hat nicht rechtzeitig geantwortet",
		],
	])("is in the language of the server: %j", (changes, text) => {
		expect(fields({ decision: null, restriction: "pending", ...changes }, "de").at(-1)).toBe(text);
	});

	test("is no mention cut in two, however many roles are lost", () => {
		const lost_roles = Array.from({ length: 250 }, (_, n) => String(18446744073709551000n - BigInt(n)));
		const roles = fields({ lost_roles }).at(-1);
		expect(roles).toEndWith("> and 215 more");
		expect(roles?.match(/<@&\d{20}>/g)).toHaveLength(35);
		expect(fields({ lost_roles: lost_roles.slice(0, 35) }).at(-1)).toEndWith(">");
	});

	test("is no character cut in two", () => {
		const told = fields({
			decision: null,
			restriction: "pending",
			restriction_error: JSON.stringify(said("refusal.reason", { text: `x${"😀".repeat(600)}` })),
		}).join("");
		expect(told.isWellFormed()).toBe(true);
		expect(told).toContain("😀…");
	});

	test("is that a ban is impossible, and why, where that is known", () => {
		const impossible = { decision: "ban", discord_ban: "impossible" } as const;
		expect(fields(impossible).join()).toContain("Impossible: ");
		const discord_ban_error = JSON.stringify(said("chargeback.refused.no-account"));
		expect(fields({ ...impossible, discord_ban_error }).join()).toContain(
			"Impossible: the Discord account no longer exists",
		);
	});

	test("is Discord's refusal on one line", () => {
		const error = new DiscordAPIError(
			{
				code: 50035,
				message: "Invalid Form Body",
				errors: { roles: { _errors: [{ code: "X", message: "Unknown role" }] } },
			},
			50035,
			400,
			"PATCH",
			"http://discord",
			{},
		);
		expect(error.message).toContain("\n");
		expect(render(failureReason(error) ?? "", "en")).toBe(
			"Discord refuses: Invalid Form Body; roles[X]: Unknown role (code 50035)",
		);
	});
});

onBoth(({ place }, kind) => {
	test(`${kind}: roles are kept back until the last chargeback is over`, async () => {
		await using opened = await openStore(await place(), { migrations });
		const { sql } = opened.store;
		const [guild_id, chat_id] = ["7", "12345678901234567"];
		const kept = async () => (await selectRestricted(sql, guild_id)).has(chat_id);
		const told = {
			guild_id,
			uuid: "u",
			username: "Alex",
			chat_id,
			tier: "gold",
			happened_at: "2026-01-31T12:00:00.000Z",
		};
		expect(await kept()).toBe(false);
		const now = new Date();
		expect(await insertChargeback(sql, { ...told, id: "1" }, now)).toBe(true);
		expect(await insertChargeback(sql, { ...told, id: "1" }, now)).toBe(false);
		expect(await insertChargeback(sql, { ...told, id: "2" }, now)).toBe(true);
		expect(await kept()).toBe(true);
		expect(await decide(sql, { id: "1", guild_id: "8" }, "dismiss", "9")).toBe(false);
		expect(await decide(sql, { id: "1", guild_id }, "dismiss", "9")).toBe(true);
		expect(await decide(sql, { id: "1", guild_id }, "ban", "8")).toBe(false);
		await updateChargebacks(sql, ["1"], { restoration: "restored" });
		expect(await kept()).toBe(true);
		await decide(sql, { id: "2", guild_id }, "ban", "9");
		expect(await kept()).toBe(true);
		await updateChargebacks(sql, ["2"], { closed: 1 });
		expect(await kept()).toBe(false);
	});
});

onOwnPostgres((databases) => {
	test("a chargeback waits for the database, and is told of what it could not note", async () => {
		const { settings } = await databases.place();
		await using world = await startChargebackWorld({
			config: () => ({ databaseUrl: settings.databaseUrl, dbSchema: settings.schema }),
		});
		const { scene, simulator } = world;
		const first = await world.chargeback();
		const alert = await scene.shown("saved");
		await databases.postgres.kill();
		const asked = await simulator.user(staff).press(alert, "Dismiss");
		expect((await asked.reply()).content).toMatch(/^The bot's database /);
		const again = await first.again();
		expect(again.status).toBe(503);
		await databases.postgres.start();
		await until("the store is back", async () => {
			const { status } = await first.again();
			return status === 202;
		});
		await world.press(staff, alert, "Dismiss");
		await scene.shown("Restored.");
		expect(scene.alerts()).toHaveLength(1);
		expect(world.written(patchMember)).toBe(2);
	});
});
