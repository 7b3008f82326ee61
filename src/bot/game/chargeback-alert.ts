// The message that alerts staff to a chargeback: an embed with its state and two buttons. It is built from the database
// row alone, so it can be updated at any time. A digest tells whether the message on Discord is up to date.

import { createHash } from "node:crypto";
import { type APIEmbedField, ButtonStyle, type RESTPostAPIChannelMessageJSONBody } from "discord.js";
import { oneLine, truncate } from "../../discord/text.ts";
import { type Language, render, type Said, said, sayIn, type TextKey, type Value } from "../../texts/texts.ts";
import { buttonRow } from "../messages/buttons.ts";
import type { Ban, Chargeback, Decision } from "../store/tables/chargebacks.ts";

export const buttonPrefix = "chargeback";

const maxFieldLength = 1_024;
/** Maximum number of role mentions that are listed in one embed field. More could exceed the field's maximum length. */
const maxRolesListed = 35;

export const decisionLabels = { ban: said("report.ban.button"), dismiss: said("report.dismiss.button") };

const colours = { open: 0xe65100, ban: 0xc62828, dismiss: 0x2e7d32 };

/** `isHeld`: roles are not given back yet, because the person has another undecided chargeback. */
export function createAlert(row: Chargeback, isHeld: boolean, language: Language) {
	const say = sayIn(language);
	const { decision } = row;
	const button = (style: ButtonStyle.Danger | ButtonStyle.Secondary, action: Decision) => ({
		style,
		label: render(decisionLabels[action], language),
		id: `${buttonPrefix}:${action}:${row.id}`,
		disabled: decision !== null,
	});
	const body: RESTPostAPIChannelMessageJSONBody = {
		embeds: [
			{
				title: say("chargeback.title"),
				color: colours[decision ?? "open"],
				fields: createFields(row, isHeld, language),
				timestamp: row.happened_at,
			},
		],
		components: [buttonRow([button(ButtonStyle.Danger, "ban"), button(ButtonStyle.Secondary, "dismiss")])],
		// The names in the embed must not ping anyone.
		allowed_mentions: { parse: [] },
	};
	return { body, digest: createHash("sha256").update(JSON.stringify(body)).digest("hex").slice(0, 16) };
}

type FieldKey = Extract<TextKey, `chargeback.${string}.field`>;

function createFields(row: Chargeback, isHeld: boolean, language: Language): APIEmbedField[] {
	const { chat_id, decision, decided_by, decided_at } = row;
	const say = sayIn(language);
	const field = (name: FieldKey, value: string | Said, inline = false) => ({
		name: say(name),
		inline,
		value: truncate(render(value, language), maxFieldLength),
	});
	const fields = [
		field("chargeback.account.field", `${code(row.username)} (${code(row.uuid)})`, true),
		field("chargeback.tier.field", code(row.tier), true),
		field("chargeback.member.field", chat_id === null ? said("chargeback.not-linked") : `<@${chat_id}>`),
	];
	if (chat_id !== null) fields.push(field("chargeback.restriction.field", restrictionOf(row)));
	if (decision === null) return fields;
	const time = `<t:${Math.floor((decided_at ?? 0) / 1000)}:f>`;
	const made = said("chargeback.decision", { decision: decisionLabels[decision], person: `<@${decided_by}>`, time });
	fields.push(field("chargeback.decision.field", made));
	if (decision === "ban") {
		const { discord_ban, discord_ban_error, game_ban, game_ban_error } = row;
		fields.push(
			field("chargeback.discord-ban.field", banOf(discord_ban, discord_ban_error), true),
			field("chargeback.game-ban.field", banOf(game_ban, game_ban_error), true),
		);
	} else if (chat_id !== null) fields.push(field("chargeback.roles.field", restorationOf(row, isHeld)));
	return fields;
}

function restrictionOf(row: Chargeback): Said {
	const { restriction, restriction_error, saved_roles, restricted_role } = row;
	const role = `<@&${restricted_role}>`;
	if (restriction === "restricted")
		return saved_roles.length === 0
			? said("chargeback.restricted.no-roles", { role })
			: said("chargeback.restricted", { role, count: saved_roles.length });
	if (row.decision !== null) return said("chargeback.restriction.none");
	if (restriction === "absent") return said("chargeback.restriction.absent");
	return pending(restriction_error);
}

function banOf(state: Ban, error: string | null): Said {
	if (state === "done") return said("result.done");
	if (state === "none") return said("chargeback.ban.not-linked");
	if (state === "impossible") return said("chargeback.ban.impossible", { why: JSON.parse(error ?? '""') as Value });
	return pending(error);
}

function restorationOf(row: Chargeback, isHeld: boolean): Said {
	const { restoration, restoration_error, lost_roles } = row;
	if (restoration === "void") return said("chargeback.roles.void");
	if (restoration === "restored")
		return lost_roles.length === 0
			? said("chargeback.roles.restored")
			: said("chargeback.roles.restored.but", { roles: listOf(lost_roles) });
	if (isHeld) return said("chargeback.roles.held");
	if (restoration === "absent") return said("chargeback.roles.absent");
	return pending(restoration_error);
}

function listOf(ids: readonly string[]): Value {
	const shown = ids.slice(0, maxRolesListed);
	const roles = shown.map((id) => `<@&${id}>`).join(" ");
	return shown.length === ids.length
		? roles
		: said("chargeback.roles.more", { roles, more: ids.length - shown.length });
}

function pending(error: string | null): Said {
	return error === null
		? said("chargeback.in-progress")
		: said("chargeback.will-retry", { why: JSON.parse(error) as Said });
}

function code(text: string): string {
	return `\`${oneLine(text).replaceAll("`", "ˋ")}\``;
}

/** Without the prefix. */
export function readButtonId(rest: string): { decision: Decision; id: string } | undefined {
	const [, decision, id] = /^(ban|dismiss):([0-9a-f]{64})$/.exec(rest) ?? [];
	return id === undefined ? undefined : { decision: decision as Decision, id };
}
