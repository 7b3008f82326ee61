// Computes which roles a member gains and loses by pressing a button or selecting options of a role menu: only roles that
// the bot can give, and that give no moderator rights on Discord or in the bot's configuration.

import type { Guild, Role } from "discord.js";
import { withTitles } from "../../../discord/permissions.ts";
import { describePowers, powersOf } from "../../../discord/powers.ts";
import { cannotGiveRoles, isBelowBot } from "../../../discord/role-hierarchy.ts";
import type { MenuRules } from "../../../discord/role-menu.ts";
import { resultLines } from "../../../discord/text.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { type Said, type Say, said } from "../../../texts/texts.ts";
import { type ModeratorAction, moderatorActions } from "../../settings/grants.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";

/** What a member chose in a role menu: the role of the pressed button, or all roles selected in the select menu. */
export type Choice = { pressed: string } | { selected: readonly string[] };

/** Role ids. `after` lists the roles of the menu that the member then has. */
export interface Change {
	add: readonly string[];
	remove: readonly string[];
	after: readonly string[];
}

/**
 * Returns how a choice in a role menu changes the roles of a member, who has the roles `held` now. A button gives its
 * role, or removes it if the member has it. A select menu gives the selected roles and removes the others. In a menu
 * with `max` 1, the new role replaces the member's previous role from the menu. Throws a SaidError for the
 * member if the choice is not possible.
 */
export function changeFor(
	guild: Guild,
	{ roleIds, max, requires }: MenuRules,
	choice: Choice,
	held: readonly string[],
	reserved: ReservedRoles,
): Change {
	if (requires !== undefined && !held.includes(requires))
		throw new SaidError(
			guild.roles.cache.has(requires)
				? said("menu.required", { role: mention(requires) })
				: said("menu.required.deleted"),
		);
	const chosen = "pressed" in choice ? [choice.pressed] : choice.selected;
	for (const id of chosen) if (!roleIds.includes(id)) throw new SaidError(said("menu.removed", { role: mention(id) }));
	if (cannotGiveRoles(guild) !== undefined) throw new SaidError(said("menu.powerless"));
	for (const id of chosen) {
		const role = guild.roles.cache.get(id);
		if (!role) throw new SaidError(said("menu.deleted"));
		const problem = whyNotTakeable(guild, role, reserved);
		if (problem) throw new SaidError(said("menu.unfit", { role: mention(id), problem: withTitles(problem) }));
	}
	const owned = roleIds.filter((id) => held.includes(id));
	const wanted = "selected" in choice ? choice.selected : afterPress(choice.pressed, owned, max);
	const add = wanted.filter((id) => !owned.includes(id));
	const left = owned.filter((id) => !wanted.includes(id));
	// The bot cannot remove roles above its own highest role, nor deleted roles.
	const remove = left.filter((id) => isRemovable(guild, id));
	const after = [...owned, ...add].filter((id) => !remove.includes(id));
	if (max !== undefined && after.length > max && add.length > 0)
		throw new SaidError(said("menu.full", { count: max, roles: mentions(owned) }));
	return { add, remove, after };
}

function afterPress(pressed: string, owned: readonly string[], max: number | undefined): readonly string[] {
	if (owned.includes(pressed)) return owned.filter((id) => id !== pressed);
	return max === 1 ? [pressed] : [...owned, pressed];
}

function isRemovable(guild: Guild, id: string): boolean {
	const role = guild.roles.cache.get(id);
	return role !== undefined && whyFixed(guild, role) === undefined;
}

function mention(roleId: string): string {
	return `<@&${roleId}>`;
}

function mentions(roleIds: readonly string[]): string {
	return roleIds.map(mention).join(", ");
}

/** Describes to the member which roles a choice in a role menu added and removed. */
export function describeChange({ add, remove, after }: Change, say: Say): string {
	return resultLines(
		add.length + remove.length === 0 && say("menu.unchanged"),
		add.length > 0 && say("menu.added", { roles: mentions(add) }),
		remove.length > 0 && say("menu.taken", { roles: mentions(remove) }),
		after.length > 0 ? say("menu.now", { roles: mentions(after) }) : say("menu.now.none"),
	).join(" ");
}

/** Of a guild. By role id, the name of the setting that gives rights with the role or restricts people. */
export type ReservedRoles = (guildId: string) => ReadonlyMap<string, string>;

const grants = (Object.keys(moderatorActions) as ModeratorAction[]).map((action) => `may.${action}` as const);

const reserving = [
	...grants,
	"approval.roles",
	"sign_in.roles",
	"game.staff_roles",
	"game.restricted_role",
	"spam.exempt_roles",
] as const;

/** The roles that cannot be in a role menu because a setting of the bot refers to them. */
export function reservedRoles(settings: Pick<GuildSettings, "of">): ReservedRoles {
	return (guildId) => {
		const values = settings.of(guildId);
		return new Map(reserving.flatMap((key) => [values[key] ?? []].flat().map((id) => [id, key] as const)));
	};
}

/** As the end of a sentence that begins with "the role"; undefined if the bot can give and remove it. */
function whyFixed(guild: Guild, role: Role): Said | undefined {
	if (role.id === guild.id) return said("menu.unfit.everyone");
	if (role.managed) return said("menu.unfit.managed");
	if (!isBelowBot(guild, role)) return said("menu.unfit.rank");
	return undefined;
}

/** Like `whyFixed`. Permissions that @everyone also has are ignored. */
export function whyNotTakeable(guild: Guild, role: Role, reserved: ReservedRoles): Said | undefined {
	const fixed = whyFixed(guild, role);
	if (fixed !== undefined) return fixed;
	const setting = reserved(guild.id).get(role.id);
	if (setting !== undefined) return said("menu.unfit.setting", { setting });
	const powers = powersOf(role);
	if (!powers) return undefined;
	const permissions = describePowers(powers.bits);
	return powers.channel
		? said("menu.unfit.powers.channel", { channel: `<#${powers.channel.id}>`, permissions })
		: said("menu.unfit.powers", { permissions });
}
