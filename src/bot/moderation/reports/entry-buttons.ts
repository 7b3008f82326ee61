// The buttons of report entries, for staff. Each button calls a tool in the name of the person who pressed it, so the
// tool checks the permissions of the person and of the bot, and stores the moderation case.

import {
	type ButtonInteraction,
	LabelBuilder,
	ModalBuilder,
	type ModalSubmitInteraction,
	PermissionFlagsBits,
	TextInputBuilder,
	TextInputStyle,
} from "discord.js";
import { maxReasonLength } from "../../../discord/text.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import type { ComponentHandler } from "../../commands/components.ts";
import type { ReportAct, ReportRow } from "../../store/tables/reports.ts";
import type { CallAs } from "../../tool/call-as.ts";
import { actsOf, actTitles, type EntryButton, entryPrefix, readButton } from "./report-entry.ts";
import type { Reports } from "./reports.ts";

const daySeconds = 86_400;

export interface EntryButtonsOptions {
	reports: Pick<Reports, "find" | "act">;
	callAs: CallAs;
}

type Pressed = (ButtonInteraction | ModalSubmitInteraction) & { guildId: string };

type Form = Readonly<Record<"reason" | "duration" | "days", string>>;

interface Field {
	id: keyof Form;
	label: string;
	value?: string;
	max: number;
}

const reason: Field = { id: "reason", label: "Reason", max: maxReasonLength };

const forms: Partial<Record<EntryButton, readonly Field[]>> = {
	warn: [reason],
	timeout: [{ id: "duration", label: "For how long", value: "1h", max: 40 }, reason],
	ban: [{ id: "days", label: "Delete the messages of how many days (0 to 7)", value: "0", max: 1 }, reason],
};

export function createEntryButtons({ reports, callAs }: EntryButtonsOptions): ComponentHandler {
	async function run(interaction: Pressed, rest: string): Promise<void> {
		const button = readButton(rest);
		if (!button) return;
		const { what, number } = button;
		const fields = forms[what];
		if (fields && !interaction.isModalSubmit()) {
			await interaction.showModal(formFor(what, number, fields));
			return;
		}
		await deferPrivately(interaction);
		const row = await reports.find(interaction.guildId, number);
		requireStaff(interaction, row);
		const person = { id: interaction.user.id, name: interaction.user.globalName ?? interaction.user.username };
		const { guildId } = interaction;
		const text =
			what === "dismiss"
				? await end(row, person)
				: await reports.act({
						guildId,
						number,
						person,
						act: what,
						call: (current) => callFor(what, current, readForm(interaction, fields ?? [])),
					});
		await answerPrivately(interaction, text);
	}

	/** Ends a report: as handled if staff took an action about it, otherwise as dismissed. */
	async function end(row: ReportRow, person: { id: string; name: string }): Promise<string> {
		const done = actsOf(row).filter(({ state }) => state === "done");
		const known = done.findLast((act) => act.case !== undefined)?.case;
		const { text } = await callAs({
			guildId: row.guild_id,
			person,
			command: `report #${row.number}: ${done.length > 0 ? "Done" : "Dismiss"}`,
			tool: "resolve_report",
			args: {
				report: row.number,
				outcome: done.length > 0 ? "handled" : "dismissed",
				...(done.length > 0 && known !== undefined && { case: known }),
			},
		});
		return text;
	}

	return {
		prefix: entryPrefix,
		async run(interaction, rest) {
			if (interaction.isButton() || interaction.isModalSubmit()) await run(interaction, rest);
		},
	};
}

/** Also refuses the reported person, because an action closes the report some time later. Throws a ToolError. */
function requireStaff(
	{ channelId, guild, memberPermissions, user }: Pressed,
	{ author_id, number, entry_channel_id }: ReportRow,
): void {
	const sees = memberPermissions?.has(PermissionFlagsBits.ViewChannel) ?? false;
	if (!sees || channelId === null || channelId !== entry_channel_id)
		throw new ToolError(`There is no report #${number} here. Nothing was done.`);
	if (user.id === author_id && user.id !== guild?.ownerId)
		throw new ToolError(`Report #${number} is about you: somebody else must end it. Nothing was done.`);
}

function callFor(act: ReportAct, row: ReportRow, form: Form): { tool: string; args: JsonObject } {
	const { author_id, channel_id, message_id, number } = row;
	const given = form.reason === "" ? {} : { reason: form.reason };
	switch (act) {
		case "delete":
			return {
				tool: "delete_messages",
				args: { channel_id, message_ids: message_id === null ? [] : [message_id], reason: `Report #${number}` },
			};
		case "warn":
			return { tool: "warn_member", args: { user_ids: [author_id], ...given } };
		case "timeout":
			return { tool: "timeout", args: { user_ids: [author_id], duration: form.duration, ...given } };
		case "ban":
			return {
				tool: "ban",
				args: { user_ids: [author_id], delete_message_seconds: readDays(form.days) * daySeconds, ...given },
			};
	}
}

function readDays(text: string): number {
	if (/^[0-7]$/.test(text)) return Number(text);
	throw new ToolError("The number of days must be from 0 to 7. Nothing was done.");
}

function readForm(interaction: Pressed, fields: readonly Field[]): Form {
	const form = { reason: "", duration: "", days: "0" };
	if (!interaction.isModalSubmit()) return form;
	for (const { id } of fields) form[id] = interaction.fields.getTextInputValue(id).trim();
	return form;
}

function formFor(what: EntryButton, number: number, fields: readonly Field[]): ModalBuilder {
	const title = what === "dismiss" ? "Dismiss" : actTitles[what];
	return new ModalBuilder()
		.setCustomId(`${entryPrefix}:${what}:${number}`)
		.setTitle(`${title} (report #${number})`)
		.addLabelComponents(
			fields.map(({ id, label, value, max }) => {
				const input = new TextInputBuilder()
					.setCustomId(id)
					.setStyle(id === "reason" ? TextInputStyle.Paragraph : TextInputStyle.Short)
					// The reason of a warning is required, because the warned person gets it.
					.setRequired(id !== "reason" || what === "warn")
					.setMaxLength(max);
				if (value !== undefined) input.setValue(value);
				return new LabelBuilder().setLabel(label).setTextInputComponent(input);
			}),
		);
}
