// Which of a document's managed roles is that of the simulator's bot, and what the bot is called.

import { everyone, type GuildDocument, type Role } from "../../guild-document/format/document.ts";
import { bitsOfNames } from "../../guild-document/read/from-api.ts";
import { elevatedPermissions } from "../world/state/permissions.ts";

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

function usernameOf(name: string): string | undefined {
	const username = name
		.toLowerCase()
		.replaceAll(/[^a-z0-9]+/g, "-")
		.replaceAll(/^-|-$/g, "")
		.slice(0, 32);
	return username.length < 2 ? undefined : username;
}

/** The name of the bot's role, or else one such as "alpha", but none in `taken`. */
export function botNameOf(role: Role | undefined, taken: ReadonlySet<string>) {
	const names = [role && usernameOf(role.name), ...botNames];
	return names.find((name) => name && !taken.has(name)) ?? `bot${taken.size}`;
}
