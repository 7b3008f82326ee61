// `where` in the tools: who is found by what, and that a change is shown first and then done to those it showed.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { Member } from "../../../src/simulator/world/state/entities.ts";
import {
	channelNamed,
	giveRole,
	memberNamed,
	roleNamed,
	startWorld,
	type TestWorld,
	userNamed,
	worldTest,
	writes,
} from "../../support/world.ts";

const dayMs = 86_400_000;

const search = ({ guild }: TestWorld) => `GET /guilds/${guild.id}/messages/search`;

function join({ simulator, guild }: TestWorld, username: string, daysAgo = 1): Member {
	const { members, users } = simulator.world;
	const member = members.add(guild, users.add({ username }));
	Object.assign(member, { joined_at: new Date(Date.now() - daysAgo * dayMs).toISOString() });
	members.edit(guild, member, { mute: true });
	return member;
}

function write(world: TestWorld, { user }: Member, count = 1, channel = "general"): void {
	const { simulator } = world;
	for (let index = 0; index < count; index += 1)
		simulator.world.messages.add(channelNamed(world, channel), user, { content: "hello" });
}

const listed = async (world: TestWorld, where: string) => (await world.call("list_members", { where })).text;
const codeIn = (text: string) => /where="(preview:\w+)"/.exec(text)?.[1] ?? "";

worldTest("messages are counted by one search of the index, whoever many are asked about", async (world) => {
	const [quiet, loud, old] = [join(world, "quiet"), join(world, "loud"), join(world, "old", 40)];
	write(world, loud, 30);
	write(world, old);
	await world.heard();
	world.simulator.requests.clear();
	const none = await listed(world, "joined since 2d and messages = 0 and name:(quiet, loud)");
	expect(none).toMatch(/^1 of \d+ members match \(now \S+\):\n@quiet \| ID: \d+ \| joined \S+, 0 messages since \S+\n/);
	expect(none).toMatch(
		/\nMessages since \S+: 30 read, all by these people in Discord's search index; only the very latest can be missing/,
	);
	expect(world.simulator.requests.list(search(world)).length).toBeLessThanOrEqual(3);
	expect(await listed(world, "messages >= 30 since 7d")).toContain("@loud | ");
	expect(await listed(world, "messages > 30 since 7d")).toStartWith("0 of ");
	expect(await listed(world, "messages = 1 since 90d and joined before 30d")).toContain("@old | ");
	expect([quiet.user.username, none.includes("@loud")]).toEqual(["quiet", false]);
});

worldTest("without the index channels are read, and what they hide from the bot is unknown", async (world) => {
	const { simulator, guild } = world;
	const staff = memberNamed(world, "jose.garcia");
	const quiet = join(world, "quiet");
	write(world, staff);
	const secret = simulator.world.channels.add(guild, { name: "secret" });
	const overwrite = (id: string, type: 0 | 1, allow: bigint, deny: bigint) =>
		simulator.world.channels.setOverwrite(secret, { id, type, allow: String(allow), deny: String(deny) });
	const { ViewChannel, ReadMessageHistory } = PermissionFlagsBits;
	overwrite(guild.id, 0, 0n, ViewChannel);
	overwrite(roleNamed(world, "Staff").id, 0, ViewChannel, 0n);
	overwrite(simulator.bot("alpha").id, 1, ViewChannel, ReadMessageHistory);
	await world.heard();
	simulator.faults.indexing(search(world), { retryAfterSeconds: 60 });
	const text = await listed(world, "messages = 0 since 7d and user:(@quiet, @jose.garcia)");
	expect(text).toContain("@quiet | ");
	expect(text).toContain(" read, all there are.");
	expect(text).toContain("Not searched: 1 channel for lack of permissions");
	const more = await listed(world, "messages < 5 since 7d and user:(@quiet, @jose.garcia)");
	expect(more).toMatch(/1 more member may match:\nChef José \(@jose.garcia\) \| ID: \d+ \| at least 1 message\n/);
	expect(quiet.user.bot ?? false).toBe(false);
});

test("of channels that bot or person cannot see, nobody is known to have written nothing there", async () => {
	await using world = await startWorld({}, { mcpToken: "a-token" });
	const { simulator, guild } = world;
	const { ModerateMembers, ReadMessageHistory, ViewChannel } = PermissionFlagsBits;
	const [quiet, helper] = [join(world, "quiet"), join(world, "helper")];
	const secret = simulator.world.channels.add(guild, { name: "secret" });
	const overwrite = (id: string, type: 0 | 1, allow: bigint, deny: bigint) =>
		simulator.world.channels.setOverwrite(secret, { id, type, allow: String(allow), deny: String(deny) });
	overwrite(guild.id, 0, 0n, ViewChannel);
	overwrite(helper.user.id, 1, ViewChannel | ReadMessageHistory, 0n);
	overwrite(simulator.bot("alpha").id, 1, ViewChannel | ReadMessageHistory, 0n);
	await world.heard();
	const zoe = memberNamed(world, "zoe");
	giveRole(world, "zoe", { permissions: ModerateMembers });
	await world.heard();
	const principal = { id: "key:zoe", name: "zoe", access: "all" } as const;
	const person = { id: zoe.user.id, name: "zoe", signedIn: false };
	const asZoe = world.mcp.as({ ...principal, person });
	const where = "messages = 0 since 7d and name:(quiet, helper)";
	const oneUnknown =
		/@quiet \| .*1 more member may match:\n@helper \| .* at least 0 messages.*Members who can see 2 channels not searched/s;
	expect((await asZoe.call("list_members", { where })).text).toMatch(oneUnknown);
	const shown = await asZoe.call("timeout", { where, duration: "1h" });
	expect(shown.text).toMatch(/time out 1 member.*quiet .*1 left out, of whom it is unknown:\n@?helper /s);
	expect(await listed(world, where)).not.toContain("may match");
	expect(await listed(world, `bot or ${where}`)).not.toMatch(/ bot \| .*0 messages/s);
	overwrite(simulator.bot("alpha").id, 1, 0n, ViewChannel);
	await world.heard();
	const all = await listed(world, where);
	expect(all).toMatch(
		/^0 of .*2 more members may match:.*Not searched: 1 channel for lack of permissions: a channel that/s,
	);
	const refused = await world.call("ban", { where });
	expect(refused.text).toMatch(
		/^Nobody matches for certain. Nothing was done.\n2 left out, .* can see 1 channel not searched may have written more\.$/s,
	);
	expect([quiet, helper].map(({ user }) => guild.members.has(user.id))).toEqual([true, true]);
});

describe("a change", () => {
	worldTest("is shown first, and done to those of them who still match", async (world) => {
		const role = roleNamed(world, "Newcomer");
		const [one, two, three] = [join(world, "one"), join(world, "two"), join(world, "three")];
		await world.heard();
		const args = { role_id: role.id, action: "add" };
		const where = "joined since 2d and messages = 0 and not bot and name:(one, two, three)";
		const shown = await world.call("bulk_role_update", { ...args, where });
		expect(shown.text).toStartWith(
			"Dry run: nothing was done.\nWould give 3 of the 3 members who match the role @Newcomer",
		);
		expect(shown.text).toMatch(/\n@?one \| ID: \d+\n/);
		expect(shown.text).toMatch(/\nAll of them: joined \d{4}-\d\d-\d\d, 0 messages since \d{4}-\d\d-\d\d\n/);
		expect(writes(world)).toEqual([]);
		const code = codeIn(shown.text);
		expect(await listed(world, code)).toContain("3 of ");
		join(world, "four");
		write(world, two);
		world.simulator.world.members.remove(world.guild, three);
		await world.heard();
		const wrong = await world.call("ban", { where: code });
		expect(wrong.text).toContain(`where: ${code} is of bulk_role_update with {"role_id"`);
		const done = await world.call("bulk_role_update", { ...args, where: code });
		expect(done.text).toStartWith("Gave 1 of 1 member the role @Newcomer");
		expect(done.text).toMatch(
			/2 skipped, who no longer match:\n@?two .*, 1 message since \S+\n\d+ \| left the guild\n/,
		);
		expect([one, two].map(({ roles }) => roles.length)).toEqual([1, 0]);
		const again = await world.call("bulk_role_update", { ...args, where: code });
		expect(again.text).toStartWith("Nobody matches for certain. Nothing was done.");
	});

	test("is bound to all its arguments and to the person in whose name it is made", async () => {
		await using world = await startWorld({}, { mcpToken: "a-token" });
		join(world, "one");
		await world.heard();
		const [ada, zoe] = ["ada", "zoe"].map((name) => {
			const person = { id: userNamed(world, name).id, name, signedIn: false };
			return world.mcp.as({ id: "key:assistant:1", name: "assistant", access: "all", person });
		});
		const where = "name:one";
		const day = new Date(Date.now() + dayMs).toISOString().slice(0, 16);
		for (const [tool, args, other] of [
			["ban", { reason: "raid", delete_messages: "1h" }, { delete_messages: "7d" }],
			["ban", { reason: "raid" }, { reason: "spam" }],
			["timeout", { duration: day }, { duration: "28d" }],
			["send_private_message", { content: "hello" }, { content: "bye" }],
			["bulk_role_update", { role_id: "@Newcomer", action: "add" }, { role_id: "@Staff" }],
			["bulk_role_update", { role_id: "@Newcomer", action: "remove" }, { action: "add" }],
		] as const) {
			const code = codeIn((await ada?.call(tool, { ...args, where }))?.text ?? "");
			expect(code).toStartWith("preview:");
			const changed = await ada?.call(tool, { ...args, ...other, where: code });
			expect(changed?.text).toContain(`where: ${code} is of ${tool} with {"`);
			expect((await zoe?.call("list_members", { where: code }))?.text).toContain("there is no preview");
			const same = await ada?.call(tool, { ...args, where: code, dry_run: true });
			expect(same?.text).toMatch(/^Dry run: nothing was done.\n(?:Would|Nothing to do)/);
		}
		expect(writes(world)).toEqual([]);
	});

	worldTest("bans, times out and writes to those it showed, each with the checks of one person", async (world) => {
		const two = [join(world, "one"), join(world, "two")];
		await world.heard();
		const where = "account < 1d and name:(one, two)";
		for (const [tool, more, first, done] of [
			["send_private_message", { content: "hello" }, "Would send 2 member(s)", "Sent 2 of 2 direct"],
			["timeout", { duration: "1h" }, "Would time out 2 member(s)", "Timed out 2 of 2 member(s)"],
			["ban", { reason: "raid" }, "Would ban 2 user(s), 2 of them members", "Banned 2 of 2 user(s)"],
		] as const) {
			const shown = await world.call(tool, { where, ...more });
			expect(shown.text).toContain(`nothing was done.\n${first}`);
			expect(shown.text.match(/\| account of \d{4}-\d\d-\d\d/g)).toHaveLength(2);
			const { text } = await world.call(tool, { where: codeIn(shown.text), ...more });
			expect(text).toStartWith(done);
		}
		expect(two.map(({ user }) => world.guild.members.has(user.id))).toEqual([false, false]);
		const above = await world.call("ban", { where: "user:@ada" });
		expect(above).toMatchObject({ isError: true });
		expect(above.text).not.toContain("Would ban");
		const both = await world.call("ban", { where, user_ids: ["@zoe"] });
		expect(both.text).toContain("user_ids, where: expected exactly one of the two");
		const unknown = await world.call("ban", { where: "preview:00000000" });
		expect(unknown.text).toContain("there is no preview 00000000");
	});
});

worldTest("who reacted, and who is in another guild of this bot", async (world) => {
	const { simulator, guild } = world;
	const [zoe, liwei] = [userNamed(world, "zoe"), userNamed(world, "liwei")];
	const channel = channelNamed(world, "general");
	const message = simulator.world.messages.add(channel, zoe, { content: "cake?" });
	simulator.world.reactions.add(channel, message, zoe, { name: "🍰", id: null });
	simulator.world.reactions.add(channel, message, liwei, { name: "👍", id: null });
	simulator.world.reactions.add(
		channel,
		message,
		memberNamed(world, "jose.garcia").user,
		{ name: "🍰", id: null },
		true,
	);
	await world.heard();
	const link = `https://discord.com/channels/${guild.id}/${message.channel_id}/${message.id}`;
	const both = await listed(world, `reacted to ${link}`);
	expect(both).toMatch(
		/^3 of .*\n.*garcia\) .* 🍰\n.*@zoe\) \| ID: \d+ \| reacted 🍰\n.*@liwei\) \| ID: \d+ \| reacted 👍$/,
	);
	expect(await listed(world, `reacted to (${message.channel_id}/${message.id}) with 🍰`)).toStartWith("2 of ");
	const elsewhere = await world.call("list_members", { where: 'guild:"The Bakers"' });
	expect(elsewhere.text).toContain(
		'this bot is in no guild "The Bakers". If another bot is, use compare_guilds (members).',
	);
	expect(await listed(world, `guild:${guild.id} and name:zoe`)).toStartWith("1 of ");
});

test("cases and spam are facts where the bot records them", async () => {
	await using world = await startWorld(
		{},
		{
			sections: (simulator) => ({
				features: { moderation: true },
				moderation: { log_channel: simulator.channel("The Cooks/general").id },
			}),
		},
	);
	await world.call("warn_member", { user_ids: ["@zoe"], reason: "spam", tell: false });
	expect(await listed(world, "cases:warn since 1d")).toMatch(/^1 of .*\n.*@zoe\) \| ID: \d+ \| 1 warn case since \S+$/);
	expect(await listed(world, "cases = 0 and user:@zoe")).toStartWith("0 of ");
	expect(await listed(world, "spam since 7d")).toStartWith("0 of ");
	expect((await world.call("list_members", { where: "cases:fine" })).text).toContain('no kind "fine", but: ban, ');
});

worldTest("find_tools explains it where a question uses it", async (world) => {
	for (const query of [
		"where",
		"who joined in the last two days and never wrote",
		"joins by invite",
		"who joined; ban who joined by an invite",
	]) {
		const { text } = await world.call("find_tools", { query });
		expect(text.split("messages = 0 since 7d | messages >= 8 since 30d")).toHaveLength(2);
	}
	expect((await world.call("find_tools", { query: "delete a channel" })).text).not.toContain("messages = 0");
});
