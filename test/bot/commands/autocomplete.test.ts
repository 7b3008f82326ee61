import { expect, test } from "bun:test";
import { type AutocompleteInteraction, PermissionsBitField } from "discord.js";
import type { Suggestion } from "../../../src/bot/commands/action.ts";
import { autocomplete } from "../../../src/bot/commands/autocomplete.ts";
import { holdsIn } from "../../../src/bot/commands/who-may.ts";
import { settingsOf } from "../../support/guild-settings.ts";

const action = { permission: "BanMembers", options: [{ name: "reason", kind: "reason", argument: "reason" }] } as const;

/** Responds to a person with these permissions who types a reason. Returns what was suggested. */
async function suggested(
	suggest: () => Promise<Suggestion[]>,
	permissions: bigint,
	timeoutMs?: number,
): Promise<readonly unknown[]> {
	const responses: unknown[][] = [];
	const interaction = {
		guildId: "1",
		user: { id: "2" },
		memberPermissions: new PermissionsBitField(permissions),
		options: { getFocused: () => ({ name: "reason", value: "sp" }) },
		respond: async (choices: unknown[]) => responses.push(choices),
	} as unknown as AutocompleteInteraction;
	await autocomplete(interaction, action, holdsIn(await settingsOf(), interaction), suggest, timeoutMs);
	expect(responses).toHaveLength(1);
	return responses.flat();
}

const { BanMembers, KickMembers } = PermissionsBitField.Flags;
const spam = async () => [{ name: "spam", value: "spam" }];

test("reasons are suggested to those who have the permission, and to nobody else", async () => {
	expect(await suggested(spam, BanMembers)).toEqual(await spam());
	expect(await suggested(spam, KickMembers)).toEqual([]);
});

test("nothing is suggested if the suggestions fail or take too long", async () => {
	const fails = () => Promise.reject(new Error("no database"));
	expect(await suggested(fails, BanMembers)).toEqual([]);
	const hangs = () => new Promise<never>(() => {});
	expect(await suggested(hangs, BanMembers, 1)).toEqual([]);
});

test("the name of a suggestion is one line of visible characters, its value is as it was", async () => {
	const name = "#1 warn: Ada\n\u202eLovelace";
	expect(await suggested(async () => [{ name, value: name }], BanMembers)).toEqual([
		{ name: "#1 warn: Ada \\u{202e}Lovelace", value: name },
	]);
});

test("at most 25 suggestions of at most 100 characters", async () => {
	const many = async () =>
		Array.from({ length: 40 }, (_, index) => ({
			name: "n".repeat(200),
			value: `${index}`.padEnd(index === 3 ? 101 : 2),
		}));
	const all = (await suggested(many, BanMembers)) as Suggestion[];
	expect(all).toHaveLength(24);
	for (const { name } of all) expect(name.length).toBe(100);
});
