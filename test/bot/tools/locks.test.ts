// lock_channel and unlock_channel.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { startBot } from "../../../src/bot/bot.ts";
import type { BotConfig } from "../../../src/bot/config/config.ts";
import type { ChannelLockRow } from "../../../src/bot/store/channel-locks.ts";
import { StoreUnavailable } from "../../../src/bot/store/database/db-error.ts";
import { createLocks } from "../../../src/bot/tool/channel-locks.ts";
import type {
	GuildChannelType,
	Overwrite,
} from "../../../src/simulator/world/state/entities.ts";
import { botConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { connectTo } from "../../support/mcp.ts";
import { until } from "../../support/until.ts";
import {
	memberNamed,
	roleNamed,
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
	SendMessages,
	SendMessagesInThreads,
	Speak,
	ViewChannel,
} = PermissionFlagsBits;
const written =
	SendMessages |
	SendMessagesInThreads |
	CreatePublicThreads |
	CreatePrivateThreads |
	AddReactions;
const writtenNames =
	"ADD_REACTIONS, SEND_MESSAGES, CREATE_PUBLIC_THREADS, CREATE_PRIVATE_THREADS, SEND_MESSAGES_IN_THREADS";

/** A new channel of the guild, with these overwrites. */
async function place(
	overwrites: (world: TestWorld) => Overwrite[] = () => [],
	type: GuildChannelType = ChannelType.GuildText,
) {
	const world = await startWorld();
	const { guild, simulator } = world;
	const channel = simulator.world.channels.add(guild, {
		...{ name: "hall", type },
		permission_overwrites: overwrites(world),
	});
	const bot = simulator.bot("alpha").id;
	await world.heard();
	return {
		...{ world, channel, bot, name: `#hall (ID: ${channel.id})` },
		before: structuredClone(channel.permission_overwrites),
		lock: () => world.call("lock_channel", { channel_id: channel.id }),
		unlock: () => world.call("unlock_channel", { channel_id: channel.id }),
		path: (id: string) => `PUT /channels/${channel.id}/permissions/${id}`,
		overwriteOf: (id: string) =>
			channel.permission_overwrites.find((one) => one.id === id),
		noted: () => {
			const file = join(world.dataDirectory, "store.sqlite");
			using database = new Database(file, { readonly: true });
			return database.query("SELECT * FROM channel_locks").all().length;
		},
		[Symbol.asyncDispose]: world[Symbol.asyncDispose],
	};
}

const saying = ({ simulator }: TestWorld, name: string) =>
	simulator.user(name).say("The Cooks/hall", "hello");

test("only the bot writes in a locked channel, and unlocking restores it", async () => {
	await using scene = await place();
	const { world, bot, channel, lock, unlock, name, noted } = scene;
	const { text, isError } = await lock();
	expect(isError).toBe(false);
	expect(text.split("\n")).toEqual([
		`Locked ${name}: @everyone may no longer ${writtenNames}.`,
		`The bot is now explicitly allowed: ${writtenNames}`,
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
	expect(undone.text.split("\n")).toEqual([
		`Unlocked ${name}.`,
		`Restored for @everyone: ${writtenNames}`,
		`Restored for the bot: ${writtenNames}`,
	]);
	expect(channel.permission_overwrites).toEqual([]);
	expect(noted()).toBe(0);
	await saying(world, "zoe");
});

test("other overwrites and permissions stay, and unlocking restores exactly what was changed", async () => {
	await using scene = await place((world) => [
		{
			...{ id: world.guild.id, type: 0 },
			allow: String(SendMessages | ViewChannel),
			deny: String(AddReactions | Speak),
		},
		{
			...{ id: roleNamed(world, "Staff").id, type: 0, deny: "0" },
			allow: String(SendMessages),
		},
		{
			...{ id: world.simulator.bot("alpha").id, type: 1 },
			...{ allow: String(ManageMessages), deny: String(Speak) },
		},
	]);
	const { world, bot, before, channel, lock, unlock, overwriteOf } = scene;
	const { text } = await lock();
	expect(text).toContain("\nDenied before: ADD_REACTIONS\n");
	expect(text).toContain(
		"some of it to 1 role(s) and member(s), who are exempt",
	);
	expect(overwriteOf(world.guild.id)).toMatchObject({
		allow: String(ViewChannel),
		deny: String(written | Speak),
	});
	expect(overwriteOf(bot)).toMatchObject({
		allow: String(ManageMessages | (written & ~AddReactions)),
		deny: String(Speak),
	});
	await saying(world, "jose.garcia");
	await expect(saying(world, "zoe")).rejects.toThrow();
	await unlock();
	const sorted = (some: readonly Overwrite[]) =>
		some.toSorted((a, b) => a.id.localeCompare(b.id));
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
		expect((await lock()).text).toEndWith(
			"\n1 member(s) are in it and stay connected.",
		);
		const all = String(written | Connect | Speak);
		expect(overwriteOf(world.guild.id)?.deny).toBe(all);
		expect(overwriteOf(bot)?.allow).toBe(all);
		expect((await unlock()).isError).toBe(false);
		expect(channel.permission_overwrites).toEqual([]);
	},
);

describe("is refused", () => {
	test("locking what is locked, and unlocking what is not", async () => {
		await using scene = await place();
		const { world, lock, unlock, name } = scene;
		expect((await unlock()).text).toStartWith(
			`${name} was not locked by lock_channel.`,
		);
		await lock();
		const sent = writes(world).length;
		expect((await lock()).text).toMatch(
			/ has been locked since \d{4}-.+Z\. unlock_channel unlocks it\. Nothing was done\.$/,
		);
		await unlock();
		expect((await unlock()).text).toContain("was not locked by lock_channel");
		expect(writes(world)).toHaveLength(2 * sent);
	});

	test("locking a category, and what denies all of it already", async () => {
		await using scene = await place((world) => [
			{ ...{ id: world.guild.id, type: 0, allow: "0" }, deny: String(written) },
		]);
		const { world, lock, noted } = scene;
		expect((await lock()).text).toContain("Nothing would change");
		const category = await world.call("lock_channel", {
			channel_id: [...world.guild.channels.values()].find(
				({ type }) => type === ChannelType.GuildCategory,
			)?.id,
		});
		expect(category.text).toContain("is a category: lock its channels instead");
		expect(writes(world)).toEqual([]);
		expect(noted()).toBe(0);
	});

	test("a permission that the bot has not itself", async () => {
		await using scene = await place();
		const { world, lock, noted } = scene;
		const platform = world.simulator.world;
		for (const role of world.guild.roles.values())
			platform.roles.edit(world.guild, role, {
				permissions: String(BigInt(role.permissions) & ~CreatePrivateThreads),
			});
		await world.heard();
		expect((await lock()).text).toContain("it lacks CREATE_PRIVATE_THREADS");
		expect(writes(world)).toEqual([]);
		expect(noted()).toBe(0);
	});
});

test("changes made since the lock stay, and are named", async () => {
	await using scene = await place();
	const { world, bot, channel, lock, unlock, overwriteOf } = scene;
	await lock();
	const { id } = world.guild;
	const platform = world.simulator.world;
	platform.channels.setOverwrite(channel, {
		...{ id, type: 0, allow: String(SendMessages) },
		deny: String(CreatePublicThreads | Speak),
	});
	const mine = overwriteOf(bot);
	if (mine) platform.channels.removeOverwrite(channel, mine);
	expect((await lock()).text).toContain(
		"but ADD_REACTIONS, SEND_MESSAGES, CREATE_PUBLIC_THREADS, CREATE_PRIVATE_THREADS, SEND_MESSAGES_IN_THREADS is not in force",
	);
	expect((await unlock()).text.split("\n").slice(1)).toEqual([
		"Restored for @everyone: CREATE_PUBLIC_THREADS",
		"Restored for the bot: none",
		"Changed since the lock for @everyone, and left as it is: SEND_MESSAGES (allowed), ADD_REACTIONS, CREATE_PRIVATE_THREADS, SEND_MESSAGES_IN_THREADS (neither allowed nor denied)",
		`Changed since the lock for the bot, and left as it is: ${writtenNames} (neither allowed nor denied)`,
	]);
	expect(channel.permission_overwrites).toEqual([
		{ id, type: 0, allow: String(SendMessages), deny: String(Speak) },
	]);
});

test("unlocking is refused while only the lock lets the bot connect", async () => {
	await using scene = await place(undefined, ChannelType.GuildVoice);
	const { world, bot, channel, lock, unlock, overwriteOf } = scene;
	await lock();
	const role = roleNamed(world, "alpha");
	world.simulator.world.channels.setOverwrite(channel, {
		...{ id: role.id, type: 0, allow: "0", deny: String(Connect) },
	});
	await world.heard();
	expect((await unlock()).text).toStartWith(
		"This would take MANAGE_ROLES, because it has no effect without CONNECT,",
	);
	expect(overwriteOf(bot)).toBeDefined();
});

describe("an interrupted lock is stored", () => {
	test.each(["before", "after"] as const)(
		"if the connection drops %s the write takes effect",
		async (when) => {
			await using scene = await place();
			const { world, channel, lock, unlock, path, noted } = scene;
			const { faults } = world.simulator;
			faults.drop(path(world.guild.id), { when, times: 1 });
			const { text, isError } = await lock();
			expect(isError).toBe(true);
			expect(text).toContain("whether it took effect is unknown");
			expect(text).toEndWith(
				"The lock is stored: use unlock_channel to undo it as far as it took effect.",
			);
			expect((await lock()).text).toContain(
				when === "after" ? "has been locked since" : "is not in force",
			);
			expect((await unlock()).isError).toBe(false);
			expect(channel.permission_overwrites).toEqual([]);
			expect(noted()).toBe(0);
			expect((await lock()).isError).toBe(false);
		},
	);

	test("a lock is deleted if its first write is refused, and kept if a later one is", async () => {
		await using scene = await place();
		const { world, bot, channel, lock, unlock, path, noted } = scene;
		const { faults } = world.simulator;
		faults.refuse(path(bot), 50013, { times: 1 });
		expect((await lock()).text).toEndWith("change the bot's role.");
		expect(noted()).toBe(0);
		faults.refuse(path(world.guild.id), 50013, { times: 1 });
		expect((await lock()).text).toContain("use unlock_channel to undo it");
		expect(noted()).toBe(2);
		expect(channel.permission_overwrites).toHaveLength(1);
		expect((await unlock()).isError).toBe(false);
		expect(channel.permission_overwrites).toEqual([]);
	});

	/** Starts the bot again. */
	async function anotherRun(world: TestWorld, changes: Partial<BotConfig>) {
		const { log } = recordLog();
		const bot = startBot(
			botConfig({
				discordToken: world.simulator.bot("alpha").token,
				discordApiUrl: world.simulator.api,
				guildId: world.guild.id,
				...changes,
			}),
			log,
		);
		await until("the bot is ready", () => bot.ready);
		const { call } = await connectTo(bot.url);
		return { call, [Symbol.asyncDispose]: () => bot.close() };
	}

	test("and undone after a restart of the bot", async () => {
		await using scene = await place();
		const { world, channel, lock } = scene;
		await lock();
		await world.bot.close();
		const { dataDirectory } = world;
		await using next = await anotherRun(world, { dataDirectory });
		const args = { channel_id: channel.id };
		await until("it has its store", async () => {
			const { text } = await next.call("lock_channel", args);
			return text.includes("has been locked since");
		});
		expect((await next.call("unlock_channel", args)).isError).toBe(false);
		expect(channel.permission_overwrites).toEqual([]);
	});

	test("or not begun: without its database the bot locks nothing", async () => {
		await using scene = await place();
		const { world, channel } = scene;
		await using next = await anotherRun(world, {
			databaseUrl: "postgres://nobody@127.0.0.1:1/nothing",
			dbSchema: "away",
		});
		for (const tool of ["lock_channel", "unlock_channel"]) {
			const { text, isError } = await next.call(tool, {
				channel_id: channel.id,
			});
			expect(isError).toBe(true);
			expect(text).toStartWith(
				"The bot's database is unavailable at the moment",
			);
		}
		expect(writes(world)).toEqual([]);
	});
});

test("deleting a channel deletes its lock", async () => {
	await using scene = await place();
	const { world, channel, lock, noted } = scene;
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
		...{ channel_id: "1", target_id: "2", locked_at: 0 },
		...{ allows: "0", denies: "1", allowed: "0" },
		target_type: 0,
		existed: 0,
	};
	const work = async () => {
		sent += 1;
	};
	await expect(locks.begin([row], work)).rejects.toThrow(
		"database is unavailable",
	);
	expect(sent).toBe(0);
});
