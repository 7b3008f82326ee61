// Invented people: names, and which roles they have. The same position in a guild always gets the same. Which managed role of
// a document is that of the simulator's bot, and what the bot is called.

import { everyone, type GuildDocument, type Role } from "../../guild-document/format/document.ts";
import { bitsOfNames } from "../../guild-document/read/from-api.ts";
import { elevatedPermissions } from "../world/state/permissions.ts";

const names: readonly (readonly [string, string])[] = [
	["Ana", "ana"],
	["Bjørn", "bjorn"],
	["Chloé", "chloe"],
	["Đặng", "dang"],
	["王芳", "wangfang"],
	["Ximena", "ximena"],
	["Юлия", "yulia"],
	["Zainab", "zainab"],
	["Ayşe", "ayse"],
	["Μαρία", "maria"],
	["さくら", "sakura"],
	["지민", "jimin"],
];

export function personNamed(number: number) {
	const [global_name, username] = names[(number - 1) % names.length] ?? ["", ""];
	return { global_name, username: `${username}${number}` };
}

/** About half of the members have the lowest role, a third the next, then a quarter. `fromLowest`: lowest first. */
export function rolesOf(number: number, fromLowest: readonly string[]) {
	return fromLowest.filter((_, rank) => Bun.hash.crc32(`${number}/${rank}`) / 2 ** 32 < 1 / (rank + 2));
}

const botNames = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];

/** The managed role named in `names`, or else the highest managed role with moderator permissions. */
export function botRoleOf(
	document: GuildDocument,
	managed: readonly Role[],
	names: readonly string[] = [],
): Role | undefined {
	const mayModerate = ({ permissions = [] }: Role) => {
		const all = permissions.flatMap((name) => (name === everyone ? (document.everyone ?? []) : name));
		return (bitsOfNames(all) & elevatedPermissions) !== 0n;
	};
	return managed.find(({ name }) => names.includes(name)) ?? managed.find(mayModerate);
}

/** Such as "the-cooks". */
export const slugOf = (name: string) =>
	name
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, "-")
		.replaceAll(/^-|-$/g, "");

/** The name of the bot's role, or else one such as "alpha", but none in `taken`. */
export function botNameOf(role: Role | undefined, taken: ReadonlySet<string>) {
	const names = [slugOf(role?.name ?? "").slice(0, 32), ...botNames];
	return names.find((name) => name.length > 1 && !taken.has(name)) ?? `bot${taken.size}`;
}
