// Deleting messages of people, and of everyone who joined in a time window: what is deleted, what is kept, and the case.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { GuildChannel, Message, User } from "../../../src/simulator/world/state/entities.ts";
import { render, type Said } from "../../../src/texts/texts.ts";
import { onBoth } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { denyBot, memberOverwrite, userNamed } from "../../support/world.ts";
import {
	general,
	type ModerationWorld,
	moderationTest,
	moderator,
	staffChannel,
	startModerationWorld,
} from "./moderation-world.ts";

const hourMs = 3_600_000;

onBoth((databases, kind) => {
	test(`deletes the messages of a person in a window, and keeps a case, on ${kind}`, async () => {
		const place = await databases.place();
		await using world = await startModerationWorld(place);
		const [one, two] = await channels(world, 2);
		const mona = world.member("mona_lisa").user;
		const zoe = world.member("zoe").user;
		const old = write(world, one, mona, 3 * hourMs);
		const pinned = write(world, two, mona, hourMs);
		pinned.pinned_at = "2026-01-01T00:00:00.000Z";
		const others = write(world, one, zoe, hourMs);
		const gone = [write(world, one, mona, hourMs), write(world, two, mona, hourMs), write(world, two, mona, 0)];
		const args = { user_ids: [mona.id], after: "2h" };
		const dry = await world.call("purge", { ...args, dry_run: true });
		expect(dry.text).toContain("Would delete 3 message(s) in 2 channel(s).");
		expect(dry.text).toMatch(/^3 \| .*mona_lisa/m);
		const { text } = await world.call("purge", args);
		expect(text).toContain("Deleted 3 message(s) in 2 channel(s).");
		expect(left(world, one)).toEqual([old.id, others.id]);
		expect(left(world, two)).toEqual([pinned.id]);
		const [row] = await until("the case is stored", async () => {
			const rows = await place.look<Record<string, string>>(
				"SELECT user_id, message_ids, channel_ids, state FROM cases WHERE action = 'purge'",
			);
			return rows[0]?.state === "done" && rows;
		});
		expect(row?.user_id).toBe(mona.id);
		expect(JSON.parse(row?.message_ids ?? "").toSorted()).toEqual(gone.map(({ id }) => id).toSorted());
		expect(JSON.parse(row?.channel_ids ?? "").toSorted()).toEqual([one.id, two.id].toSorted());
		await world.call("purge", { ...args, pinned: true });
		expect(left(world, two)).toEqual([]);
	});

	test.each([
		["refused", "done", ["2 of 5 messages deleted"]],
		["lost", "unknown", ["2 of 5 messages deleted", "unknown: 3"]],
	] as const)(
		`the case of a deletion that was %s in one channel says what was deleted, on ${kind}`,
		async (fate, state, detail) => {
			const place = await databases.place();
			await using world = await startModerationWorld(place);
			const [one, two] = await channels(world, 2);
			const { faults } = world.simulator;
			const zoe = world.member("zoe").user;
			const gone = [write(world, one, zoe, 0), write(world, one, zoe, 0)];
			for (let count = 0; count < 3; count += 1) write(world, two, zoe, 60_000);
			const bulk = `POST /channels/${two.id}/messages/bulk-delete`;
			if (fate === "lost") faults.drop(bulk, { when: "after" });
			else faults.refuse(bulk, 50013);
			const { text } = await world.call("purge", { user_ids: [zoe.id], after: "1h" });
			expect(text).toContain("Deleted 2 of 5 message(s) in 2 channel(s).");
			const [row] = await until("the case has ended", async () => {
				const rows = await place.look<Record<string, string>>(
					"SELECT * FROM cases WHERE action = 'purge' AND state <> 'asked'",
				);
				return rows.length > 0 && rows;
			});
			expect(row).toMatchObject({ state, user_id: zoe.id });
			expect(JSON.parse(row?.detail ?? "").map((part: Said) => render(part, "en"))).toEqual([...detail]);
			expect(JSON.parse(row?.message_ids ?? "").toSorted()).toEqual(gone.map(({ id }) => id).toSorted());
			expect(JSON.parse(row?.channel_ids ?? "")).toEqual([one.id]);
		},
	);
});

moderationTest("deletes the messages of everyone who joined in a window, and says whose it keeps", async (world) => {
	const { simulator, guild } = world;
	await allJoined(world, "2020-01-01T00:00:00.000Z");
	const [one, two] = await channels(world, 2);
	const { users, members } = simulator.world;
	const raiders = ["r1", "r2", "r3"].map((username) => {
		const user = users.add({ username });
		members.add(guild, user);
		return user;
	});
	const left3 = raiders[2] as User;
	for (const user of raiders) {
		write(world, one, user, 0);
		write(world, two, user, 0);
	}
	const own = write(world, one, world.member("zoe").user, 0);
	const leaver = guild.members.get(left3.id);
	if (leaver) members.remove(guild, leaver);
	await until("the bot has seen all", async () => {
		const { text } = await world.call("list_members", { where: "joined since 1h" });
		return text.includes("r2") && !text.includes("r3");
	});
	const { text } = await world.call("purge", { joined_after: "1h" });
	expect(text).toContain("Deleted 4 message(s) in 2 channel(s).");
	expect(text).toContain("Kept: 2 messages of people who are no longer members");
	expect(text).toContain(left3.id);
	expect(left(world, one)).toHaveLength(2);
	expect(left(world, one)).toContain(own.id);
	await world.call("purge", { user_ids: [left3.id], after: "1h" });
	expect(left(world, one)).toEqual([own.id]);
});

test("keeps messages of the bot, of staff and of the person who asks, who all joined in the window", async () => {
	await using world = await startModerationWorld();
	const { simulator } = world;
	await allJoined(world, new Date().toISOString());
	const [one, two] = await channels(world, 2);
	const mona = world.member("mona_lisa").user;
	// Mona may delete messages in one channel only.
	simulator.world.channels.setOverwrite(one, memberOverwrite(mona.id, { allow: PermissionFlagsBits.ManageMessages }));
	const kept = [moderator, "mona_lisa"].map((name) => write(world, two, world.member(name).user, 0).id);
	kept.push(write(world, two, userNamed(world, "alpha"), 0).id);
	write(world, two, world.member("zoe").user, 0);
	const { text } = await until("the bot has heard", async () => {
		const args = { joined_after: "10m", dry_run: true };
		const result = await world.call("purge", args);
		return result.text.includes(mona.id) && result;
	});
	expect(text).toMatch(/^Kept: messages of \d+ who joined then/m);
	await world.call("purge", { joined_after: "10m" });
	expect(left(world, two)).toEqual(kept);
	const refused = await world.call("purge", { joined_after: "10m", user_ids: [simulator.bot("alpha").id] });
	expect(refused.text).toContain("Only bots, staff or you joined then.");
});

moderationTest("leaves the channels of the log and of reports, unless they are named", async (world) => {
	const { simulator } = world;
	const [one, log] = await channels(world, 2);
	const { channel } = simulator.channel(staffChannel);
	const staff = channel as GuildChannel;
	await world.set({ "moderation.log_channel": log.id, "moderation.reports": staff.id });
	const zoe = world.member("zoe").user;
	for (const channel of [one, log, staff]) write(world, channel, zoe, 0);
	const args = { user_ids: [zoe.id], after: "1h" };
	const { text } = await world.call("purge", args);
	expect(text).toContain("Deleted 1 message(s)");
	expect(text).toMatch(/^Left, because the bot keeps records there: .*#purged-1.*#staff|#staff.*#purged-1/m);
	const ofZoe = (channel: GuildChannel) =>
		simulator.world.messages.in(channel.id).filter(({ author }) => author.id === zoe.id).length;
	expect([one, log, staff].map(ofZoe)).toEqual([0, 1, 1]);
	const named = await world.call("purge", { ...args, channel_ids: [log.id] });
	expect(named.text).toContain("Deleted 1 message(s)");
	expect([one, log].map(ofZoe)).toEqual([0, 0]);
	// Without a time, Discord's index is searched.
	write(world, log, zoe, 0);
	await world.call("purge", { user_ids: [zoe.id] });
	expect(ofZoe(log)).toBe(1);
});

moderationTest("nobody joined then", async (world) => {
	const result = await world.call("purge", { joined_after: "10m", user_ids: ["123456789012345678"] });
	expect(result).toMatchObject({ isError: true });
	expect(result.text).toContain("No member joined then. Nothing was done.");
});

moderationTest.each([
	[{}, "expected at least one of these"],
	[{ count: 5 }, "expected at least one of these"],
	[{ channel_ids: ["123456789012345678"] }, "expected at least one of these"],
	[{ user_ids: ["123456789012345678"], joined_before: "1h" }, "joined_before"],
	[{ user_ids: ["123456789012345678"], count: 10_001 }, "count"],
])("refuses %j", async (world, args, fault) => {
	const { channel_ids: _, ...rest } = args as Record<string, unknown>;
	const { id } = world.simulator.channel(general);
	const given = "channel_ids" in args ? { channel_ids: [id] } : rest;
	const { text, code } = await world.call("purge", given);
	expect(code).toBe(-32602);
	expect(text).toContain(fault);
});

moderationTest("leaves channels in which it may not delete, and says so", async (world) => {
	const [one, two] = await channels(world, 2);
	const zoe = world.member("zoe").user;
	write(world, one, zoe, 0);
	write(world, two, zoe, 0);
	await denyBot(world, two, PermissionFlagsBits.ManageMessages);
	const { text } = await until("the bot has heard", async () => {
		const args = { user_ids: [zoe.id], after: "1h", dry_run: true };
		const result = await world.call("purge", args);
		return result.text.includes("for lack of permissions") && result;
	});
	expect(text).toContain("Would delete 1 message(s)");
});

test("10,000 messages in 20 channels: nothing outside the window is deleted, and repeating it ends it", async () => {
	await using world = await startModerationWorld();
	const some = await channels(world, 20);
	const zoe = world.member("zoe").user;
	const mona = world.member("mona_lisa").user;
	const kept = some.flatMap((channel) => [
		write(world, channel, zoe, 30 * hourMs).id,
		write(world, channel, mona, hourMs).id,
	]);
	for (const channel of some) for (let count = 0; count < 500; count += 1) write(world, channel, zoe, hourMs);
	const args = { user_ids: [zoe.id], after: "24h" };
	for (let round = 0; round < 10; round += 1) {
		const { text } = await world.call("purge", args);
		if (text.includes("nothing to delete")) break;
		expect(text).toMatch(/^Deleted [\d,]+( of [\d,]+)? message\(s\)/);
	}
	expect(some.flatMap((channel) => left(world, channel)).toSorted()).toEqual(kept.toSorted());
}, 120_000);

moderationTest("/purge user shows what it would delete, and deletes after the confirmation", async (world) => {
	const { simulator } = world;
	const [one] = await channels(world, 1);
	const zoe = world.member("zoe").user;
	for (let count = 0; count < 2; count += 1) write(world, one, zoe, 0);
	const jose = simulator.user(moderator);
	await until("the command is registered", () => jose.commands(general).some(({ name }) => name === "purge"));
	const used = await jose.run(general, "purge user", { user: zoe.id, within: "1h" });
	const asked = await used.reply();
	expect(asked.content).toStartWith("Delete 2 messages");
	expect(asked.content).toContain("\nNothing has been done yet.");
	expect(asked.content).toContain("https://discord.com/channels/");
	expect(asked.content).not.toMatch(/Dry run|ID: \d+\//);
	expect(left(world, one)).toHaveLength(2);
	const [yes] = asked.buttons;
	const pressed = await jose.press(asked, yes?.label ?? "");
	await pressed.reply();
	await until("they are deleted", () => left(world, one).length === 0);
});

moderationTest("a confirmation deletes nothing that was not shown", async (world) => {
	const { simulator } = world;
	const [one] = await channels(world, 1);
	const { id } = simulator.channel(general);
	const here = world.guild.channels.get(id) as GuildChannel;
	const zoe = world.member("zoe").user;
	const older = Array.from({ length: 30 }, () => write(world, here, zoe, 2 * hourMs));
	const shown = Array.from({ length: 25 }, () => write(world, here, zoe, hourMs));
	const jose = simulator.user(moderator);
	await until("the command is registered", () => jose.commands(general).some(({ name }) => name === "purge"));
	const ask = async (name: string, options: Record<string, unknown>) => {
		const used = await jose.run(general, name, options as never);
		return used.reply();
	};
	const confirm = async (asked: Awaited<ReturnType<typeof ask>>) => {
		const [yes] = asked.buttons;
		const before = asked.content;
		await jose.press(asked, yes?.label ?? "");
		return until("another text", () => (asked.content === before ? undefined : asked.content));
	};
	const latest = await ask("purge latest", { count: 25 });
	expect(latest.content).toContain("Delete 25 messages");
	// Another moderator does the same, and it is confirmed twice.
	const again = await ask("purge latest", { count: 25 });
	const ofZoe = await ask("purge user", { user: zoe.id, within: "90m" });
	for (const message of shown.slice(0, 5)) simulator.world.messages.remove(here as never, message);
	const newer = Array.from({ length: 3 }, () => write(world, here, zoe, 0));
	const elsewhere = write(world, one, zoe, 0);
	expect(await confirm(latest)).toContain("Deleted 20 messages");
	expect(await confirm(again)).toContain("nothing to delete");
	expect(await confirm(ofZoe)).toContain("nothing to delete");
	const kept = [...older, ...newer].map(({ id }) => id);
	expect(left(world, here)).toEqual(kept);
	expect(left(world, one)).toEqual([elsewhere.id]);
});

moderationTest("who joined is the same at the confirmation, and nothing to delete asks nothing", async (world) => {
	const { simulator, guild } = world;
	await allJoined(world, "2020-01-01T00:00:00.000Z");
	const [one] = await channels(world, 1);
	const { users, members } = simulator.world;
	const join = (username: string) => {
		const user = users.add({ username });
		members.add(guild, user);
		return user;
	};
	const jose = simulator.user(moderator);
	await until("the command is registered", () => jose.commands(general).some(({ name }) => name === "purge"));
	const ask = async () => {
		const used = await jose.run(general, "purge joined", { within: "10m" });
		return used.reply();
	};
	const joined = (name: string) =>
		until(`the bot has seen ${name}`, async () => {
			const { text } = await world.call("list_members", { where: "joined since 1h" });
			return text.includes(name);
		});
	const raider = join("raider1");
	await joined("raider1");
	const empty = await ask();
	expect(empty.content).toContain("nothing to delete");
	expect(empty.buttons).toEqual([]);
	write(world, one, raider, 0);
	const asked = await ask();
	expect(asked.content).toContain("Delete 1 message ");
	const innocent = join("newcomer");
	await joined("newcomer");
	const kept = write(world, one, innocent, 0);
	const [yes] = asked.buttons;
	await (await jose.press(asked, yes?.label ?? "")).reply();
	await until("it is deleted", () => left(world, one).length === 1);
	expect(left(world, one)).toEqual([kept.id]);
});

/** New channels of the guild that the bot knows. */
async function channels<const Count extends number>(
	{ simulator, guild, call }: ModerationWorld,
	count: Count,
): Promise<Count extends 1 | 2 ? [GuildChannel, GuildChannel] : GuildChannel[]> {
	const added = Array.from({ length: Math.max(count, 2) }, (_, index) =>
		simulator.world.channels.add(guild, { name: `purged-${index}` }),
	);
	await until("the bot knows the channels", async () => {
		const { text } = await call("list_channels");
		return added.every(({ name }) => text.includes(name));
	});
	return added as never;
}

/** Gives all members of the guild this time of joining, which the bot then knows. */
async function allJoined(world: ModerationWorld, at: string): Promise<void> {
	for (const member of world.guild.members.values()) member.joined_at = at;
	await world.stop();
	await world.start();
}

let sequence = 0n;

/** A message of a person, written so many milliseconds ago. */
function write({ simulator }: ModerationWorld, channel: GuildChannel, author: User, agoMs: number): Message {
	sequence += 1n;
	const at = BigInt(Date.now() - agoMs) - 1_420_070_400_000n;
	const id = String((at << 22n) + (sequence % 4_000_000n));
	return simulator.world.messages.add(channel as never, author, { id, content: `message ${sequence}` });
}

function left({ simulator }: ModerationWorld, { id }: GuildChannel): string[] {
	return simulator.world.messages.in(id).map((message) => message.id);
}
