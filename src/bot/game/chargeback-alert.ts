// The message that alerts staff to a chargeback: an embed with its state and two buttons. It is built from the database
// row alone, so it can be updated at any time. A digest tells whether the message on Discord is up to date.

import { createHash } from "node:crypto";
import {
	type APIButtonComponentWithCustomId,
	type APIEmbedField,
	ButtonStyle,
	ComponentType,
	type RESTPostAPIChannelMessageJSONBody,
} from "discord.js";
import { oneLine } from "../../discord/text.ts";
import { listFirst } from "../../lib/text.ts";
import type { Ban, Chargeback, Decision } from "../store/tables/chargebacks.ts";
import { truncate } from "./client.ts";

const maxFieldLength = 1_024;
const maxErrorLength = 300;
/** Maximum number of role mentions that are listed in one embed field. More could exceed the field's maximum length. */
const maxRolesListed = 35;

export const decisionLabels = { ban: "Ban", dismiss: "Dismiss" } as const;

const colours = { open: 0xe65100, ban: 0xc62828, dismiss: 0x2e7d32 };

export interface Alert {
	body: RESTPostAPIChannelMessageJSONBody;
	/** Hash of the message's content. If it equals the hash of the message on Discord, that message needs no update. */
	digest: string;
}

/** `isHeld`: roles are not given back yet, because the person has another undecided chargeback. */
export function createAlert(row: Chargeback, isHeld: boolean): Alert {
	const { decision } = row;
	const button = (
		style: ButtonStyle.Danger | ButtonStyle.Secondary,
		label: string,
		action: Decision,
	): APIButtonComponentWithCustomId => ({
		type: ComponentType.Button,
		style,
		label,
		custom_id: buttonId(action, row.id),
		disabled: decision !== null,
	});
	const body: RESTPostAPIChannelMessageJSONBody = {
		embeds: [
			{
				title: "Chargeback",
				color: colours[decision ?? "open"],
				fields: createFields(row, isHeld),
				timestamp: row.happened_at,
			},
		],
		components: [
			{
				type: ComponentType.ActionRow,
				components: [button(ButtonStyle.Danger, "Ban", "ban"), button(ButtonStyle.Secondary, "Dismiss", "dismiss")],
			},
		],
		// The names in the embed must not ping anyone.
		allowed_mentions: { parse: [] },
	};
	const digest = createHash("sha256").update(JSON.stringify(body));
	return { body, digest: digest.digest("hex").slice(0, 16) };
}

function createFields(row: Chargeback, isHeld: boolean): APIEmbedField[] {
	const { chat_id, decision, decided_by, decided_at } = row;
	const field = (name: string, value: string, inline = false) => ({
		name,
		inline,
		value: value.slice(0, maxFieldLength),
	});
	const fields = [
		field("Game account", `${code(row.username)} (${code(row.uuid)})`, true),
		field("Tier", code(row.tier), true),
		field(
			"Discord account",
			chat_id === null
				? "Not linked: nobody can be restricted or banned on Discord."
				: `<@${chat_id}> (ID: ${chat_id})`,
		),
	];
	if (chat_id !== null) fields.push(field("Restriction", formatRestriction(row)));
	if (decision === null) return fields;
	const date = `<t:${Math.floor((decided_at ?? 0) / 1000)}:f>`;
	const label = decisionLabels[decision];
	fields.push(field("Decision", `${label}, by <@${decided_by}> on ${date}`));
	if (decision === "ban") {
		const { discord_ban, discord_ban_error, game_ban, game_ban_error } = row;
		fields.push(
			field("Ban on Discord", formatBan(discord_ban, discord_ban_error), true),
			field("Ban in the game", formatBan(game_ban, game_ban_error), true),
		);
	} else if (chat_id !== null) fields.push(field("Roles", formatRestoration(row, isHeld)));
	return fields;
}

function formatRestriction(row: Chargeback): string {
	const { restriction, restriction_error, saved_roles, restricted_role } = row;
	if (restriction === "restricted")
		return saved_roles.length === 0
			? `Restricted to <@&${restricted_role}>. There were no other roles.`
			: `Restricted to <@&${restricted_role}>. ${saved_roles.length} role(s) saved.`;
	if (row.decision !== null) return "Not applied.";
	if (restriction === "absent") return "Not in the server. They will be restricted when they rejoin.";
	return formatPending(restriction_error);
}

function formatBan(state: Ban, error: string | null): string {
	if (state === "done") return "Done.";
	if (state === "none") return "No account linked.";
	if (state === "impossible") return `Impossible: ${code(error ?? "")}`;
	return formatPending(error);
}

function formatRestoration(row: Chargeback, isHeld: boolean): string {
	const { restoration, restoration_error, lost_roles } = row;
	if (restoration === "void") return "Not restored: another chargeback ended in a ban.";
	if (restoration === "restored")
		return lost_roles.length === 0
			? "Restored."
			: `Restored, except deleted roles and those above the bot's: ${formatRoles(lost_roles)}`;
	if (isHeld) return "Restored once this person's other chargebacks are dismissed.";
	if (restoration === "absent") return "Not in the server. The roles will be restored when they rejoin.";
	return formatPending(restoration_error);
}

function formatRoles(roles: readonly string[]): string {
	return listFirst(
		roles.map((id) => `<@&${id}>`),
		maxRolesListed,
		" and ",
		" ",
	);
}

function formatPending(error: string | null): string {
	if (error === null) return "In progress.";
	return `Failed, will retry: ${code(truncate(error, maxErrorLength))}`;
}

function code(text: string): string {
	return `\`${oneLine(text).replaceAll("`", "ˋ")}\``;
}

function buttonId(action: Decision, id: string): string {
	return `chargeback:${action}:${id}`;
}

/** Parses the custom id of a chargeback alert's button into decision and chargeback id; undefined for other buttons. */
export function readButtonId(customId: string): { decision: Decision; id: string } | undefined {
	const [, decision, id] = /^chargeback:(ban|dismiss):([0-9a-f]{64})$/.exec(customId) ?? [];
	return id === undefined ? undefined : { decision: decision as Decision, id };
}
