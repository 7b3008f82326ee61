// The buttons of report entries, for staff. Each button calls a tool in the name of the person who pressed it, so the
// tool checks the permissions of the person and of the bot, and stores the moderation case.

import { type ButtonInteraction, type ModalSubmitInteraction, PermissionFlagsBits } from "discord.js";
import { maxReasonLength } from "../../../discord/text.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said, sayIn } from "../../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import { type ComponentHandler, callerOf } from "../../commands/components.ts";
import { modalOf } from "../../commands/forms.ts";
import type { ReportAct, ReportRow } from "../../store/tables/reports.ts";
import type { CallAs } from "../../tool/call-as.ts";
import { actsOf, type EntryButton, entryPrefix, readButton } from "./report-entry.ts";
import type { Reports } from "./reports.ts";

type Pressed = (ButtonInteraction | ModalSubmitInteraction) & { guildId: string };

type Form = Readonly<Record<"reason" | "duration" | "days", string>>;

interface Field {
	id: keyof Form;
	label: `report.${keyof Form}.label`;
	value?: string;
	max: number;
}

const reason: Field = { id: "reason", label: "report.reason.label", max: maxReasonLength };

const forms: Partial<Record<EntryButton, readonly Field[]>> = {
	warn: [reason],
	timeout: [{ id: "duration", label: "report.duration.label", value: "1h", max: 40 }, reason],
	ban: [{ id: "days", label: "report.days.label", value: "0", max: 1 }, reason],
};

export function createEntryButtons({ reports, callAs }: { reports: Reports; callAs: CallAs }): ComponentHandler {
	async function run(interaction: Pressed, rest: string): Promise<void> {
		const button = readButton(rest);
		if (!button) return;
		const { what, number } = button;
		const fields = forms[what];
		if (fields && !interaction.isModalSubmit()) {
			const row = await reports.find(interaction.guildId, number);
			requireStaff(interaction, row);
			await interaction.showModal(formFor({ what, number, about: row.author_id }, fields, interaction.locale));
			return;
		}
		await deferPrivately(interaction);
		const row = await reports.find(interaction.guildId, number);
		requireStaff(interaction, row);
		const call = (current: ReportRow) => callFor(what as ReportAct, current, readForm(interaction, fields ?? []));
		const text =
			what === "dismiss"
				? await end(row, callerOf(interaction))
				: await reports.act({ ...callerOf(interaction), number, act: what, call });
		await answerPrivately(interaction, text);
	}

	/** As handled if staff acted on it, otherwise as dismissed. */
	async function end(row: ReportRow, caller: ReturnType<typeof callerOf>): Promise<string> {
		const say = sayIn(caller.locale);
		const done = actsOf(row).filter(({ state }) => state === "done");
		const known = done.findLast((act) => act.case !== undefined)?.case;
		const { text, isError } = await callAs({
			...caller,
			command: `report #${row.number}: ${done.length > 0 ? "Done" : "Dismiss"}`,
			tool: "resolve_report",
			args: {
				report: row.number,
				outcome: done.length > 0 ? "handled" : "dismissed",
				...(done.length > 0 && known !== undefined && { case: known }),
			},
		});
		if (isError) return text;
		const others = await reports.openAbout(row.guild_id, row.author_id);
		return [
			say(done.length > 0 ? "report.handled" : "report.dismissed", { number: String(row.number) }),
			...(others.length > 0 ? [say("report.others", { numbers: others.map((one) => `#${one}`).join(", ") })] : []),
		].join("\n");
	}

	return {
		prefix: entryPrefix,
		async run(interaction, rest) {
			if (interaction.isButton() || interaction.isModalSubmit()) await run(interaction, rest);
		},
	};
}

/** Also refuses the reported person, because an action closes the report some time later. Throws a SaidError. */
function requireStaff(
	{ channelId, guild, memberPermissions, user }: Pressed,
	{ author_id, number, entry_channel_id }: ReportRow,
): void {
	const sees = memberPermissions?.has(PermissionFlagsBits.ViewChannel) ?? false;
	if (!sees || channelId === null || channelId !== entry_channel_id)
		throw new SaidError(said("report.refused.not_here", { number: String(number) }));
	if (user.id === author_id && user.id !== guild?.ownerId)
		throw new SaidError(said("report.refused.about_you", { number: String(number) }));
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
			return { tool: "ban", args: { user_ids: [author_id], delete_messages: `${readDays(form.days)}d`, ...given } };
	}
}

function readDays(text: string): number {
	if (/^[0-7]$/.test(text)) return Number(text);
	throw new SaidError(said("report.refused.days"));
}

function readForm(interaction: Pressed, fields: readonly Field[]): Form {
	const form = { reason: "", duration: "", days: "0" };
	if (!interaction.isModalSubmit()) return form;
	for (const { id } of fields) form[id] = interaction.fields.getTextInputValue(id).trim();
	return form;
}

function formFor(
	{ what, number, about }: { what: EntryButton; number: number; about: string },
	fields: readonly Field[],
	locale: string,
) {
	const say = sayIn(locale);
	return modalOf({
		id: `${entryPrefix}:${what}:${number}`,
		title: `${say(`report.${what}.button`)} (#${number})`,
		fields: fields.map(({ label, ...field }) => ({
			...field,
			label: say(label),
			isLong: field.id === "reason",
			// The reason of a warning is required, because the warned person gets it.
			required: field.id !== "reason" || what === "warn",
		})),
		about,
		locale,
	});
}
