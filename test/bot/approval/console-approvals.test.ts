// Approvals in the gateway's console: who sees which requests, and who may decide on them.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { isObject } from "../../../src/lib/json.ts";
import { type Principal, rootPrincipal } from "../../../src/lib/principal.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { giveRole, roleNamed } from "../../support/world.ts";
import {
	type ApprovalWorld,
	approvalTest,
	ban,
	fieldsOf,
	isBanned,
	key,
	openStaff,
	pendingId,
	rename,
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
	{ id, token }: Pick<Listed, "id" | "token">,
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

/** Asks to send a file whose text is too long to be shown, since invisible characters are shown as \u{00ad}. */
function sendLong(world: ApprovalWorld, principal: Principal) {
	const channel_id = world.simulator.channel("The Cooks/staff").id;
	return world.call(principal, "send_file", { channel_id, filename: "a.txt", text: "\u00ada".repeat(14_000) });
}

/** Asks to ban zoe. Returns the request as a person, by default the operator, sees it. */
async function request(world: ApprovalWorld, principal = key("k"), viewer?: Principal): Promise<Listed> {
	await world.call(principal, "ban", ban(world));
	return present((await list(world, viewer))[0]);
}

approvalTest("the operator sees each request in full, and approves it once", async (world) => {
	const id = pendingId(await world.call(key("k"), "ban", ban(world)));
	const [shown, ...others] = (await list(world)) as [Listed];
	expect(others).toEqual([]);
	expect(shown).toEqual({
		id,
		token: expect.stringMatching(/^[0-9a-f]{16}$/),
		tool: "ban",
		guild: { id: world.guild.id, name: "The Cooks" },
		requester: "the key k",
		client: expect.any(String),
		arguments: expect.stringContaining(world.simulator.user("zoe").id),
		plan: expect.stringContaining("Would ban"),
		createdAt: expect.any(Number),
		expiresAt: expect.any(Number),
		mayDeny: true,
		why: null,
	});
	const twice = [1, 2].map(() => decide(world, undefined, shown, "approve"));
	const outcomes = (await Promise.all(twice)) as { message: string; done: boolean }[];
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
	const shown = await request(world);
	expect(await decide(world, undefined, shown, "deny")).toEqual({
		message: 'Denied. "Ban users" is not run.',
		done: true,
	});
	expect(await world.state(key("k"), shown.id)).toContain("The holder of MCP_AUTH_TOKEN denied the request");
	expect(isBanned(world)).toBe(false);
});

approvalTest("a decision on another plan, an unknown request or a wrong word counts for nothing", async (world) => {
	const shown = await request(world);
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
	const before = await request(world);
	await rename(world, "Else");
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

test.each([
	[false, "are not approved by its holder"],
	[true, "are approved by its holder where approval_self is set"],
])("with approval_self %p, calls with MCP_AUTH_TOKEN %s", async (approval_self) => {
	await using world = await startApprovalWorld({ mcp: () => ({ approval_for_root: true, approval_self }) });
	const shown = await request(world, rootPrincipal);
	const answer = await decide(world, undefined, shown, "approve");
	expect(isBanned(world)).toBe(approval_self);
	if (approval_self) return expect(answer).toMatchObject({ done: true });
	expect(shown.why).toContain("MCP_AUTH_TOKEN");
	expect(answer).toMatchObject({ done: false, message: expect.stringContaining("You cannot approve this call") });
	expect(await decide(world, undefined, shown, "deny")).toMatchObject({ done: true });
});

approvalTest("people decide at the console as they could in Discord, and others see nothing", async (world) => {
	const ada = atConsole(world, "ada");
	const shown = await request(world, key("k"), ada);
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
	const ada = atConsole(world, "ada");
	const own = await request(world, key("hers", world.person("ada")), ada);
	expect(own.why).toContain("in your name");
	expect(await decide(world, ada, own, "approve")).toMatchObject({ done: false });
	// Mona may decide on requests, but not ban.
	const mona = atConsole(world, "mona_lisa");
	const seen = present((await list(world, mona))[0]);
	expect(seen.why).toBeNull();
	expect(await decide(world, mona, seen, "approve")).toMatchObject({
		done: false,
		message: expect.stringContaining("You cannot approve this call"),
	});
	expect(isBanned(world)).toBe(false);
});

approvalTest("callers that cannot be at the console get nothing", async (world) => {
	const shown = await request(world);
	const others: Principal[] = [key("k"), rootPrincipal, key("hers", world.person("ada")), atConsole(world, "zoe")];
	for (const principal of others) {
		const { error } = await world.ask(principal, "guildhall/approvals", {});
		expect(error).toMatchObject({ code: -32601 });
		expect(await decide(world, principal, shown, "deny")).toMatchObject({ code: -32601 });
	}
});

test("who may sign in, but could not press the buttons in Discord, neither sees nor decides", async () => {
	await using world = await startApprovalWorld({
		approval: (simulator) => ({ roles: [roleNamed(simulator, "Staff").id] }),
	});
	const shown = await request(world);
	// Ada owns the guild, but does not have the role.
	const ada = atConsole(world, "ada");
	expect(await list(world, ada)).toEqual([]);
	for (const decision of ["approve", "deny"])
		expect(await decide(world, ada, shown, decision)).toMatchObject({ done: false });
	expect(await list(world)).toHaveLength(1);
});

test("who does not see the channel for requests does not see them at the console", async () => {
	await using world = await startApprovalWorld({ prepare: (simulator) => addManager(simulator, "mona_lisa", false) });
	await request(world);
	expect(await list(world, atConsole(world, "mona_lisa"))).toEqual([]);
	expect(await list(world, atConsole(world, "ada"))).toHaveLength(1);
});

test("what is too long to be shown in full cannot be approved at the console", async () => {
	await using world = await startApprovalWorld({ mcp: () => ({ approval: "write" }) });
	await sendLong(world, key("k"));
	const shown = present((await list(world))[0]);
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

const link = "https://mcp.example/console#approvals";

/** The approval is the client's, and Mona, who is an administrator, has signed in with one that cannot ask her. */
async function startLinks(approval_by = "client") {
	const world = await startApprovalWorld({
		mcp: () => ({ approval: "write", approval_by }),
		prepare: (simulator) => giveRole(simulator, "mona_lisa", { permissions: PermissionFlagsBits.Administrator }),
	});
	const by = (name: string, decidesAt: string | undefined = link): Principal => {
		const person = { ...world.person(name), signedIn: true };
		return { id: "grant:g", name: "Claude", client: "Claude", access: "all", person, decidesAt };
	};
	const mona = by("mona_lisa");
	return {
		...world,
		by,
		mona,
		at: atConsole(world, "mona_lisa"),
		ban: (as = mona) => world.call(as, "ban", ban(world)),
	};
}

const linkTest = testWith(startLinks);

linkTest("who signed in decides at a link on what their client cannot ask", async (world) => {
	const { at, mona } = world;
	const answer = await world.ban();
	const id = pendingId(answer);
	expect(answer.text).toContain(`The request ${id} waits at ${link}; it expires at`);
	expect(answer.text).toContain("show the person this link.");
	await world.restart();
	// Neither is it another's, though they could decide in Discord.
	addManager(world.simulator, "ada");
	const ada = atConsole(world, "ada");
	expect(await list(world, ada)).toEqual([]);
	const before = await list(world, at);
	expect(before).toMatchObject([{ id, mayDeny: true, why: null }]);
	await rename(world, "Else");
	expect(await decide(world, at, present(before[0]), "approve")).toMatchObject({
		message: expect.stringContaining("has changed"),
		done: false,
	});
	const shown = present((await list(world, at))[0]);
	expect([shown.id, shown.token === before[0]?.token]).toEqual([id, false]);
	expect(await decide(world, ada, shown, "approve")).toMatchObject({ done: false });
	expect(isBanned(world)).toBe(false);
	expect(await decide(world, at, shown, "approve")).toMatchObject({ done: true });
	expect(isBanned(world)).toBe(true);
	expect(await world.state(mona, id)).toContain("done");
	expect(await decide(world, at, shown, "approve")).toMatchObject({ done: false });
	expect(world.posts()).toEqual([]);
});

linkTest(
	"the operator denies at the link, too; what is too long for it is refused; and a request there expires",
	async (world) => {
		const { mona } = world;
		const id = pendingId(await world.ban());
		expect(await decide(world, undefined, present((await list(world))[0]), "deny")).toMatchObject({ done: true });
		expect(await world.state(mona, id)).toContain("The holder of MCP_AUTH_TOKEN denied the request");
		expect(isBanned(world)).toBe(false);
		const refused = [await world.ban(world.by("zoe")), await sendLong(world, mona)];
		expect(refused.map(({ isError, pending }) => [isError, pending])).toEqual([
			[true, undefined],
			[true, undefined],
		]);
		expect(refused[1]?.text).toContain("too long to be shown");
		const late = pendingId(await world.ban());
		world.clock.offsetMs += 86_400_001;
		expect(await list(world)).toEqual([]);
		await world.restart();
		await until("it has expired", async () => (await world.state(mona, late)).includes("expired"));
	},
);

test.each([
	["client", undefined],
	["discord", link],
])("with approval by %p and the link %p, requests are posted as ever", async (by, decidesAt) => {
	await using world = await startLinks(by);
	expect((await world.ban({ ...world.mona, decidesAt })).text).not.toContain(link);
	expect(world.posts()).toHaveLength(1);
});
