// Approval in Discord: which calls need it, who may decide, and that a call runs once, exactly as it was shown.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { present, until } from "../../support/until.ts";
import { addToBakers, roleNamed, userNamed } from "../../support/world.ts";
import {
	type ApprovalWorld,
	type ApprovalWorldOptions,
	approvalTest,
	ban,
	buttonsOf,
	descriptionOf,
	fieldsOf,
	isBanned,
	key,
	openStaff,
	pendingId,
	rename,
	startApprovalWorld,
	titleOf,
} from "./approval-world.ts";

const banRoute = /^PUT \/guilds\/\d+\/bans\/\d+$/;

/** How many requests the bot has sent that match. */
function sent({ simulator }: ApprovalWorld, pattern: RegExp): number {
	return simulator.requests.list().filter(({ method, path }) => pattern.test(`${method} ${path}`)).length;
}

describe("a call that needs approval", () => {
	approvalTest("waits, runs after Approve, and its message says who approved", async (world) => {
		const first = await world.call(key("k"), "ban", ban(world));
		const id = pendingId(first);
		expect(first.isError).toBe(false);
		expect(first.text).toContain(`get_approval with approval_id ${id}`);
		expect(isBanned(world)).toBe(false);

		const [post] = world.posts();
		expect(titleOf(post)).toBe("Approve: Ban users?");
		expect(buttonsOf(post)).toEqual(["Approve", "Deny", "Details"]);
		const zoe = world.simulator.user("zoe").id;
		expect(descriptionOf(post)).toBe(
			`Run **Ban users**? Requested by the key k. Concerns: <@${zoe}>.\n> Ban <@${zoe}> for good?\n-# Details shows all that would happen. Read it before you decide.`,
		);
		const { text, ephemeral } = await world.details();
		expect(ephemeral).toBe(true);
		for (const part of [`"user_ids": [`, `"${zoe}"`, `Would ban Zoë 🍞 (@zoe, ID: ${zoe}).`])
			expect(text).toContain(part);
		expect(fieldsOf(post).For).toContain("key");
		expect(await world.state(key("k"), id)).toContain("pending");

		const reply = await world.press("ada", "Approve");
		expect(reply).toContain('"Ban users" is done');
		expect(isBanned(world)).toBe(true);
		expect(sent(world, banRoute)).toBe(1);
		const [entry] = world.simulator.journal.entries().filter(({ route }) => route.startsWith("PUT /guilds/"));
		expect(entry?.reason).toEndWith("(by k, approved by Ada)");
		const ended = await world.shown("Ban users: approved and done");
		expect(buttonsOf(ended)).toEqual(["Details"]);
		expect(fieldsOf(ended)["Approved by"]).toBe(`<@${world.simulator.user("ada").id}>`);
		expect(await world.state(key("k"), id)).toMatch(/ \| done \|[\s\S]*Banned/);
		const answer = await world.ask(key("k"), "guildhall/approval", { id });
		expect(answer.result).toMatchObject({
			status: "decided",
			result: { content: [{ text: expect.stringContaining("Banned") }] },
		});
	});

	approvalTest("does not run after Deny, even by the buttons of an old copy of its message", async (world) => {
		const id = pendingId(await world.call(key("k"), "ban", ban(world)));
		const copy = structuredClone(world.posts()[0]);
		expect(await world.press("ada", "Deny")).toBe('Denied. "Ban users" is not run.');
		const ended = await world.shown("Ban users: denied, not run");
		expect(await world.state(key("k"), id)).toContain(" | denied | ");
		const answer = await world.ask(key("k"), "guildhall/approval", { id });
		expect(answer.result).toMatchObject({ status: "decided", result: { isError: true } });
		// The bot's edit is lost.
		Object.assign(ended, { components: copy?.components });
		expect(await world.press("ada", "Approve")).toMatch(/^This request was denied by <@\d+>\. Nothing was done\.$/);
		expect(sent(world, banRoute)).toBe(0);
	});

	approvalTest("expires after a day", async (world) => {
		const id = pendingId(await world.call(key("k"), "ban", ban(world)));
		world.clock.offsetMs = 86_400_001;
		expect(await world.press("ada", "Approve")).toContain("has expired");
		expect(await world.state(key("k"), id)).toContain("pending");
		await world.restart();
		await world.shown("Ban users: expired, not run");
		expect(await world.state(key("k"), id)).toContain(" | expired | ");
		expect(sent(world, banRoute)).toBe(0);
	});

	approvalTest("is refused at once for wrong arguments, a missing permission and an unknown member", async (world) => {
		const wrong = await world.call(key("k"), "ban", { user_ids: "no" });
		expect(wrong.code).toBe(-32602);
		const own = await world.call(key("k"), "kick", { user_ids: [world.simulator.user("ada").id] });
		expect(own).toMatchObject({ isError: true, pending: undefined });
		expect(own.text).toContain("owns the guild");
		expect(world.posts()).toEqual([]);
	});
});

describe("which calls need approval", () => {
	const cases: [string, Record<string, unknown>, string, object, boolean][] = [
		["destructive: a ban", {}, "ban", {}, true],
		["destructive: a dry run", {}, "ban", { dry_run: true }, false],
		["destructive: a dry run that is not one", {}, "ban", { dry_run: false }, true],
		["destructive: a tool that reads", {}, "get_member", {}, false],
		["destructive: a tool that writes", {}, "set_nickname", {}, false],
		["write: a tool that writes", { approval: "write" }, "set_nickname", {}, true],
		["write: a tool that reads", { approval: "write" }, "get_member", {}, false],
	];
	test.each(cases)("%s", async (_, mcp, tool, more, expected) => {
		await using world = await startApprovalWorld({ mcp: () => mcp });
		const { id } = world.simulator.user("zoe");
		const args =
			tool === "set_nickname" ? { user_ids: [id], nickname: "Zed" } : { user_ids: [id], ...(tool === "ban" && more) };
		const answer = await world.call(key("k"), tool, args);
		expect(answer.pending !== undefined).toBe(expected);
		expect(answer.isError).toBe(false);
	});

	approvalTest("through use_tool the inner tool counts", async (world) => {
		const inner = (name: string, args: object) => world.call(key("k"), "use_tool", { name, arguments: args });
		const banned = await inner("ban", ban(world));
		expect(banned.pending).toBeDefined();
		expect(titleOf(world.posts()[0])).toBe("Approve: Ban users?");
		const { id } = world.simulator.user("zoe");
		const renamed = await inner("set_nickname", { user_ids: id, nickname: "Z" });
		expect(renamed).toMatchObject({ isError: false, pending: undefined });
	});

	test("the root key is exempt, unless approval_for_root is set", async () => {
		const root = { id: "root", name: "root", access: "all" } as const;
		for (const principal of [root, undefined]) {
			await using free = await startApprovalWorld();
			const done = await free.call(principal, "ban", ban(free));
			expect(done.text).toStartWith("Banned");
			await using bound = await startApprovalWorld({ mcp: () => ({ approval_for_root: true }) });
			const asked = await bound.call(principal, "ban", ban(bound));
			expect(asked.pending).toBeDefined();
			expect(isBanned(bound)).toBe(false);
			expect(fieldsOf(bound.posts()[0]).For).toBe("the holder of MCP_AUTH_TOKEN");
		}
	});

	const off = { mcp: () => ({ approval: "off" }) };
	approvalTest("without approval, there are no tools for it and nothing is declared", off, async (world) => {
		const list = await world.ask(key("k"), "tools/list", {});
		expect(JSON.stringify(list)).not.toContain("get_approval");
		const method = await world.ask(key("k"), "guildhall/approval", { id: "1" });
		expect(method.error).toMatchObject({ code: -32601 });
		const done = await world.call(key("k"), "ban", ban(world));
		expect(done.text).toStartWith("Banned");
	});
});

test.each([
	["of the guild", { channel: undefined }, {}],
	["of another guild", {}, { guild_id: "The Bakers" }],
])(
	"without a channel %s, a call is refused, and says which setting is missing",
	async (_, approval, { guild_id }: { guild_id?: string }) => {
		await using world = await startApprovalWorld({ approval: () => approval, prepare: addToBakers });
		const { world: platform } = world.simulator;
		const guild = guild_id === undefined ? world.guild : world.simulator.guild(guild_id);
		const channel = platform.channels.add(guild, { name: "doomed" });
		const args = { guild_id: guild.id, channel_id: channel.id };
		const refused = await until("the bot has heard of the channel", async () => {
			const answer = await world.call(key("k"), "delete_channel", args);
			return answer.text.includes("approval") && answer;
		});
		expect(refused.isError).toBe(true);
		expect(refused.text).toContain("an administrator can set one with /settings on Discord (approval.channel)");
		expect(refused.text).toEndWith("delete_channel was not run.");
		expect(guild.channels.has(channel.id)).toBe(true);
		expect(world.posts()).toEqual([]);
	},
);

describe("who may decide", () => {
	const staffDecide: ApprovalWorldOptions = {
		approval: (simulator) => ({ roles: [roleNamed(simulator, "Staff").id] }),
	};

	test.each([
		["the owner", "ada", undefined],
		["a member without Manage Server", "mona_lisa", "Manage Server"],
		["staff without Manage Server", "jose.garcia", "Manage Server"],
	])("without approval.roles: %s", async (_, who, refusal) => {
		await using world = await startApprovalWorld({ prepare: openStaff });
		await world.call(key("k"), "kick", ban(world));
		const reply = await world.press(who, "Approve");
		if (refusal) expect(reply).toContain(refusal);
		else expect(reply).toContain('"Kick members" is done');
		expect(world.guild.members.has(world.simulator.user("zoe").id)).toBe(refusal !== undefined);
	});

	approvalTest("with approval.roles, they are pinged, and their members decide", staffDecide, async (world) => {
		await world.call(key("k"), "kick", ban(world));
		const [post] = world.posts();
		expect(post?.content).toBe(`<@&${roleNamed(world.simulator, "Staff").id}>`);
		expect(post?.mention_roles).toEqual([roleNamed(world.simulator, "Staff").id]);
		expect(await world.press("ada", "Approve")).toContain("certain roles");
		expect(await world.press("jose.garcia", "Approve")).toContain("is done");
	});

	approvalTest("who approves needs the permissions that the call needs", staffDecide, async (world) => {
		await world.call(key("k"), "ban", ban(world, "mona_lisa"));
		const refused = await world.press("jose.garcia", "Approve");
		expect(refused).toStartWith("You cannot approve this call: ");
		expect(refused).toContain("You lack Ban Members");
		expect(isBanned(world, "mona_lisa")).toBe(false);
		// To deny, nothing more is needed.
		expect(await world.press("jose.garcia", "Deny")).toStartWith("Denied.");
	});

	test("a call in another guild is posted there, and approved by its members with their permissions there", async () => {
		await using world = await startApprovalWorld({
			prepare: addToBakers,
			others: ({ guild, channel }) => ({
				[guild("The Bakers").id]: { "approval.channel": channel("The Bakers/general").id },
			}),
		});
		const bakers = world.simulator.guild("The Bakers");
		const { world: platform } = world.simulator;
		const { id } = world.simulator.channel("The Bakers/Lounge");
		const args = { guild_id: bakers.id, channel_id: id };
		await world.call(key("k"), "delete_channel", args);
		expect(world.posts()).toEqual([]);
		const post = platform.messages.in(world.simulator.channel("The Bakers/general").id).at(-1);
		const press = () => world.press("ada", "Approve", post);
		const ada = platform.members.add(bakers, userNamed(world, "ada"));
		expect(await press()).toContain("Only people with Manage Server can decide");
		const { ManageGuild, ManageChannels } = PermissionFlagsBits;
		const role = platform.roles.add(bakers, { name: "Keeper", permissions: String(ManageGuild) });
		platform.members.edit(bakers, ada, { roles: [role.id] });
		expect(await press()).toContain("You lack Manage Channels in <#");
		platform.roles.edit(bakers, role, { permissions: String(ManageGuild | ManageChannels) });
		await until("the bot has heard", async () => (await press()).includes("is done"));
		expect(bakers.channels.has(id)).toBe(false);
	});

	test("nobody approves a call in their own name, unless approval_self is set", async () => {
		for (const approval_self of [false, true]) {
			await using world = await startApprovalWorld({ mcp: () => ({ approval_self }) });
			const own = key("ada", world.person("ada"));
			await world.call(own, "ban", ban(world));
			const reply = await world.press("ada", "Approve");
			expect(isBanned(world)).toBe(approval_self);
			if (!approval_self) expect(reply).toContain("in your name");
		}
	});
});

describe("the plan is made anew", () => {
	approvalTest("a changed plan is posted again, and the old message decides and shows nothing", async (world) => {
		const id = pendingId(await world.call(key("k"), "ban", ban(world)));
		const first = present(world.posts()[0]);
		const old = structuredClone(first.components);
		await rename(world, "Someone else");
		expect(await world.press("ada", "Approve")).toContain("posted again");
		expect(world.posts()).toHaveLength(2);
		expect(buttonsOf(first)).toEqual([]);
		expect(await world.state(key("k"), id)).toContain(" | pending | ");
		for (const button of ["Details", "Approve", "Deny"]) {
			// The bot's edit of the old message is lost.
			Object.assign(first, { components: old });
			expect(await world.press("ada", button, first)).toContain("posted again in another message");
			await until("its buttons are gone", () => buttonsOf(first).length === 0);
		}
		expect(isBanned(world)).toBe(false);
		expect((await world.details()).text).toContain("Someone else");
		expect(await world.press("ada", "Approve")).toContain('"Ban users" is done');
		expect(isBanned(world)).toBe(true);
	});

	approvalTest("what depends on the time of the call does not change a plan", async (world) => {
		await world.call(key("k"), "timeout", ban(world, "zoe", { duration: "2h" }));
		expect(await world.press("ada", "Approve")).toContain('" is done');
	});
});

approvalTest("a second press does nothing", async (world) => {
	await world.call(key("k"), "ban", ban(world));
	const replies = await Promise.all([
		world.press("ada", "Approve"),
		world.press("ada", "Approve"),
		world.press("ada", "Deny"),
	]);
	const done = replies.filter((reply) => reply.includes('"Ban users" is done'));
	const denied = replies.filter((reply) => reply.startsWith("Denied"));
	expect(done.length + denied.length).toBe(1);
	expect(sent(world, banRoute)).toBe(done.length);
});
