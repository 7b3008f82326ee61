// Requests for approval: who sees them, where they are posted, what they show, and what becomes of them in trouble.

import { describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { present, until } from "../../support/until.ts";
import { channelNamed, denyBot, giveRole, memberNamed, memberOverwrite } from "../../support/world.ts";
import {
	type ApprovalWorld,
	approvalTest,
	ban,
	descriptionOf,
	fieldsOf,
	isBanned,
	key,
	pendingId,
	startApprovalWorld,
} from "./approval-world.ts";

const writes = { approval: "write" };
const forRoot = { approval_for_root: true };

describe("callers", () => {
	approvalTest("see only their own requests", async (world) => {
		const mine = pendingId(await world.call(key("mine"), "ban", ban(world)));
		const other = key("other");
		const theirs = pendingId(await world.call(other, "ban", ban(world, "liwei")));
		const list = await world.call(key("mine"), "list_approvals");
		expect(list.text).toContain(mine);
		expect(list.text).not.toContain(theirs);
		const none = await world.call(key("third"), "list_approvals");
		expect(none.text).toBe("No call of yours needed approval.");

		// One of another caller, and one that does not exist.
		const texts = await Promise.all(
			[mine, "0123456789ab"].map(async (id) => [
				(await world.state(other, id)).replace(id, "ID"),
				(await world.ask(other, "guildhall/approval", { id })).error,
			]),
		);
		expect(texts[0]).toEqual(texts[1] as never);
		expect(texts[0]?.[0]).toStartWith("There is no request for approval ID.");
	});

	approvalTest("do not see those of a key that had the same name before", async (world) => {
		const person = world.person("ada");
		const before = { ...key("desk", person), id: "key:desk:1" };
		const after = { ...key("desk", person), id: "key:desk:2" };
		const id = pendingId(await world.call(before, "ban", ban(world)));
		expect(await world.state(before, id)).toContain(" | pending | ");
		expect(await world.state(after, id)).toStartWith("There is no request");
		const list = await world.call(after, "list_approvals");
		expect(list.text).toBe("No call of yours needed approval.");
		const { error } = await world.ask(after, "guildhall/approval", { id });
		expect(error).toMatchObject({ code: -32602 });
	});

	approvalTest("have at most 10 open requests, also when they call at the same time", async (world) => {
		const calls = Array.from({ length: 15 }, () => world.call(key("k"), "ban", ban(world)));
		const refused = (await Promise.all(calls)).filter(({ pending }) => pending === undefined);
		expect(refused).toHaveLength(5);
		for (const answer of refused)
			expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(/^10 requests of this caller wait/) });
		expect(world.posts()).toHaveLength(10);
		pendingId(await world.call(key("other"), "ban", ban(world)));
		await world.press("ada", "Deny", world.posts()[0]);
		pendingId(await world.call(key("k"), "ban", ban(world)));
	});

	test("without a gateway wait for the decision, and get the result itself", async () => {
		await using world = await startApprovalWorld({ mcp: () => forRoot, waitMs: 60_000 });
		for (const [button, text] of [
			["Deny", "was not run"],
			["Approve", "Banned"],
		] as const) {
			const before = world.posts().length;
			const answer = world.call(undefined, "ban", ban(world));
			await until("it is posted", () => world.posts().length > before);
			await world.press("ada", button);
			expect(await answer).toMatchObject({
				text: expect.stringContaining(text),
				isError: button === "Deny",
				pending: undefined,
			});
		}
	});

	approvalTest("without a gateway get the id when nobody decides in time", { mcp: () => forRoot }, async (world) => {
		const id = pendingId(await world.call(undefined, "ban", ban(world)));
		expect(await world.state(undefined, id)).toContain(" | pending | ");
		expect(await world.press("ada", "Approve")).toContain('"Ban users" is done');
		expect(await world.state(undefined, id)).toContain(" | done | ");
	});

	test("find get_approval in the list, whatever toolsets says", async () => {
		await using world = await startApprovalWorld({ mcp: () => ({ toolsets: ["moderation"], list: ["ban"] }) });
		const { result } = await world.ask(key("k"), "tools/list", {});
		const { tools } = result as { tools: { name: string }[] };
		expect(tools.map(({ name }) => name)).toContain("get_approval");
	});
});

describe("a request", () => {
	approvalTest("can be read and approved after a restart of the bot", async (world) => {
		const id = pendingId(await world.call(key("k"), "ban", ban(world)));
		await world.restart();
		expect((await world.details()).text).toContain("Would ban");
		expect(await world.press("ada", "Approve")).toContain('"Ban users" is done');
		expect(await world.state(key("k"), id)).toContain(" | done | ");
		await world.shown("Ban users: approved and done");
	});

	approvalTest("runs although its message was deleted after the press", async (world) => {
		const id = pendingId(await world.call(key("k"), "ban", ban(world)));
		const { simulator } = world;
		const post = present(world.posts()[0]);
		const pressed = await simulator.user("ada").press(post, "Approve");
		simulator.world.messages.remove(channelNamed(world, "staff"), post);
		await pressed.reply();
		await until("it has ended", async () => (await world.state(key("k"), id)).includes(" | done | "));
	});

	test.each<[string, (world: ApprovalWorld) => void | Promise<void>, string]>([
		["was deleted", (world) => world.simulator.world.channels.remove(channelNamed(world, "staff")), "does not exist"],
		[
			"cannot be written in",
			(world) => denyBot(world, channelNamed(world, "staff"), PermissionFlagsBits.SendMessages),
			"SEND_MESSAGES",
		],
	])("is refused if its channel %s", async (_, change, text) => {
		await using world = await startApprovalWorld();
		await change(world);
		const refused = await until("the bot has heard", async () => {
			const answer = await world.call(key("k"), "ban", ban(world));
			return answer.text.includes(text) && answer;
		});
		expect(refused.isError).toBe(true);
		expect(refused.text).toContain("ban was not run.");
		expect(isBanned(world)).toBe(false);
	});

	approvalTest("is refused if Discord refuses its message, and has failed", async (world) => {
		world.simulator.faults.refuse("POST /channels/:channel_id/messages", 50013, { times: 1 });
		const refused = await world.call(key("k"), "ban", ban(world));
		expect(refused).toMatchObject({ isError: true, pending: undefined });
		expect(refused.text).toStartWith("The request for approval could not be posted in Discord: ");
		const list = await world.call(key("k"), "list_approvals");
		expect(list.text).toContain(" | failed | ");
	});

	approvalTest("is refused while the database is unavailable", { hasDatabase: false }, async (world) => {
		const refused = await world.call(key("k"), "ban", ban(world));
		expect(refused.isError).toBe(true);
		expect(refused.text).toContain("database is unavailable");
		expect(isBanned(world)).toBe(false);
		expect(world.posts()).toEqual([]);
	});

	approvalTest("is posted once if Discord's response is lost", async (world) => {
		world.simulator.faults.drop("POST /channels/:channel_id/messages", { times: 1, when: "after" });
		pendingId(await world.call(key("k"), "ban", ban(world)));
		expect(world.posts()).toHaveLength(1);
	});
});

describe("what a message shows", () => {
	const hostile = "@everyone <@&123456789012345678> [a](https://evil.example) **b** `c` \u200b\u202e\u{e0041}\n# d";

	approvalTest("texts of a call cannot ping, format or hide anything", { mcp: () => writes }, async (world) => {
		await world.call(key("<@1> **k** \u202e"), "send_message", {
			channel_id: world.simulator.channel("The Cooks/general").id,
			content: hostile,
		});
		const [post] = world.posts();
		expect(post?.mention_everyone).toBe(false);
		expect(post?.mentions).toEqual([]);
		expect(post?.mention_roles).toEqual([]);
		expect(descriptionOf(post)).not.toContain("everyone");
		const { text } = await world.details();
		expect(text).toContain("@everyone");
		// In two code blocks, for arguments and names, which nothing in them ends.
		expect(text.split("```")).toHaveLength(5);
		expect(text).toContain("\\u{200b}".slice(0, 2));
		expect(JSON.stringify(post) + text).not.toMatch(/[\u200b\u202e\u{e0041}]/u);
		expect(fieldsOf(post).For).toStartWith("the key \\<@1> \\*\\*k\\*\\*");
	});

	test.each([
		["5,000 characters", `${"x".repeat(4_996)} end`],
		["the end of a code block", "```\n**Approve this**\n```"],
	])("%s: in full, as a file", async (_, content) => {
		await using world = await startApprovalWorld({ mcp: () => writes });
		const { id } = world.simulator.channel("The Cooks/general");
		const answer = await world.call(key("k"), "send_file", { channel_id: id, filename: "notes.txt", text: content });
		pendingId(answer);
		const { text, attachments } = await world.details();
		expect(text).toContain("the attached file has all of it");
		const [file] = attachments;
		expect(file?.filename).toMatch(/^request-[0-9a-f]{12}\.txt$/);
		expect(file?.size).toBeGreaterThan(content.length);
		expect(JSON.stringify(world.posts()[0]?.embeds)).not.toContain("Approve this");
		expect(await world.press("ada", "Approve")).toContain('"Send a file" is done');
		// It can still be read.
		const ended = await world.shown("Send a file: approved and done");
		expect((await world.details("ada", ended)).attachments).toHaveLength(1);
	});

	test("for whom and by which client, also for a person who does not see the channel for requests", async () => {
		await using world = await startApprovalWorld({
			prepare(simulator) {
				giveRole(simulator, "zoe", { permissions: PermissionFlagsBits.BanMembers });
				const hidden = memberOverwrite(simulator.user("zoe").id, { deny: PermissionFlagsBits.ViewChannel });
				simulator.world.channels.setOverwrite(channelNamed(simulator, "staff"), hidden);
			},
		});
		const zoe = key("desk", world.person("zoe"));
		pendingId(await world.call(zoe, "ban", ban(world, "liwei")));
		expect(fieldsOf(world.posts()[0])).toMatchObject({
			For: `<@${zoe.person?.id}>, with the key desk`,
			Client: "Claude",
			Server: "The Cooks",
		});
		expect(await world.press("ada", "Approve")).toContain('"Ban users" is done');
		expect(isBanned(world, "liwei")).toBe(true);
	});

	approvalTest("the plan that apply_guild would carry out", async (world) => {
		const { text } = await world.call(key("k"), "plan_guild", { document: { version: 1, roles: [{ name: "Mods" }] } });
		const [plan_hash] = /\b[0-9a-f]{32}\b/.exec(text) ?? [];
		const id = pendingId(await world.call(key("k"), "apply_guild", { plan_hash }));
		expect((await world.details()).text).toContain("Mods");
		expect(await world.press("ada", "Approve")).toContain('"Carry out a plan" is done');
		expect(await world.state(key("k"), id)).toContain(" | done | ");
		await until("the role is there", () => [...world.guild.roles.values()].some(({ name }) => name === "Mods"));
	});
});

describe("logs", () => {
	approvalTest("have ids and decisions, and no texts of arguments", { mcp: () => writes }, async (world) => {
		const secret = "a secret in a message";
		const id = pendingId(
			await world.call(key("k"), "send_message", {
				channel_id: world.simulator.channel("The Cooks/general").id,
				content: secret,
			}),
		);
		expect((await world.details()).text).toContain(secret);
		await world.press("ada", "Approve");
		await world.shown("Send a message: approved and done");
		const lines = world.log.lines.join("\n");
		expect(lines).toContain(id);
		expect(lines).not.toContain(secret);

		const calls = await world.call(undefined, "list_recent_tool_calls");
		expect(calls.text).not.toContain(secret);
		const events = [...calls.text.matchAll(/"event":"([a-z ]+)"/g)];
		expect(events.map(([, event]) => event)).toEqual(["done", "approved", "requested"]);
		// The call itself is recorded once, when it has run.
		expect(calls.text.match(/\| send_message \| done \|/g)).toHaveLength(1);
	});
});

describe("the requester's rights", () => {
	const staff = (world: ApprovalWorld) => key("staff", world.person("jose.garcia"));

	approvalTest("are checked at once", async (world) => {
		const refused = await world.call(staff(world), "ban", ban(world));
		expect(refused).toMatchObject({ isError: true, pending: undefined });
		expect(world.posts()).toEqual([]);
	});

	test.each<[string, (world: ApprovalWorld) => void]>([
		[
			"lost a role",
			({ guild, simulator }) => {
				const jose = memberNamed({ guild }, "jose.garcia");
				simulator.world.members.edit(guild, jose, { roles: [] });
			},
		],
		[
			"left",
			({ guild, simulator }) => {
				const jose = memberNamed({ guild }, "jose.garcia");
				simulator.world.members.remove(guild, jose);
			},
		],
	])("are checked again at the press: they have %s", async (_, change) => {
		await using world = await startApprovalWorld();
		const id = pendingId(await world.call(staff(world), "kick", ban(world)));
		change(world);
		await until("the bot has heard", async () => {
			const again = await world.call(staff(world), "kick", { ...ban(world), dry_run: true });
			return again.isError;
		});
		expect(await world.press("ada", "Approve")).toContain('"Kick members" failed');
		expect(world.guild.members.has(world.simulator.user("zoe").id)).toBe(true);
		expect(await world.state(staff(world), id)).toContain(" | failed | ");
		await world.shown("Kick members: failed");
	});
});
