// Buttons for moderators: who may press them.

import { type ButtonInteraction, PermissionFlagsBits } from "discord.js";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";

const maxRoles = 5;

/** Throws a SaidError that says whom to ask, if the person who pressed lacks a permission. */
export function requireHeld(
	{ memberPermissions, guild }: ButtonInteraction,
	permission: "ManageGuild" | "ModerateMembers" | "BanMembers",
): void {
	const bit = PermissionFlagsBits[permission];
	if (memberPermissions?.has(bit)) return;
	const roles = guild?.roles.cache.filter(({ id, managed, permissions }) => {
		return id !== guild.id && !managed && permissions.has(bit);
	});
	const top = [...(roles?.values() ?? [])].sort((a, b) => b.comparePositionTo(a)).slice(0, maxRoles);
	const people = [...top.map(({ id }) => `<@&${id}>`), `<@${guild?.ownerId}>`].join(", ");
	throw new SaidError(said("spam.refused", { permission: said(`permission.${permission}`), people }));
}
