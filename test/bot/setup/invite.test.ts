import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import { invitePermissions, inviteUrl } from "../../../src/bot/setup/invite.ts";
import { permissionNames } from "../../../src/discord/permissions.ts";
import { toolPermissions } from "../../../src/guild-document/names/permission-names.ts";
import { tomlOf } from "../../support/bot-config.ts";

const settings = (features: Record<string, boolean> = {}) => tomlOf({ features, game: {} });

/** What Discord asks for beside what a tool names. */
const implied = ["ViewChannel", "Connect", "SendMessagesInThreads"];
/** What tools only show of roles. */
const shown = ["Administrator"];
/** What tools need only of the person in whose name they act. Slow mode, for example, does not limit bots. */
const onlyOfPeople = ["BypassSlowmode", "UseExternalEmojis"];

test("the permissions of the tools are those that tools name, and those that go with them", () => {
	const source = join(import.meta.dir, "../../../src/bot");
	const files = [
		...readdirSync(join(source, "tools")).flatMap((file) => (file.endsWith(".ts") ? `tools/${file}` : [])),
		"messages/message-arguments.ts",
		"tools/channels/channel-lock.ts",
	];
	const named = files.flatMap((file) =>
		Array.from(
			readFileSync(join(source, file), "utf8").matchAll(/"([A-Z][A-Za-z]+)"|PermissionFlagsBits\.(\w+)/g),
			([, text, property]) => text ?? property ?? "",
		).filter(
			(word) => Object.hasOwn(PermissionFlagsBits, word) && !shown.includes(word) && !onlyOfPeople.includes(word),
		),
	);
	expect([...toolPermissions].map(String).sort()).toEqual([...new Set([...named, ...implied])].sort());
});

test("a bot is invited with what its tools need, and more for features that are on", () => {
	const ofTools = invitePermissions(settings({ chat: false }));
	expect(permissionNames(ofTools)).toHaveLength(toolPermissions.length);
	expect(permissionNames(ofTools)).not.toContain("ADMINISTRATOR");
	expect(invitePermissions(settings())).toBe(ofTools);
	expect(permissionNames(invitePermissions(settings({ moderation: true })) & ~ofTools).sort()).toEqual([]);
});

test("the link names application, scopes and permissions", () => {
	const url = new URL(inviteUrl("123", 3072n));
	expect(url.origin + url.pathname).toBe("https://discord.com/oauth2/authorize");
	expect(Object.fromEntries(url.searchParams)).toEqual({
		client_id: "123",
		scope: "bot applications.commands",
		permissions: "3072",
	});
});
