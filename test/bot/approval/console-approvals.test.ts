// Approvals in the gateway's console: who sees which requests, and who may decide on them.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { isObject } from "../../../src/lib/json.ts";
import { type Principal, rootPrincipal } from "../../../src/lib/principal.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { giveRole } from "../../support/world.ts";
import {
	type ApprovalWorld,
	approvalTest,
	fieldsOf,
	key,
	openStaff,
	pendingId,
	startApprovalWorld,
} from "./approval-world.ts";

interface Listed {
	id: string;
	token: string;
	[name: string]: unknown;
}

/** Returns the principal of a person who has signed in to the console with Discord. */
function atConsole(world: ApprovalWorld, name: string): Principal {
	const person = { ...world.person(name), signedIn: true };
	const id = `console:${person.id}`;
	return { id, name: "Guildhall console", access: "read", person };
}

async function list(world: ApprovalWorld, principal?: Principal): Promise<Listed[]> {
	const { result, error } = await world.ask(principal, "guildhall/approvals", {});
	if (!isObject(result)) throw new Error(JSON.stringify(error));
	return result.approvals as Listed[];
}

async function decide(
	world: ApprovalWorld,
	principal: Principal | undefined,
	{ id, token }: { id: string; token: string },
	decision: string,
) {
	const params = { id, token, decision };
	const answer = await world.ask(principal, "guildhall/decide", params);
	return answer.result ?? answer.error;
}

/** Gives a member Manage Server. Also lets everyone see the channel for requests, unless `isOpen` is false. */
function addManager(simulator: Simulator, name: string, isOpen = true): void {
	giveRole(simulator, name, { permissions: PermissionFlagsBits.ManageGuild });
	if (isOpen) openStaff(simulator);
}

const zoe = ({ simulator }: ApprovalWorld) => simulator.user("zoe").id;
const isBanned = (world: ApprovalWorld) => world.guild.bans.has(zoe(world));
const ban = (world: ApprovalWorld, principal = key("k")) => world.call(principal, "ban", { user_ids: [zoe(world)] });

approvalTest("the operator sees each request in full, and approves it once", async (world) => {
	const id = pendingId(await ban(world));
	const [shown, ...others] = await list(world);
	expect(others).toEqual([]);
	expect(shown).toEqual({
		id,
		token: expect.stringMatching(/^[0-9a-f]{16}$/),
		tool: "ban",
		guild: { id: world.guild.id, name: "The Cooks" },
		requester: "the key k",
		client: expect.any(String),
		arguments: expect.stringContaining(zoe(world)),
		plan: expect.stringContaining("Would ban"),
		createdAt: expect.any(Number),
		expiresAt: expect.any(Number),
		mayDeny: true,
		why: null,
	});
	if (!shown) throw new Error("nothing is listed");
	const [first, second] = await Promise.all([
		decide(world, undefined, shown, "approve"),
		decide(world, undefined, shown, "approve"),
	]);
	const outcomes = [first, second] as { message: string; done: boolean }[];
	expect(outcomes.map(({ done }) => done).sort()).toEqual([false, true]);
	expect(outcomes.find(({ done }) => done)?.message).toContain('"Ban users" is done');
	expect(isBanned(world)).toBe(true);
	const message = await world.shown("Ban users: approved and done");
	expect(fieldsOf(message)["Approved by"]).toBe("the holder of MCP_AUTH_TOKEN");
	expect(await world.state(key("k"), id)).toContain("decided by the holder of MCP_AUTH_TOKEN");
	expect(await list(world)).toEqual([]);
	// Another page still shows it. Who may not see it does not learn of it.
	for (const decision of ["approve", "deny"])
		expect(await decide(world, atConsole(world, "ada"), shown, decision)).toEqual({
			message: "This request was approved by the holder of MCP_AUTH_TOKEN and is done. Nothing more was done.",
			done: false,
		});
	expect(await decide(world, atConsole(world, "liwei"), shown, "deny")).not.toEqual(
		expect.objectContaining({ message: expect.stringContaining("approved") }),
	);
});

approvalTest("the operator denies a request", async (world) => {
	const id = pendingId(await ban(world));
	const [shown] = await list(world);
	expect(await decide(world, undefined, shown as Listed, "deny")).toEqual({
		message: 'Denied. "Ban users" is not run.',
		done: true,
	});
	expect(await world.state(key("k"), id)).toContain("The holder of MCP_AUTH_TOKEN denied the request");
	expect(isBanned(world)).toBe(false);
});

approvalTest("a decision on another plan, an unknown request or a wrong word counts for nothing", async (world) => {
	await ban(world);
	const [shown] = (await list(world)) as [Listed];
	const wrong = [
		{ ...shown, token: "0".repeat(16) },
		{ ...shown, id: "0".repeat(12) },
	];
	for (const one of wrong) expect(await decide(world, undefined, one, "approve")).toMatchObject({ done: false });
	for (const word of ["yes", "", "toString"])
		expect(await decide(world, undefined, shown, word)).toMatchObject({ code: -32602 });
	expect(isBanned(world)).toBe(false);
});

approvalTest("a plan that has changed is shown again before it can be approved", async (world) => {
	await ban(world);
	const [before] = (await list(world)) as [Listed];
	const { simulator, guild } = world;
	const member = guild.members.get(zoe(world));
	if (member) simulator.world.members.edit(guild, member, { nick: "Else" });
	await world.call(undefined, "get_member", { user_ids: zoe(world) });
	// First it turns out that the plan is another one, then the old one is refused.
	for (let tried = 0; tried < 2; tried++)
		expect(await decide(world, undefined, before, "approve")).toMatchObject({
			message: expect.stringContaining("posted again"),
			done: false,
		});
	expect(isBanned(world)).toBe(false);
	const [after] = (await list(world)) as [Listed];
	expect(after.id).toBe(before.id);
	expect(after.plan).not.toBe(before.plan);
	expect(await decide(world, undefined, after, "approve")).toMatchObject({
		message: expect.stringContaining('"Ban users" is done'),
		done: true,
	});
	expect(isBanned(world)).toBe(true);
});

test("calls with MCP_AUTH_TOKEN are not approved by its holder", async () => {
	await using world = await startApprovalWorld({ mcp: () => ({ approval_for_root: true }) });
	await ban(world, rootPrincipal);
	const [shown] = (await list(world)) as [Listed];
	expect(shown.why).toContain("MCP_AUTH_TOKEN");
	expect(await decide(world, undefined, shown, "approve")).toMatchObject({
		done: false,
		message: expect.stringContaining("You cannot approve this call"),
	});
	expect(isBanned(world)).toBe(false);
	expect(await decide(world, undefined, shown, "deny")).toMatchObject({ done: true });
});

test("approval_self lets the holder of MCP_AUTH_TOKEN approve its calls", async () => {
	await using world = await startApprovalWorld({ mcp: () => ({ approval_for_root: true, approval_self: true }) });
	await ban(world, rootPrincipal);
	const [shown] = (await list(world)) as [Listed];
	expect(await decide(world, undefined, shown, "approve")).toMatchObject({ done: true });
	expect(isBanned(world)).toBe(true);
});

approvalTest("people decide at the console as they could in Discord, and others see nothing", async (world) => {
	await ban(world);
	const ada = atConsole(world, "ada");
	const [shown] = (await list(world, ada)) as [Listed];
	expect(shown).toMatchObject({ tool: "ban", mayDeny: true, why: null });
	for (const name of ["liwei", "zoe"]) {
		const other = atConsole(world, name);
		const refused = await world.ask(other, "guildhall/approvals", {});
		expect(JSON.stringify(refused)).not.toContain(shown.id);
		const answer = await decide(world, other, shown, "approve");
		expect(answer).not.toMatchObject({ done: true });
	}
	expect(isBanned(world)).toBe(false);
	expect(await decide(world, ada, shown, "approve")).toMatchObject({ done: true });
	expect(isBanned(world)).toBe(true);
	expect(fieldsOf(await world.shown("approved"))["Approved by"]).toBe(`<@${world.simulator.user("ada").id}>`);
});

test("a person cannot approve their own call at the console, nor do in another's name what they may not", async () => {
	await using world = await startApprovalWorld({ prepare: (simulator) => addManager(simulator, "mona_lisa") });
	const mine = key("hers", { ...world.person("ada") });
	await ban(world, mine);
	const ada = atConsole(world, "ada");
	const [own] = (await list(world, ada)) as [Listed];
	expect(own.why).toContain("in your name");
	expect(await decide(world, ada, own, "approve")).toMatchObject({ done: false });
	// Mona may decide on requests, but not ban.
	const mona = atConsole(world, "mona_lisa");
	const [seen] = (await list(world, mona)) as [Listed];
	expect(seen.why).toBeNull();
	expect(await decide(world, mona, seen, "approve")).toMatchObject({
		done: false,
		message: expect.stringContaining("You cannot approve this call"),
	});
	expect(isBanned(world)).toBe(false);
});

approvalTest("callers that cannot be at the console get nothing", async (world) => {
	await ban(world);
	const [shown] = (await list(world)) as [Listed];
	const others: Principal[] = [key("k"), rootPrincipal, key("hers", world.person("ada")), atConsole(world, "zoe")];
	for (const principal of others) {
		const { error } = await world.ask(principal, "guildhall/approvals", {});
		expect(error).toMatchObject({ code: -32601 });
		expect(await decide(world, principal, shown, "deny")).toMatchObject({ code: -32601 });
	}
});

test("who may sign in, but could not press the buttons in Discord, neither sees nor decides", async () => {
	await using world = await startApprovalWorld({
		approval: (simulator) => ({
			roles: [
				simulator
					.guild("The Cooks")
					.roles.values()
					.find(({ name }) => name === "Staff")?.id ?? "",
			],
		}),
	});
	await ban(world);
	const [shown] = (await list(world)) as [Listed];
	// Ada owns the guild, but does not have the role.
	const ada = atConsole(world, "ada");
	expect(await list(world, ada)).toEqual([]);
	for (const decision of ["approve", "deny"])
		expect(await decide(world, ada, shown, decision)).toMatchObject({ done: false });
	expect(await list(world)).toHaveLength(1);
});

test("who does not see the channel for requests does not see them at the console", async () => {
	await using world = await startApprovalWorld({ prepare: (simulator) => addManager(simulator, "mona_lisa", false) });
	await ban(world);
	expect(await list(world, atConsole(world, "mona_lisa"))).toEqual([]);
	expect(await list(world, atConsole(world, "ada"))).toHaveLength(1);
});

test("what is too long to be shown in full cannot be approved at the console", async () => {
	await using world = await startApprovalWorld({ mcp: () => ({ approval: "write" }) });
	await world.call(key("k"), "send_file", {
		channel_id: world.simulator.channel("The Cooks/staff").id,
		filename: "a.txt",
		// Invisible characters are shown as \u{00ad}.
		text: "\u00ada".repeat(14_000),
	});
	const [shown] = (await list(world)) as [Listed];
	expect(shown).toMatchObject({
		tool: "send_file",
		arguments: "",
		plan: "",
		mayDeny: true,
		why: expect.stringContaining("too long"),
	});
	expect(await decide(world, undefined, shown, "approve")).toMatchObject({ done: false });
	expect(await decide(world, undefined, shown, "deny")).toMatchObject({ done: true });
});
