// Which access a channel has after it has moved, and who gains by it.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import type { Overwrites } from "../../src/guild-document/names/overwrites.ts";
import { gainsText, movedAccess } from "../../src/guild-document/steps/moved-access.ts";

const { Administrator, ReadMessageHistory: History, SendMessages: Send, ViewChannel: View } = PermissionFlagsBits;

/** What an overwrite allows and denies, by role; those of members begin with "@". */
type Access = Record<string, { allow?: bigint; deny?: bigint }>;

const mapOf = (access: Access): Overwrites =>
	new Map(Object.entries(access).map(([id, { allow = 0n, deny = 0n }]) => [id, { allow, deny }]));

const none: Access = {};
const closed: Access = { all: { deny: View }, mods: { allow: View } };
const quiet: Access = { all: { deny: Send } };

interface Case {
	own?: Access;
	from?: Access;
	to?: Access | undefined;
	lock?: boolean;
	/** Guild-wide permissions. Default: everybody sees channels and their history. */
	roles?: Record<string, bigint>;
	members?: Record<string, string[]>;
}

const guildWide = { all: View | History, mods: 0n, muted: 0n, admins: 0n };

test.each<[string, Case, string]>([
	["no overwrites, into a private category", { to: closed }, "follows"],
	["no overwrites, into a read-only category", { to: quiet }, "follows"],
	["empty overwrites", { own: { all: {} }, to: quiet }, "follows"],
	["synced with its old category", { own: quiet, from: quiet, to: closed }, "follows"],
	["overwrites of its own", { own: { mods: { deny: Send } }, to: closed }, "keeps"],
	["the same overwrites already", { own: closed, to: closed }, "same"],
	["out of all categories", { own: closed, from: closed, to: undefined }, "keeps"],
	["out of a read-only category", { own: quiet, from: quiet, to: undefined }, "keeps"],
	["out of all categories, without overwrites", { to: undefined }, "same"],
	["asked to keep its own", { to: closed, lock: false }, "keeps"],
	["asked to follow with overwrites of its own", { own: { mods: { deny: Send } }, to: quiet, lock: true }, "follows"],
	[
		"from private to public",
		{ own: closed, from: closed, to: none },
		"keeps: all (VIEW_CHANNEL, READ_MESSAGE_HISTORY)",
	],
	[
		"the same, asked for",
		{ own: closed, from: closed, to: none, lock: true },
		"follows: all (VIEW_CHANNEL, READ_MESSAGE_HISTORY)",
	],
	[
		"history alone",
		{ own: { all: { deny: History } }, from: { all: { deny: History } }, to: none },
		"keeps: all (READ_MESSAGE_HISTORY)",
	],
	[
		"history of a channel that nobody sees then",
		{ own: { all: { deny: History } }, from: { all: { deny: History } }, to: { all: { deny: View } } },
		"follows",
	],
	[
		"a role that sees nothing guild-wide",
		{ roles: { ...guildWide, all: 0n }, to: closed },
		"keeps: mods (VIEW_CHANNEL)",
	],
	[
		"a role that sees everything anyway",
		{ roles: { ...guildWide, all: 0n, mods: Administrator }, to: closed },
		"follows",
	],
	[
		"a member",
		{
			own: { all: { deny: View } },
			from: { all: { deny: View } },
			to: { all: { deny: View }, "@zoe": { allow: View } },
			members: { "@zoe": [] },
		},
		"keeps: @zoe (VIEW_CHANNEL, READ_MESSAGE_HISTORY)",
	],
	[
		"a member who saw it by a role",
		{ own: closed, from: closed, to: { ...closed, "@zoe": { allow: View } }, members: { "@zoe": ["mods"] } },
		"follows",
	],
	[
		"a member whose roles are not known, who may have been denied it",
		{
			own: { muted: { deny: View } },
			from: { muted: { deny: View } },
			to: { muted: { deny: View }, "@zoe": { allow: View } },
		},
		"keeps: @zoe (VIEW_CHANNEL, READ_MESSAGE_HISTORY)",
	],
	[
		"a member who was denied it",
		{ own: { "@zoe": { deny: View } }, from: { "@zoe": { deny: View } }, to: none, members: { "@zoe": [] } },
		"keeps: @zoe (VIEW_CHANNEL, READ_MESSAGE_HISTORY)",
	],
	[
		"the owner",
		{
			own: { all: { deny: View } },
			from: { all: { deny: View } },
			to: { all: { deny: View }, "@owner": { allow: View } },
		},
		"follows",
	],
	[
		"members with two roles, of which one was denied it",
		{
			own: { muted: { deny: View } },
			from: { muted: { deny: View } },
			to: { muted: { deny: View }, mods: { allow: View } },
		},
		"keeps: muted with mods (VIEW_CHANNEL, READ_MESSAGE_HISTORY)",
	],
	[
		"members with two roles, of which one has no overwrite",
		{
			roles: { ...guildWide, all: 0n, admins: View },
			own: { muted: { deny: View } },
			from: { muted: { deny: View } },
			to: none,
		},
		"keeps: muted with admins (VIEW_CHANNEL)",
	],
])("%s", (_, given, expected) => {
	const { own = none, from, lock, roles = guildWide, members = {} } = given;
	const text = (list: Access | undefined) =>
		JSON.stringify(list, (_key, value) => (typeof value === "bigint" ? String(value) : value));
	const { access, gains } = movedAccess(
		{
			own: mapOf(own),
			isSynced: from !== undefined && text(own) === text(from),
			to: given.to && mapOf(given.to),
			lock,
		},
		{ guildId: "all", ownerId: "@owner", roles: new Map(Object.entries(roles)), rolesOf: (id) => members[id] },
	);
	const who = gainsText(gains, (id) => id).replace(" together with ", " with ");
	expect([access, who].filter(Boolean).join(": ")).toBe(expected);
});

/** The permissions that a member with these roles has in a channel, by Discord's pseudocode. */
function seen(held: readonly string[], list: Overwrites, roles: ReadonlyMap<string, bigint>): bigint {
	const base = ["all", ...held].reduce((bits, id) => bits | (roles.get(id) ?? 0n), 0n);
	const of = (ids: readonly string[], kind: "allow" | "deny") =>
		ids.reduce((bits, id) => bits | (list.get(id)?.[kind] ?? 0n), 0n);
	const first = (base & ~of(["all"], "deny")) | of(["all"], "allow");
	const bits = (first & ~of(held, "deny")) | of(held, "allow");
	return (bits & View) === 0n ? 0n : bits & View;
}

test("a channel that follows gives no combination of roles a sight of it that they did not have", () => {
	const ids = ["a", "b", "c"];
	const states = [{}, { allow: View }, { deny: View }];
	const subsets = [0, 1, 2, 3, 4, 5, 6, 7].map((mask) => ids.filter((_, index) => (mask >> index) & 1));
	let followed = 0;
	for (let number = 0; number < 3 ** 8; number++) {
		const digit = (place: number) => Math.floor(number / 3 ** place) % 3;
		const accessAt = (start: number): Access => ({
			all: states[digit(start)] ?? {},
			a: states[digit(start + 1)] ?? {},
			b: states[digit(start + 2)] ?? {},
		});
		const roles = new Map([
			["all", digit(6) === 0 ? View : 0n],
			["a", 0n],
			["b", 0n],
			["c", digit(7) === 0 ? View : 0n],
		]);
		const [own, to] = [mapOf(accessAt(0)), mapOf(accessAt(3))];
		const { access, gains } = movedAccess(
			{ own, isSynced: true, to, lock: undefined },
			{ guildId: "all", ownerId: "", roles, rolesOf: () => [] },
		);
		if (access === "same") continue;
		const gaining = subsets.filter((held) => seen(held, to, roles) & ~seen(held, own, roles));
		expect([number, access]).toEqual([number, gaining.length > 0 ? "keeps" : "follows"]);
		expect(gains.length > 0).toBe(gaining.length > 0);
		if (access === "follows") followed++;
	}
	expect(followed).toBeGreaterThan(1000);
});
