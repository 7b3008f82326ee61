// Messages of requests for approval that are over, or replaced by another one.

import { describe, expect, test } from "bun:test";
import { present, until } from "../../support/until.ts";
import {
	approvalTest,
	buttonsOf,
	descriptionOf,
	fieldsOf,
	key,
	openStaff,
	pendingId,
	startApprovalWorld,
	titleOf,
} from "./approval-world.ts";

approvalTest("a message says when its request expires for as long as it is open", async (world) => {
	const user_ids = [world.simulator.user("zoe").id];
	pendingId(await world.call(key("k"), "ban", { user_ids }));
	expect(fieldsOf(world.posts()[0]).Expires).toMatch(/^<t:\d+:R>$/);
	await world.press("ada", "Deny");
	const denied = await world.shown("denied");
	expect(fieldsOf(denied)).not.toHaveProperty("Expires");
	expect(fieldsOf(denied)).toHaveProperty("Denied by");
});

describe("the button Details", () => {
	approvalTest("answers only people who may decide", { prepare: openStaff }, async (world) => {
		await world.call(key("k"), "ban", { user_ids: [world.simulator.user("zoe").id] });
		expect(await world.details("zoe")).toMatchObject({
			text: "Only people with Manage Server can decide on this. Nothing was done.",
			ephemeral: true,
		});
	});

	approvalTest("of a replaced request shows neither the old plan nor the new one", async (world) => {
		const { simulator, guild } = world;
		const { id } = simulator.user("zoe");
		await world.call(key("k"), "ban", { user_ids: [id] });
		const [first] = world.posts();
		const old = structuredClone(first?.components);
		const zoe = guild.members.get(id);
		if (!first || !zoe) throw new Error("the request is posted");
		simulator.world.members.edit(guild, zoe, { nick: "Someone else" });
		await world.call(undefined, "get_member", { user_ids: id });
		await world.press("ada", "Approve");
		Object.assign(first, { components: old });
		expect((await world.details("ada", first)).text).toContain("posted again in another message");
		expect((await world.details()).text).toContain("Someone else");
	});

	approvalTest("works after a restart", async (world) => {
		await world.call(key("k"), "ban", { user_ids: [world.simulator.user("zoe").id] });
		await world.restart();
		expect((await world.details()).text).toContain("Would ban");
	});
});

test("in a German server the request is German, and the answer in the language of who presses", async () => {
	await using world = await startApprovalWorld({
		prepare(simulator) {
			simulator.guild("The Cooks").preferred_locale = "de";
			simulator.world.users.locales.set(simulator.user("ada").id, "de");
		},
	});
	const { id } = world.simulator.user("zoe");
	await world.call(key("k"), "ban", { user_ids: [id] });
	const [post] = world.posts();
	expect(titleOf(post)).toBe("„Nutzer bannen“ freigeben?");
	expect(descriptionOf(post)).toStartWith(
		`**„Nutzer bannen“** ausführen? Angefragt von: Schlüssel k. Betrifft: <@${id}>.\n> <@${id}> dauerhaft bannen?\n-# Unter`,
	);
	expect(buttonsOf(post)).toEqual(["Freigeben", "Ablehnen", "Details"]);
	expect(await world.press("ada", "Ablehnen")).toBe("Abgelehnt. „Nutzer bannen“ wird nicht ausgeführt.");
	expect(fieldsOf(await world.shown("Nutzer bannen: abgelehnt, nicht ausgeführt"))).toHaveProperty("Abgelehnt von");
	expect(await world.press("ada", "Details")).toBe("");
	await world.call(key("k"), "create_role", { name: "New", permissions: ["MANAGE_GUILD", "BAN_MEMBERS"] });
	expect(descriptionOf(world.posts().at(-1))).toStartWith(
		"**„Rolle erstellen“** ausführen? Angefragt von: Schlüssel k.\n> Gilt als schwerwiegend: gibt einer Rolle „Mitglieder bannen, Server verwalten“.",
	);
});

test("names in a request are escaped once, and it says why a call is destructive", async () => {
	let id = "";
	await using world = await startApprovalWorld({
		mcp: () => ({ approval_for_root: true }),
		prepare(simulator) {
			id = simulator.world.roles.add(simulator.guild("The Cooks"), { name: "a | *b* \\ c" }).id;
		},
	});
	pendingId(await world.call(undefined, "delete_role", { role_id: id }));
	expect(descriptionOf(world.posts().at(-1)).split("\n")).toEqual([
		`Run **Delete a role**? Requested by the holder of MCP_AUTH_TOKEN. Concerns: <@&${id}>.`,
		"> Delete the role @a | \\*b\\* \\\\ c?",
		expect.stringContaining("Details shows all"),
	]);
	pendingId(await world.call(undefined, "create_role", { name: "New", permissions: ["MANAGE_GUILD"] }));
	expect(descriptionOf(world.posts().at(-1)).split("\n")).toEqual([
		"Run **Create a role**? Requested by the holder of MCP_AUTH_TOKEN.",
		"> Counts as destructive: it gives a role Manage Server.",
		expect.stringContaining("Details shows all"),
	]);
});

approvalTest("each line of a dry run is quoted", async (world) => {
	const { id } = world.simulator.user("zoe");
	pendingId(await world.call(key("k"), "ban", { user_ids: [id], delete_messages: "1h" }));
	const [, ...lines] = descriptionOf(world.posts().at(-1)).split("\n");
	expect(lines.slice(0, 2)).toEqual([`> Ban <@${id}> for good?`, "> Discord deletes their messages of the last hour."]);
});

approvalTest("buttons that a replaced message still has are gone once one of them is pressed", async (world) => {
	const { simulator, guild } = world;
	const { id } = simulator.user("zoe");
	pendingId(await world.call(key("k"), "ban", { user_ids: [id] }));
	const first = present(world.posts()[0]);
	const old = structuredClone(first.components);
	const zoe = guild.members.get(id);
	if (zoe) simulator.world.members.edit(guild, zoe, { nick: "Someone else" });
	await world.call(undefined, "get_member", { user_ids: id });
	expect(await world.press("ada", "Approve")).toContain("posted again");
	expect(buttonsOf(world.posts()[0])).toEqual([]);
	// The bot's edit of the old message is lost.
	Object.assign(first, { components: old });
	expect(await world.press("ada", "Deny", first)).toContain("posted again in another message");
	await until("its buttons are gone", () => buttonsOf(world.posts()[0]).length === 0);
	expect(buttonsOf(world.posts()[1])).toContain("Deny");
});
