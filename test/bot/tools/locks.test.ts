// lock_channel.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { startBot } from "../../../src/bot/bot.ts";
import type { BotConfig } from "../../../src/bot/config/config.ts";
import type { ChannelLockRow } from "../../../src/bot/store/tables/channel-locks.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import { createLocks } from "../../../src/bot/tool/channel-locks.ts";
import type { GuildChannelType, Overwrite } from "../../../src/simulator/world/state/entities.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import {
	channelNamed,
	denyBot,
	memberNamed,
	quickTiming,
	roleNamed,
	roleOverwrite,
	startWorld,
	type TestWorld,
	writes,
} from "../../support/world.ts";

const {
	AddReactions,
	Connect,
	CreatePrivateThreads,
	CreatePublicThreads,
	ManageMessages,
	ManageRoles,
	SendMessages,
	SendMessagesInThreads,
	Speak,
	ViewChannel,
} = PermissionFlagsBits;
const written = SendMessages | SendMessagesInThreads | CreatePublicThreads | CreatePrivateThreads | AddReactions;
const writtenNames =
	"ADD_REACTIONS, SEND_MESSAGES, CREATE_PUBLIC_THREADS, CREATE_PRIVATE_THREADS, SEND_MESSAGES_IN_THREADS";

/** A new channel of the guild, with these overwrites. */
async function place(
	overwrites: (world: TestWorld) => Overwrite[] = () => [],
	type: GuildChannelType = ChannelType.GuildText,
) {
	const world = await startWorld();
	const { guild, simulator } = world;
	const channel = simulator.world.channels.add(guild, { name: "hall", type, permission_overwrites: overwrites(world) });
	const bot = simulator.bot("alpha").id;
	await world.heard();
	return {
		world,
		channel,
		bot,
		name: `#hall (ID: ${channel.id})`,
		before: structuredClone(channel.permission_overwrites),
		lock: () => world.call("lock_channel", { channel_ids: [channel.id] }),
		unlock: () => world.call("lock_channel", { channel_ids: [channel.id], unlock: true }),
		path: (id: string) => `PUT /channels/${channel.id}/permissions/${id}`,
		overwriteOf: (id: string) => channel.permission_overwrites.find((one) => one.id === id),
		noted: () => {
			const file = join(world.dataDirectory, "store.sqlite");
			using database = new Database(file, { readonly: true });
			return database.query("SELECT * FROM channel_locks").all().length;
		},
		[Symbol.asyncDispose]: world[Symbol.asyncDispose],
	};
}

const placeTest = testWith(place);

const saying = ({ simulator }: TestWorld, name: string) => simulator.user(name).say("The Cooks/hall", "hello");

placeTest(
	"only the bot writes in a locked channel, and unlocking restores it",
	async ({ world, bot, channel, lock, unlock, name, noted }) => {
		const { text, isError } = await lock();
		expect(isError).toBe(false);
		expect(text.split("\n")).toEqual([
			`Locked 1 channel(s): members may no longer ${writtenNames}. unlock = true undoes it.`,
			name,
		]);
		expect(channel.permission_overwrites).toEqual([
			{ id: bot, type: 1, allow: String(written), deny: "0" },
			{ id: world.guild.id, type: 0, allow: "0", deny: String(written) },
		]);
		await expect(saying(world, "zoe")).rejects.toThrow();
		const sent = { channel_id: channel.id, content: "quiet, please" };
		expect((await world.call("send_message", sent)).isError).toBe(false);
		expect(noted()).toBe(2);
		const undone = await unlock();
		expect(undone.text).toBe(`Unlocked 1 channel(s):\n${name}`);
		expect(channel.permission_overwrites).toEqual([]);
		expect(noted()).toBe(0);
		await saying(world, "zoe");
	},
);

test("other overwrites and permissions stay, and unlocking restores exactly what was changed", async () => {
	await using scene = await place((world) => [
		{ id: world.guild.id, type: 0, allow: String(SendMessages | ViewChannel), deny: String(AddReactions | Speak) },
		{ id: roleNamed(world, "Staff").id, type: 0, deny: "0", allow: String(SendMessages) },
		{ id: world.simulator.bot("alpha").id, type: 1, allow: String(ManageMessages), deny: String(Speak) },
	]);
	const { world, bot, before, channel, lock, unlock, overwriteOf } = scene;
	const { text } = await lock();
	expect(text).toEndWith("; exempt: @Staff");
	expect(overwriteOf(world.guild.id)).toMatchObject({ allow: String(ViewChannel), deny: String(written | Speak) });
	expect(overwriteOf(bot)).toMatchObject({
		allow: String(ManageMessages | (written & ~AddReactions)),
		deny: String(Speak),
	});
	await saying(world, "jose.garcia");
	await expect(saying(world, "zoe")).rejects.toThrow();
	await unlock();
	const sorted = (some: readonly Overwrite[]) => some.toSorted((a, b) => a.id.localeCompare(b.id));
	expect(sorted(channel.permission_overwrites)).toEqual(sorted(before));
});

test.each([ChannelType.GuildVoice, ChannelType.GuildStageVoice])(
	"a voice channel (%d) is locked for speaking too, except for the bot",
	async (type) => {
		await using scene = await place(undefined, type);
		const { world, channel, lock, unlock, overwriteOf, bot } = scene;
		const mona = memberNamed(world, "mona_lisa");
		world.simulator.world.voice.join(channel, mona);
		await world.heard();
		expect((await lock()).text).toEndWith("; still in it: 1");
		const all = String(written | Connect | Speak);
		expect(overwriteOf(world.guild.id)?.deny).toBe(all);
		expect(overwriteOf(bot)?.allow).toBe(all);
		expect((await unlock()).isError).toBe(false);
		expect(channel.permission_overwrites).toEqual([]);
	},
);

describe("is refused", () => {
	placeTest("locking what is locked, and unlocking what is not", async ({ world, lock, unlock, name }) => {
		expect((await unlock()).text).toStartWith(`Not unlocked: ${name}: not locked by lock_channel; `);
		await lock();
		const sent = writes(world).length;
		expect((await lock()).text).toMatch(
			/ has been locked since \d{4}-.+Z; unlock = true unlocks it\. Nothing was done\.$/,
		);
		await unlock();
		expect((await unlock()).text).toContain("not locked by lock_channel");
		expect(writes(world)).toHaveLength(2 * sent);
	});

	test("locking an empty category, no channels, and what denies all of it already", async () => {
		await using scene = await place((world) => [{ id: world.guild.id, type: 0, allow: "0", deny: String(written) }]);
		const { world, lock, noted } = scene;
		expect((await lock()).text).toContain("nobody but staff may do there");
		const { id } = world.simulator.world.channels.add(world.guild, { name: "empty", type: ChannelType.GuildCategory });
		await world.heard();
		const category = await world.call("lock_channel", { channel_ids: [id] });
		expect(category.text).toContain("There are no channels to lock or unlock in the given categories");
		for (const args of [{}, { channel_ids: [id], all: true }])
			expect((await world.call("lock_channel", args)).text).toContain(
				"channel_ids, all: expected exactly one of these",
			);
		expect(writes(world)).toEqual([]);
		expect(noted()).toBe(0);
	});

	placeTest("writing that only others than the bot may deny", async ({ world, lock, noted }) => {
		const platform = world.simulator.world;
		for (const role of world.guild.roles.values())
			platform.roles.edit(world.guild, role, { permissions: String(BigInt(role.permissions) & ~SendMessages) });
		platform.roles.add(world.guild, { name: "Verified", permissions: String(SendMessages) });
		await world.heard();
		expect((await lock()).text).toContain("it lacks SEND_MESSAGES");
		expect(writes(world)).toEqual([]);
		expect(noted()).toBe(0);
	});
});

placeTest(
	"what nobody but staff may do is not denied, and needs no permission",
	async ({ world, lock, unlock, channel }) => {
		const platform = world.simulator.world;
		for (const role of world.guild.roles.values())
			platform.roles.edit(world.guild, role, { permissions: String(BigInt(role.permissions) & ~CreatePrivateThreads) });
		await world.heard();
		expect(await lock()).toMatchObject({ isError: false });
		const denied = channel.permission_overwrites.find(({ id }) => id === world.guild.id);
		expect(denied?.deny).toBe(String(written & ~CreatePrivateThreads));
		await unlock();
		expect(channel.permission_overwrites).toEqual([]);
	},
);

describe("where roles and members may write by overwrites", () => {
	/** Only Verified sees and uses the channel; Zoë has the role, Mona an overwrite of her own. */
	async function gated(type?: GuildChannelType) {
		const bits = String(ViewChannel | written | Connect | Speak);
		const scene = await place((world) => {
			const platform = world.simulator.world;
			const verified = platform.roles.add(world.guild, { name: "Verified" });
			for (const name of ["zoe", "alpha"]) {
				const member = memberNamed(world, name);
				const roles = [...member.roles, verified.id];
				platform.members.edit(world.guild, member, { roles });
			}
			const allow = { allow: bits, deny: "0" };
			return [
				{ id: world.guild.id, type: 0, allow: "0", deny: bits },
				{ id: verified.id, type: 0, ...allow },
				{ id: roleNamed(world, "Staff").id, type: 0, ...allow },
				{ id: memberNamed(world, "mona_lisa").user.id, type: 1, ...allow },
				{ id: botOf(world), type: 1, allow: bits, deny: "0" },
			];
		}, type);
		return scene;
	}
	const botOf = ({ simulator }: TestWorld) => simulator.bot("alpha").id;

	test.each(["named", "in its category", "all"] as const)(
		"a lock takes it from all but staff, names them, and is undone exactly: %s",
		async (how) => {
			await using scene = await gated();
			const { world, channel, before } = scene;
			const platform = world.simulator.world;
			const category = platform.channels.add(world.guild, { name: "gated", type: ChannelType.GuildCategory });
			platform.channels.edit(channel, { parent_id: category.id });
			const args = {
				named: { channel_ids: [channel.id] },
				"in its category": { channel_ids: [category.id] },
				all: { all: true },
			}[how];
			await world.heard();
			await saying(world, "zoe");
			const locked = await world.call("lock_channel", args);
			expect(locked).toMatchObject({ isError: false });
			expect(locked.text).toContain("@Verified, MONA LISA");
			expect(locked.text).not.toMatch(/not locked for/i);
			for (const name of ["zoe", "mona_lisa"]) await expect(saying(world, name)).rejects.toThrow();
			await saying(world, "jose.garcia");
			await world.call("lock_channel", { ...args, unlock: true });
			const sorted = (some: readonly Overwrite[]) => some.toSorted((a, b) => a.id.localeCompare(b.id));
			expect(sorted(channel.permission_overwrites)).toEqual(sorted(before));
			await saying(world, "zoe");
		},
	);

	test("a voice channel is locked for them, too", async () => {
		await using scene = await gated(ChannelType.GuildVoice);
		const { world, channel, before, lock, unlock, overwriteOf } = scene;
		expect(await lock()).toMatchObject({ isError: false });
		const { id } = roleNamed(world, "Verified");
		expect(BigInt(overwriteOf(id)?.deny ?? 0) & (Connect | Speak)).toBe(Connect | Speak);
		await unlock();
		const sorted = (some: readonly Overwrite[]) => some.toSorted((a, b) => a.id.localeCompare(b.id));
		expect(sorted(channel.permission_overwrites)).toEqual(sorted(before));
	});

	test("who cannot be locked out is named", async () => {
		await using scene = await gated();
		const { world, lock } = scene;
		const platform = world.simulator.world;
		for (const role of world.guild.roles.values())
			platform.roles.edit(world.guild, role, { permissions: String(BigInt(role.permissions) & ~SendMessages) });
		await world.heard();
		const [first, second] = (await lock()).text.split("\n");
		expect(first).toStartWith("Locked 1 channel(s): not for all; members may no longer ");
		expect(first).not.toContain(" SEND_MESSAGES,");
		expect(second).toContain("; not locked for @Verified, MONA LISA (@mona_lisa), who may still SEND_MESSAGES: ");
	});
});

placeTest(
	"changes made since the lock stay, and are named",
	async ({ world, bot, channel, lock, unlock, overwriteOf }) => {
		await lock();
		const { id } = world.guild;
		const platform = world.simulator.world;
		platform.channels.setOverwrite(
			channel,
			roleOverwrite(id, { allow: SendMessages, deny: CreatePublicThreads | Speak }),
		);
		const mine = overwriteOf(bot);
		if (mine) platform.channels.removeOverwrite(channel, mine);
		expect((await lock()).text).toContain(
			"but ADD_REACTIONS, SEND_MESSAGES, CREATE_PUBLIC_THREADS, CREATE_PRIVATE_THREADS, SEND_MESSAGES_IN_THREADS is not in force",
		);
		expect((await unlock()).text.split("; ").slice(1)).toEqual([
			"Changed since the lock for @everyone, and left as it is: SEND_MESSAGES (allowed), ADD_REACTIONS, CREATE_PRIVATE_THREADS, SEND_MESSAGES_IN_THREADS (neither allowed nor denied)",
			`Changed since the lock for the bot, and left as it is: ${writtenNames} (neither allowed nor denied)`,
		]);
		expect(channel.permission_overwrites).toEqual([{ id, type: 0, allow: String(SendMessages), deny: String(Speak) }]);
	},
);

test("unlocking is refused while only the lock lets the bot connect", async () => {
	await using scene = await place(undefined, ChannelType.GuildVoice);
	const { world, bot, channel, lock, unlock, overwriteOf } = scene;
	await lock();
	const role = roleNamed(world, "alpha");
	world.simulator.world.channels.setOverwrite(channel, { id: role.id, type: 0, allow: "0", deny: String(Connect) });
	await world.heard();
	expect((await unlock()).text).toStartWith("This change would take CONNECT in #");
	expect(overwriteOf(bot)).toBeDefined();
});

describe("an interrupted lock is stored", () => {
	test.each(["before", "after"] as const)("if the connection drops %s the write takes effect", async (when) => {
		await using scene = await place();
		const { world, channel, lock, unlock, path, noted } = scene;
		const { faults } = world.simulator;
		faults.drop(path(world.guild.id), { when, times: 1 });
		const { text, isError } = await lock();
		expect(isError).toBe(true);
		expect(text).toContain("whether it took effect is unknown");
		expect(text).toEndWith(": lock_channel with unlock = true restores its earlier permissions.");
		expect((await lock()).text).toContain(when === "after" ? "has been locked since" : "is not in force");
		expect((await unlock()).isError).toBe(false);
		expect(channel.permission_overwrites).toEqual([]);
		expect(noted()).toBe(0);
		expect((await lock()).isError).toBe(false);
	});

	placeTest(
		"a lock is deleted if its first write is refused, and kept if a later one is",
		async ({ world, bot, channel, lock, unlock, path, noted }) => {
			const { faults } = world.simulator;
			faults.refuse(path(bot), 50013, { times: 1 });
			expect((await lock()).text).toEndWith("change the bot's role.");
			expect(noted()).toBe(0);
			faults.refuse(path(world.guild.id), 50013, { times: 1 });
			expect((await lock()).text).toContain("with unlock = true restores its earlier permissions");
			expect(noted()).toBe(2);
			expect(channel.permission_overwrites).toHaveLength(1);
			expect((await unlock()).isError).toBe(false);
			expect(channel.permission_overwrites).toEqual([]);
		},
	);

	/** Starts the bot again. */
	async function anotherRun(world: TestWorld, changes: Partial<BotConfig>) {
		const { log } = recordLog();
		const bot = startBot(connectedConfig(world.simulator, { guildId: world.guild.id, ...changes }), log, {
			timing: quickTiming,
		});
		await until("the bot is ready", () => bot.ready);
		const mcp = await connectTo(bot.url);
		return { ...mcp, [Symbol.asyncDispose]: () => bot.close() };
	}

	placeTest("and undone after a restart of the bot", async ({ world, channel, lock }) => {
		await lock();
		await world.bot.close();
		const { dataDirectory } = world;
		await using next = await anotherRun(world, { dataDirectory });
		const args = { channel_ids: [channel.id] };
		await until("it has its store", async () => {
			const { text } = await next.call("lock_channel", args);
			return text.includes("has been locked since");
		});
		expect((await next.call("lock_channel", { ...args, unlock: true })).isError).toBe(false);
		expect(channel.permission_overwrites).toEqual([]);
	});

	placeTest("or not begun: without its database the bot locks nothing", async ({ world, channel }) => {
		await using next = await anotherRun(world, {
			databaseUrl: "postgres://nobody@127.0.0.1:1/nothing",
			dbSchema: "away",
		});
		for (const unlock of [false, true]) {
			const text = await next.expectError("lock_channel", { channel_ids: [channel.id], unlock });
			expect(text).toStartWith("The bot's database is unavailable at the moment");
		}
		expect(writes(world)).toEqual([]);
	});
});

describe("several channels", () => {
	async function hall() {
		const world = await startWorld();
		const tool = async (name: string, args: object) => {
			await world.heard();
			return world.call(name, { ...args });
		};
		return {
			world,
			named: (name: string) => channelNamed(world, name),
			nameOf: (name: string) => {
				const { id } = channelNamed(world, name);
				return `#${name} (ID: ${id})`;
			},
			lock: (args: object) => tool("lock_channel", args),
			unlock: (args: object) => tool("lock_channel", { ...args, unlock: true }),
			denied: (name: string) => {
				const all = channelNamed(world, name).permission_overwrites;
				const own = all.find(({ id }) => id === world.guild.id);
				return (BigInt(own?.deny ?? 0) & SendMessages) !== 0n;
			},
			[Symbol.asyncDispose]: world[Symbol.asyncDispose],
		};
	}

	const hallTest = testWith(hall);

	hallTest(
		"all that @everyone sees are locked and unlocked in one call each",
		async ({ world, lock, unlock, nameOf, denied }) => {
			const before = structuredClone([...world.guild.channels.values()]);
			const locked = await lock({ all: true });
			const [first, ...lines] = locked.text.split("\n");
			expect(first).toMatch(/^Locked (\d+) channel\(s\): members may no longer /);
			expect(lines).toContain(nameOf("general"));
			expect(lines.at(-1)).toBe(`Left, because only staff see them: ${nameOf("staff")}. channel_ids locks them.`);
			expect(denied("general")).toBe(true);
			expect(denied("staff")).toBe(false);
			const again = await lock({ all: true });
			expect(again.isError).toBe(true);
			expect(again.text).toContain("has been locked since");
			const undone = await unlock({ all: true });
			expect(undone.text).toStartWith(`Unlocked ${lines.length - 1} channel(s):`);
			expect([...world.guild.channels.values()]).toEqual(before);
			expect((await unlock({ all: true })).text).toStartWith("No channel of the guild");
		},
	);

	hallTest(
		"a category stands for its channels, and those locked before are left",
		async ({ lock, named, nameOf, denied }) => {
			await lock({ channel_ids: [named("general").id] });
			const { text } = await lock({ channel_ids: [named("Talk").id] });
			expect(text).toContain(`\n${nameOf("staff")}`);
			expect(text).toContain(`Not locked: ${nameOf("general")}: has been locked since `);
			expect(denied("staff")).toBe(true);
			expect(named("Talk").permission_overwrites).toEqual([]);
		},
	);

	hallTest(
		"a call that names a channel which the bot may not change is refused; one for all leaves it",
		async ({ world, lock, named, nameOf, denied }) => {
			const extra = world.simulator.world.channels.add(world.guild, { name: "extra" });
			await denyBot(world, extra, ManageRoles);
			const channel_ids = [named("general").id, extra.id];
			const refused = await lock({ channel_ids });
			expect(refused.text).toContain(`lacks MANAGE_ROLES in ${nameOf("extra")}`);
			expect(writes(world)).toEqual([]);
			const { text } = await lock({ all: true });
			expect(text).toContain(`Not locked: ${nameOf("extra")}: The bot lacks MANAGE_ROLES in`);
			expect(denied("general")).toBe(true);
		},
	);

	hallTest(
		"refusals and unknown outcomes are reported for each channel",
		async ({ world, lock, unlock, named, nameOf }) => {
			const { channels } = world.simulator.world;
			const added = ["one", "two", "three", "four"].map((name) => channels.add(world.guild, { name }));
			const [one, two] = added;
			const path = (id = "") => `PUT /channels/${id}/permissions/${world.guild.id}`;
			world.simulator.faults.refuse(path(one?.id), 50013, { times: 1 });
			const channel_ids = added.map(({ id }) => id);
			const first = await lock({ channel_ids });
			expect(first.text).toStartWith("Locked 3 of 4 channel(s)");
			expect(first.text).toContain(`1 refused by Discord:\n${nameOf("one")} | Discord API error: Missing Permissions`);
			expect(first.text).toContain(
				`The channel ${one?.id} may be locked, completely or in part: lock_channel with unlock = true`,
			);
			expect((await unlock({ channel_ids })).text).toStartWith("Unlocked 4 channel(s):");
			world.simulator.faults.drop(path(two?.id), { when: "after", times: 1 });
			const second = await lock({ channel_ids });
			expect(second.text).toStartWith("Locked 1 of 4 channel(s)");
			expect(second.text).toContain(`1 of unknown outcome:\n${nameOf("two")} | `);
			expect(second.text).toContain("2 not started: check the outcome");
			await unlock({ all: true });
			for (const { permission_overwrites } of added) expect(permission_overwrites).toEqual([]);
			expect(named("general").permission_overwrites).toEqual([]);
		},
	);

	hallTest("locking all waits for an edit of one of them", async ({ world, lock, named }) => {
		const general = named("general");
		const regular = roleNamed(world, "Regular").id;
		const fault = world.simulator.faults.stall(`PUT /channels/${general.id}/permissions/${regular}`, { times: 1 });
		const set = world.call("set_channel_permissions", {
			channel_ids: [general.id],
			target_ids: [regular],
			deny: ["SPEAK"],
		});
		await until("the edit is on its way", () => fault.hits === 1);
		const locked = lock({ all: true });
		for (let calls = 0; calls < 5; calls++) await world.call("list_channel_permissions");
		expect(writes(world)).toHaveLength(1);
		fault.release();
		expect((await set).isError).toBe(false);
		expect((await locked).text).toStartWith("Locked ");
	});
});

placeTest("deleting a channel deletes its lock", async ({ world, channel, lock, noted }) => {
	await lock();
	world.simulator.world.channels.remove(channel);
	await until("it is gone", () => noted() === 0);
});

test("a lock that cannot be deleted is reported", async () => {
	const sql = () => Promise.reject(new StoreUnavailable("it is away"));
	const locks = createLocks({ sql }, recordLog().log);
	expect(await locks.forget("123456789012345678")).toBe(false);
	let sent = 0;
	const row: ChannelLockRow = {
		guild_id: "9",
		channel_id: "1",
		target_id: "2",
		locked_at: 0,
		allows: "0",
		denies: "1",
		allowed: "0",
		target_type: 0,
		existed: 0,
	};
	const work = async () => {
		sent += 1;
	};
	await expect(locks.begin([row], work)).rejects.toThrow("database is unavailable");
	expect(sent).toBe(0);
});
