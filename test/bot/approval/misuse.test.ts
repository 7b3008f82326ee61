// Attempts to have something approved that was not shown, or that the person who approves could not do by hand.

import { describe, expect, setSystemTime, test } from "bun:test";
import { MessageFlags, PermissionFlagsBits } from "discord.js";
import { tools } from "../../../src/bot/tools/index.ts";
import { titleOf } from "../../../src/discord/permissions.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import type { Message } from "../../../src/simulator/world/state/entities.ts";
import { render } from "../../../src/texts/texts.ts";
import { present, until } from "../../support/until.ts";
import { channelNamed, giveRole, roleNamed, roleOverwrite } from "../../support/world.ts";
import {
	type ApprovalWorld,
	approvalTest,
	ban,
	descriptionOf,
	key,
	pendingId,
	staffChannel,
	startApprovalWorld,
} from "./approval-world.ts";

const { BanMembers, ManageGuild, ManageRoles } = PermissionFlagsBits;

const titles = new Map(tools.map(({ name, listing }) => [name, listing.title]));

describe("a message that was changed after it was posted approves nothing", () => {
	approvalTest("by a tool of the bot", async (world) => {
		await world.call(key("k"), "ban", ban(world));
		const [post] = world.posts();
		const edited = await world.call(key("k"), "edit_message", {
			channel_id: world.simulator.channel(staffChannel).id,
			message_id: post?.id ?? "",
			embeds: [{ title: "Approve set_nickname?", description: "harmless" }],
		});
		expect(edited.text).toContain("The buttons of the message");
		expect(descriptionOf(world.posts()[0])).not.toBe("harmless");
	});

	test.each<[string, (world: ApprovalWorld, post: Message) => void]>([
		[
			"by something else with the bot's token",
			({ simulator }, post) => {
				const embeds = [{ type: "rich", title: "Approve: Ban users?", description: "harmless" } as const];
				simulator.world.messages.edit(channelNamed(simulator, "staff"), post, { embeds });
				expect(descriptionOf(post)).toBe("harmless");
			},
		],
		["by a person who hid its embed", (_, post) => Object.assign(post, { flags: MessageFlags.SuppressEmbeds })],
	])("%s", async (_, change) => {
		await using world = await startApprovalWorld();
		const id = pendingId(await world.call(key("k"), "ban", ban(world)));
		change(world, present(world.posts()[0]));
		expect(await world.press("ada", "Approve")).toStartWith("This message was changed after the bot posted it");
		expect(world.guild.bans.size).toBe(0);
		expect(await world.state(key("k"), id)).toContain(" | pending | ");
		// To deny, it need not show anything.
		expect(await world.press("ada", "Deny")).toStartWith("Denied.");
	});
});

describe("who approves a tool without a dry run could make the call by hand", () => {
	const escalation = ({ simulator }: ApprovalWorld) => ({
		role_id: roleNamed(simulator, "Regular").id,
		add_permissions: ["BAN_MEMBERS"],
	});
	const cases: [string, string, (world: ApprovalWorld) => object, bigint, string][] = [
		["gives a permission that they lack", "edit_role", escalation, ManageRoles, "BAN_MEMBERS"],
		[
			"creates a role with a permission that they lack",
			"create_role",
			() => ({ name: "Helpers", permissions: ["BAN_MEMBERS"] }),
			ManageRoles,
			"BAN_MEMBERS",
		],
		[
			"moves roles above their own",
			"move_roles",
			({ simulator }) => ({
				role_ids: [roleNamed(simulator, "Regular").id],
				above_role_id: roleNamed(simulator, "Staff").id,
			}),
			ManageRoles,
			"highest role",
		],
	];
	test.each(cases)("one that %s", async (_, tool, args, held, lack) => {
		await using world = await startApprovalWorld({
			prepare: (simulator) => giveRole(simulator, "jose.garcia", { permissions: held | ManageGuild }),
			mcp: () => ({ approval: "write" }),
		});
		const before = changes(world);
		const call = args(world) as Record<string, never>;
		pendingId(await world.call(key("k"), tool, call));
		const refused = await world.press("jose.garcia", "Approve");
		expect(refused).toStartWith("You cannot approve this call: ");
		expect(refused).toContain(render(titleOf(lack), "en"));
		expect(changes(world)).toBe(before);
		expect(await world.press("ada", "Approve")).toContain(`"${titles.get(tool)}" is done`);
	});

	test("and may do so with the permission", async () => {
		await using world = await startApprovalWorld({
			prepare: (simulator) =>
				giveRole(simulator, "jose.garcia", { permissions: ManageRoles | ManageGuild | BanMembers }),
			mcp: () => ({ approval: "write" }),
		});
		await world.call(key("k"), "edit_role", escalation(world));
		expect(await world.press("jose.garcia", "Approve")).toContain("is done");
	});
});

describe("what is deleted is what was shown", () => {
	/** Zoë's messages in #general, oldest first, of which those with the word match. */
	async function write(world: ApprovalWorld, texts: readonly string[]) {
		const { simulator } = world;
		const { id } = simulator.channel("The Cooks/general");
		const zoe = simulator.user("zoe");
		for (const text of texts) await zoe.say(id, text);
		const messages = simulator.world.messages.in(id).slice(-texts.length);
		const left = () => simulator.world.messages.in(id).filter(({ content }) => content.includes("buy")).length;
		return { id, messages, left };
	}
	const lines = (count: number) => Array.from({ length: count }, (_, index) => `buy thing ${"x".repeat(index)}`);

	approvalTest("all of it, and not as many others", async (world) => {
		const texts = ["hello", ...lines(30)];
		const { id, messages, left } = await write(world, texts);
		await world.call(key("k"), "delete_messages", { channel_id: id, text: "buy", count: 100 });
		const { text } = await world.details();
		for (const { id: one, content } of messages) expect([one, text.includes(one)]).toEqual([one, content !== "hello"]);
		// The two oldest change roles: still 30, of which the latest 29 are the same.
		const [first, second] = messages;
		if (first) first.content = "buy nothing";
		if (second) second.content = "hello";
		expect(await world.press("ada", "Approve")).toContain("posted again");
		expect(left()).toBe(30);
		expect(await world.press("ada", "Approve")).toContain("is done");
		expect(left()).toBe(0);
	});

	approvalTest("also if the call says how old they are", async (world) => {
		const { id, left } = await write(world, lines(3));
		await world.call(key("k"), "delete_messages", {
			channel_id: id,
			after: "6h",
			user_ids: [world.simulator.user("zoe").id],
		});
		using _ = passed(60_000);
		expect(await world.press("ada", "Approve")).toContain("is done");
		expect(left()).toBe(0);
	});
});

describe("a tool without a dry run", () => {
	const send = ({ simulator }: ApprovalWorld) => ({
		channel_id: simulator.channel("The Cooks/general").id,
		content: "Hello",
	});

	approvalTest("shows what its ids stand for", { mcp: () => ({ approval: "write" }) }, async (world) => {
		const { channel_id } = send(world);
		await world.call(key("k"), "send_message", send(world));
		expect((await world.details()).text).toContain(`channel_id: #general (ID: ${channel_id})`);
	});

	test("is asked about again if one of them was renamed", async () => {
		await using world = await startApprovalWorld({ mcp: () => ({ approval: "write" }) });
		const { simulator, guild } = world;
		const { channel_id } = send(world);
		await world.call(key("k"), "send_message", send(world));
		const channel = guild.channels.get(channel_id);
		if (channel) simulator.world.channels.edit(channel, { name: "news" });
		await until("the bot has heard", async () => {
			const { text } = await world.call(undefined, "list_channels");
			return text.includes("#news");
		});
		expect(await world.press("ada", "Approve")).toContain("posted again");
		expect((await world.details()).text).toContain("channel_id: #news");
		expect(await world.press("ada", "Approve")).toContain("is done");
	});
});

approvalTest("a ban is approved although the member writes on", async (world) => {
	const zoe = world.simulator.user("zoe");
	const { id } = world.simulator.channel("The Cooks/general");
	await zoe.say(id, "spam");
	await world.call(key("k"), "ban", ban(world, "zoe", { delete_messages: "1h" }));
	expect((await world.details()).text).toContain("1 message");
	await zoe.say(id, "more spam");
	expect(await world.press("ada", "Approve")).toContain('"Ban users" is done');
});

test.each<[string, (zoe: string) => JsonObject]>([
	["warn_member", (zoe) => ({ user_ids: [zoe], reason: "spam" })],
	["note_member", (zoe) => ({ user_ids: [zoe], note: "spam" })],
	["set_nickname", (zoe) => ({ user_ids: zoe, nickname: "Zed" })],
])("the check of who approves %s stores nothing: there is one case", async (tool, argsFor) => {
	await using world = await startApprovalWorld({
		mcp: () => ({ approval: "write" }),
		toml: () => ({ features: { moderation: true } }),
	});
	await world.call(key("k"), tool, argsFor(world.simulator.user("zoe").id));
	expect(await world.press("ada", "Approve")).toContain('" is done');
	const { text } = await world.call(key("k"), "list_cases");
	expect(text).toStartWith("1 case");
});

test("who approves a lock of all channels may manage the roles of all", async () => {
	await using world = await startApprovalWorld({
		approval: (simulator) => ({ roles: [roleNamed(simulator, "Approvers").id] }),
		prepare(simulator) {
			const { id } = giveRole(simulator, "jose.garcia", { name: "Approvers" });
			const general = channelNamed(simulator, "general");
			simulator.world.channels.setOverwrite(general, roleOverwrite(id, { allow: ManageRoles }));
		},
	});
	await world.call(key("k"), "lock_channel", { all: true });
	expect(await world.press("jose.garcia", "Approve")).toBe(
		"You cannot approve this call: you lack Manage Roles in the server as a whole.",
	);
});

/** Lets time pass for tools. */
function passed(ms: number): Disposable {
	setSystemTime(new Date(performance.timeOrigin + performance.now() + ms));
	return { [Symbol.dispose]: () => setSystemTime() };
}

/** How many requests the bot has sent that change a role or a member. */
function changes({ simulator }: ApprovalWorld): number {
	return simulator.requests
		.list()
		.filter(({ method, path }) => method !== "GET" && /^\/guilds\/\d+\/(roles|members)/.test(path)).length;
}
