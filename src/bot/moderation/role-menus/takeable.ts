// Which roles members may give themselves through a role menu: only roles that the bot can give, and that give no
// moderator rights on Discord or in the bot's configuration.

import type { Guild, Role } from "discord.js";
import { describePowers, powersOf } from "../../../discord/powers.ts";
import { isBelowBot } from "../../../discord/role-hierarchy.ts";
import { type Said, said } from "../../../texts/texts.ts";
import { type ModeratorAction, moderatorActions } from "../../settings/grants.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";

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
export function whyFixed(guild: Guild, role: Role): Said | undefined {
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
