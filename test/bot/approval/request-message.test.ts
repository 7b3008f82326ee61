// Messages of requests for approval that are over, or replaced by another one.

import { expect, test } from "bun:test";
import {
	approvalTest,
	ban,
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
	pendingId(await world.call(key("k"), "ban", ban(world)));
	expect(fieldsOf(world.posts()[0]).Expires).toMatch(/^<t:\d+:R>$/);
	await world.press("ada", "Deny");
	const denied = await world.shown("denied");
	expect(fieldsOf(denied)).not.toHaveProperty("Expires");
	expect(fieldsOf(denied)).toHaveProperty("Denied by");
});

approvalTest("Details answers only people who may decide", { prepare: openStaff }, async (world) => {
	await world.call(key("k"), "ban", ban(world));
	expect(await world.details("zoe")).toMatchObject({
		text: "Only people with Manage Server can decide on this. Nothing was done.",
		ephemeral: true,
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
	await world.call(key("k"), "ban", ban(world));
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
	pendingId(await world.call(key("k"), "ban", ban(world, "zoe", { delete_messages: "1h" })));
	const [, ...lines] = descriptionOf(world.posts().at(-1)).split("\n");
	expect(lines.slice(0, 2)).toEqual([`> Ban <@${id}> for good?`, "> Discord deletes their messages of the last hour."]);
});
