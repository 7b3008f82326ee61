// The buttons of moderation log entries about spam. A button that changes something on Discord calls a tool in the name
// of the person who pressed it, so the tool checks that person's permissions.

import { type ButtonInteraction, PermissionFlagsBits, RESTJSONErrorCodes } from "discord.js";
import { userName } from "../../../discord/describe.ts";
import { absentIf, fetchMember } from "../../../discord/find.ts";
import type { Log } from "../../../lib/log.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import type { ComponentHandler } from "../../commands/components.ts";
import { noMentions } from "../../messages/split-message.ts";
import type { Store } from "../../store/store.ts";
import { selectSpamIncident } from "../../store/tables/spam-incidents.ts";
import { ignoreUnavailable, StoreUnavailable } from "../../store/unavailable.ts";
import type { CallAs } from "../../tool/call-as.ts";
import type { Cases } from "../cases/cases.ts";
import { formatUser } from "../moderation-log.ts";
import type { Allowances } from "./allowances.ts";
import { prefix } from "./log-entry.ts";

const deletedSeconds = 3_600;

export interface ButtonsOptions {
	callAs: CallAs;
	cases: Pick<Cases, "find" | "edit">;
	allowances: Pick<Allowances, "add">;
	store: Pick<Store, "sql">;
	log: Log;
	/** Called when a moderator has ended a person's timeout, so that the person's earlier messages are forgotten. */
	onUndone(guildId: string, userId: string): void;
}

interface Press {
	interaction: ButtonInteraction & { guildId: string };
	userId: string;
	caseNumber: number | undefined;
}

export function createButtons(options: ButtonsOptions): ComponentHandler {
	const { callAs, cases, allowances, store, log, onUndone } = options;
	/** Ids of the log entries with a button that is being handled, because two moderators may press at once. */
	const running = new Set<string>();

	function call({ interaction, userId }: Press, tool: string, more: object) {
		const { guildId, user } = interaction;
		return callAs({
			guildId,
			person: { id: user.id, name: userName(user) },
			tool,
			args: { user_ids: [userId], ...more },
			command: "spam button",
		});
	}

	function about({ caseNumber }: Press): string {
		return caseNumber === undefined ? "spam" : `case ${caseNumber}, spam`;
	}

	async function undo(press: Press): Promise<Answer> {
		const reason = `Undo of ${about(press)}`;
		const { text, isError } = await call(press, "remove_timeout", { reason });
		if (isError) return { text };
		onUndone(press.interaction.guildId, press.userId);
		return { text, note: "Undone" };
	}

	async function ban(press: Press): Promise<Answer> {
		const { text, isError } = await call(press, "ban", {
			delete_message_seconds: deletedSeconds,
			reason: `Ban for ${about(press)}`,
		});
		return isError ? { text } : { text, note: "Banned" };
	}

	async function allow(press: Press): Promise<Answer> {
		const { interaction, userId } = press;
		const { guildId, guild } = interaction;
		const { ModerateMembers } = PermissionFlagsBits;
		// If the timeout has ended, no tool is called that would check the person's permissions.
		if (!interaction.memberPermissions?.has(ModerateMembers))
			throw new ToolError("You need Moderate Members for this.");
		const member = guild && (await fetchMember(guild, userId));
		const isTimedOut = member?.isCommunicationDisabled() ?? false;
		const undone = isTimedOut ? await undo(press) : undefined;
		if (undone && !undone.note) return undone;
		await allowances.add(guildId, userId);
		onUndone(guildId, userId);
		const text = `For 24 hours, the bot does not take the posts of ${formatUser(userId)} for spam.`;
		return { text: [undone?.text ?? "The person is not timed out.", text].join("\n"), note: "It's fine" };
	}

	const actions: Readonly<Record<string, (press: Press) => Promise<Answer>>> = { undo, ban, fine: allow };

	async function note(press: Press, text: string): Promise<void> {
		const { interaction, caseNumber } = press;
		const { guildId, user, message } = interaction;
		try {
			if (caseNumber !== undefined) {
				const found = await cases.find(guildId, caseNumber);
				const reason = [`${text}.`, found?.reason].filter(Boolean).join(" ");
				await cases.edit(guildId, caseNumber, user.id, reason);
			}
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			log.warn("could not note in a case what was done about it", { guild: guildId, case: caseNumber });
		}
		const [embed] = message.embeds;
		const line = `${text} by ${formatUser(user.id)}.`;
		const description = [embed?.description, line].filter(Boolean).join("\n");
		// The log entry may have been deleted.
		await absentIf([RESTJSONErrorCodes.UnknownMessage], () =>
			message.edit({
				embeds: embed ? [{ ...embed.toJSON(), description }] : [],
				components: [],
				allowedMentions: noMentions,
			}),
		);
	}

	async function caseOf(guildId: string, id: string) {
		const row = await selectSpamIncident(store.sql, guildId, id).catch(ignoreUnavailable);
		return row?.case_number ?? undefined;
	}

	return {
		prefix,
		async run(interaction, rest) {
			const [, name = "", userId = "", id = ""] = /^(undo|ban|fine):(\d{1,20}):(\d{1,20})$/.exec(rest) ?? [];
			const action = actions[name];
			if (!action || !interaction.isButton()) throw new ToolError("This button no longer works.");
			await deferPrivately(interaction);
			const { id: entryId } = interaction.message;
			if (running.has(entryId))
				throw new ToolError("Somebody has pressed a button of this entry just now. Nothing was done.");
			running.add(entryId);
			try {
				const caseNumber = await caseOf(interaction.guildId, id);
				const press: Press = { interaction, userId, caseNumber };
				const answer = await action(press);
				await answerPrivately(interaction, answer.text);
				if (answer.note) await note(press, answer.note);
			} finally {
				running.delete(entryId);
			}
		},
	};
}

interface Answer {
	text: string;
	note?: string;
}
