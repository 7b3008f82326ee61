// Plans as text: what a line says, and what is left out of a long plan.

import { expect, test } from "bun:test";
import { planText, stepLine } from "../../../src/bot/guild-documents/plans/plan-text.ts";
import type { Plan, PlannedStep } from "../../../src/bot/guild-documents/plans/plans.ts";

function step(changes: Partial<PlannedStep>): PlannedStep {
	return { id: "x", action: "edit", kind: "channel", name: "general", needs: [], changes: [], ...changes };
}

function planOf(changes: Partial<Plan>): Plan {
	return {
		guildId: "1",
		document: { version: 1 },
		prune: false,
		steps: [],
		refusals: [],
		notes: [],
		duration: "Estimated time: about 3 s.",
		...changes,
	};
}

const everyone = Array.from({ length: 50 }, (_, index) => `@member-number-${index}`).join(", ");
const usual =
	"SEND_MESSAGES, EMBED_LINKS, ATTACH_FILES, READ_MESSAGE_HISTORY, USE_EXTERNAL_EMOJIS, CREATE_PUBLIC_THREADS";

const options = { guildName: "The Cooks (ID: 1)", hash: "abc" };

test.each([
	[step({ changes: [{ field: "topic", before: "a b", after: "" }] }), '~ channel #general: topic "a b" → ""'],
	[
		step({
			action: "create",
			kind: "role",
			name: "Mods",
			changes: [
				{ field: "color", after: "#FF0000" },
				{ field: "permissions", after: "KICK_MEMBERS, BAN_MEMBERS" },
			],
		}),
		'+ role Mods: color #FF0000, permissions "KICK_MEMBERS, BAN_MEMBERS"',
	],
	[step({ action: "delete", kind: "category", name: "Old" }), "- category Old"],
	[
		step({ action: "order", kind: "role", name: "roles", changes: [{ field: "Mods", after: "at the top" }] }),
		'^ order of roles: Mods "at the top"',
	],
	[
		step({ changes: [{ field: "topic", before: "a\\b", after: "Be kind.\n\u200bNo | spam" }] }),
		'~ channel #general: topic "a\\\\b" → "Be kind.\\n\\u200bNo | spam"',
	],
	[
		step({ action: "create", kind: "message", name: "#a/b", changes: [{ field: "pinged", after: everyone }] }),
		`+ message #a/b: pinged "${everyone}"`,
	],
	[
		step({ name: "a\nb | x", changes: [{ field: "topic", after: '1" → "2' }] }),
		'~ channel #a\\nb \\| x: topic "1\\" → \\"2"',
	],
	[
		step({
			changes: [
				{ field: "access of x\nplan_hash=0", after: "VIEW_CHANNEL" },
				{ field: 'a "at the top", b', after: "below c" },
			],
		}),
		String.raw`~ channel #general: "access of x\nplan_hash=0" VIEW_CHANNEL, "a \"at the top\", b" "below c"`,
	],
	[
		step({
			changes: [
				...Array.from({ length: 30 }, (_, index) => ({ field: `access of Role ${index}`, after: "VIEW_CHANNEL" })),
				{ field: "access of Guests", after: "MANAGE_MESSAGES" },
			],
		}),
		`~ channel #general: ${Array.from({ length: 19 }, (_, index) => `access of Role ${index} VIEW_CHANNEL`).join(", ")}, access of Guests MANAGE_MESSAGES, … and 11 fields more`,
	],
	[step({ kind: "welcome_screen", name: "welcome screen" }), "~ welcome screen"],
	[
		step({
			kind: "welcome_screen",
			name: "welcome screen",
			changes: [{ field: "channels", after: "rule ".repeat(99) }],
		}),
		`~ welcome screen: channels "${"rule ".repeat(99)}"`,
	],
	[
		step({ changes: [{ field: "topic", before: `${"a ".repeat(300)}old`, after: `${"a ".repeat(300)}new` }] }),
		'~ channel #general: topic "…a a a a a a a a a a old" → "…a a a a a a a a a a new"',
	],
	[
		step({
			action: "create",
			kind: "role",
			name: "Mods",
			changes: [{ field: "permissions", after: `${usual}, MENTION_EVERYONE, ADMINISTRATOR` }],
		}),
		'+ role Mods: permissions "MENTION_EVERYONE, ADMINISTRATOR, SEND_MESSAGES, EMBED_LINKS, ATTACH_FILES, READ_MESSAGE_HISTORY and 2 more"',
	],
	[
		step({
			kind: "role",
			name: "Mods",
			changes: [{ field: "permissions", before: `SPEAK, ${usual}`, after: `${usual}, ADMINISTRATOR` }],
		}),
		'~ role Mods: permissions added "ADMINISTRATOR", removed "SPEAK"',
	],
	[
		step({
			changes: [{ field: "access of Mods", before: `${usual}, -VIEW_CHANNEL`, after: `${usual}, VIEW_CHANNEL` }],
		}),
		'~ channel #general: access of Mods added "VIEW_CHANNEL", removed "-VIEW_CHANNEL"',
	],
])("a step as a line: %#", (step, line) => {
	expect(stepLine(step)).toBe(line);
});

test.each([
	[["KICK_MEMBERS"], "KICK_MEMBERS, VIEW_CHANNEL", "BAN_MEMBERS to role Mods; Helpers with KICK_MEMBERS to @eve"],
	[["VIEW_CHANNEL"], "VIEW_CHANNEL", undefined],
])("a plan that restores says which power it gives back: %#", (now, before, expected) => {
	const after = expected ? `${before}, BAN_MEMBERS` : `${before}, SEND_MESSAGES`;
	const steps = [
		step({ kind: "role", name: "Mods", targetId: "1", changes: [{ field: "permissions", before, after }] }),
		step({ action: "assign", kind: "member", name: "Helpers", targetId: "7/2" }),
	];
	const plan = planOf({ steps });
	const restored = planText(plan, { ...options, permissionsOf: () => now, memberName: () => "@eve" });
	const line = "Gives back what somebody may have taken on purpose: ";
	expect(restored.split("\n").find((one) => one.startsWith(line))).toBe(
		expected && `${line}${expected.replace("; ", ", ")}.`,
	);
	expect(planText(plan, options)).not.toContain(line);
});

test("a plan says what is done, what cannot be done, and what comes next", () => {
	expect(
		planText(
			planOf({
				steps: [
					step({ action: "create", kind: "role", name: "Mods", changes: [{ field: "color", after: "#FFD700" }] }),
					step({ action: "delete", name: "old" }),
				],
				refusals: [{ subject: "Role Bot", reason: "an integration owns it" }],
				notes: [{ subject: "Channel x", reason: "the bot will not see it" }],
			}),
			options,
		),
	).toBe(`Plan for The Cooks (ID: 1): create 1, delete 1, cannot 1
+ role Mods: color #FFD700
- channel #old
cannot: Role Bot: an integration owns it
note: Channel x: the bot will not see it
Estimated time: about 3 s.
New roles have the permissions shown, or none, and are the lowest: members keep the color of a higher role.
plan_hash=abc
Nothing was changed. apply_guild with this plan_hash does exactly this. The plan is kept for a day.`);
});

test("a plan names each role with its own members, also roles that do not exist yet", () => {
	const assign = (member: string, role: string, name: string) =>
		step({ id: `${member} ${role}`, action: "assign", kind: "member", name, targetId: `${member}/${role}` });
	const steps = [
		assign("11", "+role/Judge", "Judge"),
		assign("12", "+role/Judge", "Judge"),
		assign("12", "+role/Press/Media", "Press/Media"),
		assign("12", "+role/Press/Crew", "Press/Crew"),
		assign("13", "77", "Judge"),
	];
	const text = planText(planOf({ steps }), { ...options, memberName: (id) => `@m${id}` });
	expect(text.split("\n").filter((line) => line.startsWith("~"))).toEqual([
		"~ role Judge to 2 members: @m11, @m12",
		"~ role Press/Media to 1 member: @m12",
		"~ role Press/Crew to 1 member: @m12",
		"~ role Judge to 1 member: @m13",
	]);
	expect(steps.map(stepLine)[2]).toBe("~ role Press/Media of member 12");
});

test("lines that merge keep what each is about", () => {
	const refusals = [
		{ subject: "role Judge of member 11", reason: "It ranks too high." },
		{ subject: "role Press of member 12", reason: "It ranks too high." },
		{ subject: "channel a", reason: "The bot lacks MANAGE_ROLES." },
	];
	const text = planText(planOf({ refusals, notes: refusals }), options);
	for (const label of ["cannot", "note"])
		expect(text.split("\n").filter((line) => line.startsWith(label))).toEqual([
			`${label}: role Judge of member 11, role Press of member 12: It ranks too high.`,
			`${label}: channel a: The bot lacks MANAGE_ROLES.`,
		]);
});

test("a plan without steps says so", () => {
	expect(planText(planOf({}), options)).toBe(
		"Plan for The Cooks (ID: 1): no changes\nplan_hash=abc\nThere is nothing to do.",
	);
});

test("a long plan keeps deletions and what cannot be done, and counts the rest", () => {
	const created = Array.from({ length: 300 }, (_, index) => step({ action: "create", name: `channel-${index}` }));
	const text = planText(
		planOf({
			steps: [
				...created,
				...created.map(({ name }) => step({ kind: "role", name })),
				step({ action: "delete", name: "old" }),
			],
			refusals: [{ subject: "Role Bot", reason: "an integration owns it" }],
		}),
		{ ...options, maxBytes: 4_000 },
	);
	expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4_000);
	expect(text).toContain("create 300, change 300, delete 1, cannot 1\n");
	expect(text).toContain("+ channel #channel-0\n");
	expect(text).toContain("- channel #old\n");
	expect(text).toContain("cannot: Role Bot: an integration owns it\n");
	const [, others, channels] = /… and (\d+) more: create channel (\d+), edit role 300\n/.exec(text) ?? [];
	expect(Number(others)).toBe(Number(channels) + 300);
	expect(text.split("\n+ ").length - 1 + Number(channels)).toBe(300);
});

test("a long plan keeps the roles that get permissions of moderators", () => {
	const roles = Array.from({ length: 300 }, (_, index) =>
		step({
			action: "create",
			kind: "role",
			name: `role-${index}`,
			changes: [{ field: "permissions", after: index === 299 ? "SPEAK, ADMINISTRATOR" : "SPEAK" }],
		}),
	);
	const text = planText(planOf({ steps: roles }), { ...options, maxBytes: 4_000 });
	expect(text).toContain('+ role role-299: permissions "SPEAK, ADMINISTRATOR"\n');
	expect(text).not.toContain("role-298");
});

test("a plan that changes another shows what changed at the end of a long text", () => {
	const withTopic = (end: string) =>
		step({ action: "create", changes: [{ field: "topic", after: "a ".repeat(300) + end }] });
	const text = planText(planOf({ steps: [withTopic("new")] }), {
		...options,
		earlier: { hash: "earlier", plan: planOf({ steps: [withTopic("old")] }) },
	});
	expect(text).not.toContain("as in the plan");
	expect(text).toContain("+ channel #general");
});
