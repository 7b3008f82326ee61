// Documents written by hand leave fields out. A guild that was made from one is not different from it.

import { expect, test } from "bun:test";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { startSimulator } from "../support/simulator.ts";

const bot = `
  - { name: Bot, managed: true, permissions: [BAN_MEMBERS] }`;

test.each([
	["tags of a forum", `channels: [{ name: help, kind: forum, tags: [{ name: Soil }, { name: Pests, emoji: 🐛 }] }]`],
	[
		"channels of the welcome screen",
		`settings: { community: true, verification_level: LOW, explicit_content_filter: ALL_MEMBERS, rules_channel: rules, public_updates_channel: rules }
channels: [{ name: rules }]
welcome_screen: { enabled: true, channels: [{ channel: rules, description: Read this }] }`,
	],
	[
		"questions of onboarding",
		`onboarding: { prompts: [{ title: Which?, options: [{ title: One, roles: [Mods] }, { title: Two, description: Both }] }] }`,
	],
	["AutoMod rules", `automod: [{ name: Words, trigger: keyword, keyword_filter: [bad], actions: [block_message] }]`],
])("%s without all fields are made once", async (_, text) => {
	const document = readDocument(`version: 1
roles:${bot}
  - { name: Mods }
${text}`);
	await using simulator = await startSimulator({ worlds: [{ file: "guild.yaml", document }] });
	const [made] = simulator.documentGuilds;
	expect(made?.notes).toEqual([]);
	for (const rule of made ? simulator.world.autoModeration.in(made.guild) : []) expect(rule.enabled).toBe(true);
});
