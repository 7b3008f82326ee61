// What the staff see of a chargeback: one message with what is known and done, and two buttons. It is made from the row
// alone, so that the message can be brought up to date at any time, and what it shows compared by a digest.

import { createHash } from "node:crypto";
import {
	type APIButtonComponentWithCustomId,
	type APIEmbedField,
	ButtonStyle,
	ComponentType,
	type RESTPostAPIChannelMessageJSONBody,
} from "discord.js";
import { oneLine } from "../discord/text.ts";
import type { Ban, Chargeback, Decision } from "../store/chargebacks.ts";
import { firstOf } from "./client.ts";

/** What Discord takes in a field of an embed. */
const maxFieldLength = 1_024;
const maxErrorLength = 300;
/** So many mentions of roles fit into a field, with what is said of them. */
const maxRolesShown = 35;

const colours = { open: 0xe65100, ban: 0xc62828, dismiss: 0x2e7d32 };

export interface Alert {
	body: RESTPostAPIChannelMessageJSONBody;
	/** Two alerts that show the same have the same. */
	digest: string;
}

/** `held`: another chargeback of the same person is still to be decided. */
export function alertOf(row: Chargeback, held: boolean): Alert {
	const { decision } = row;
	const button = (
		style: ButtonStyle.Danger | ButtonStyle.Secondary,
		label: string,
		what: Decision,
	): APIButtonComponentWithCustomId => ({
		type: ComponentType.Button,
		...{ style, label },
		custom_id: buttonId(what, row.id),
		disabled: decision !== null,
	});
	const body: RESTPostAPIChannelMessageJSONBody = {
		embeds: [
			{
				title: "A payment was taken back",
				color: colours[decision ?? "open"],
				fields: fieldsOf(row, held),
				timestamp: row.happened_at,
			},
		],
		components: [
			{
				type: ComponentType.ActionRow,
				components: [
					button(ButtonStyle.Danger, "Ban", "ban"),
					button(ButtonStyle.Secondary, "Dismiss", "dismiss"),
				],
			},
		],
		// It pings nobody, whatever names are in it.
		allowed_mentions: { parse: [] },
	};
	const digest = createHash("sha256").update(JSON.stringify(body));
	return { body, digest: digest.digest("hex").slice(0, 16) };
}

function fieldsOf(row: Chargeback, held: boolean): APIEmbedField[] {
	const { chat_id, decision, decided_by, decided_at } = row;
	const field = (name: string, value: string, inline = false) => ({
		...{ name, inline },
		value: value.slice(0, maxFieldLength),
	});
	const fields = [
		field("Game account", `${data(row.username)} (${data(row.uuid)})`, true),
		field("Tier", data(row.tier), true),
		field(
			"Discord account",
			chat_id === null
				? "None is linked: there is nobody to restrict, nor to ban on Discord."
				: `<@${chat_id}> (ID: ${chat_id})`,
		),
	];
	if (chat_id !== null) fields.push(field("Restriction", restrictionOf(row)));
	if (decision === null) return fields;
	const on = `<t:${Math.floor((decided_at ?? 0) / 1000)}:f>`;
	const what = decision === "ban" ? "Ban" : "Dismiss";
	fields.push(field("Decision", `${what}, by <@${decided_by}> on ${on}`));
	if (decision === "ban") {
		const { discord_ban, discord_ban_error, game_ban, game_ban_error } = row;
		fields.push(
			field("Ban on Discord", banOf(discord_ban, discord_ban_error), true),
			field("Ban in the game", banOf(game_ban, game_ban_error), true),
		);
	} else if (chat_id !== null)
		fields.push(field("Roles", restorationOf(row, held)));
	return fields;
}

function restrictionOf(row: Chargeback): string {
	const { restriction, restriction_error, saved_roles, restricted_role } = row;
	if (restriction === "restricted")
		return saved_roles.length === 0
			? `They have <@&${restricted_role}>. There was no other role to take away.`
			: `They have <@&${restricted_role}>, and ${saved_roles.length} role(s) are saved.`;
	if (row.decision !== null) return "It was not carried out.";
	if (restriction === "absent")
		return "They are not in the guild. They are restricted when they come back.";
	return inWork(restriction_error);
}

function banOf(state: Ban, error: string | null): string {
	if (state === "done") return "Done.";
	if (state === "none") return "No account is linked.";
	if (state === "impossible") return `Impossible: ${data(error ?? "")}`;
	return inWork(error);
}

function restorationOf(row: Chargeback, held: boolean): string {
	const { restoration, restoration_error, lost_roles } = row;
	if (restoration === "void")
		return "They are not given back: another chargeback of theirs ended in a ban.";
	if (restoration === "restored")
		return lost_roles.length === 0
			? "They are given back."
			: `They are given back, but for those that are gone or out of the bot's reach: ${rolesShown(lost_roles)}`;
	if (held)
		return "They are given back when their other chargebacks are dismissed, too.";
	if (restoration === "absent")
		return "They are not in the guild. The roles are given back when they come back.";
	return inWork(restoration_error);
}

function rolesShown(roles: readonly string[]): string {
	const shown = roles.slice(0, maxRolesShown).map((id) => `<@&${id}>`);
	const more = roles.length - shown.length;
	return shown.join(" ") + (more > 0 ? ` and ${more} more` : "");
}

function inWork(error: string | null): string {
	if (error === null) return "On its way.";
	return `Not yet, and tried again: ${data(firstOf(error, maxErrorLength))}`;
}

/** A text from elsewhere, as data: within a code span nothing is a mention, a link or a format. */
function data(text: string): string {
	return `\`${oneLine(text).replaceAll("`", "ˋ")}\``;
}

function buttonId(what: Decision, id: string): string {
	return `chargeback:${what}:${id}`;
}

/** What a button asks for, and of which chargeback; undefined where it is none of these. */
export function readButtonId(
	customId: string,
): { decision: Decision; id: string } | undefined {
	const [, decision, id] =
		/^chargeback:(ban|dismiss):([0-9a-f]{64})$/.exec(customId) ?? [];
	return id === undefined ? undefined : { decision: decision as Decision, id };
}
