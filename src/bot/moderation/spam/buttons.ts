// The buttons of moderation log entries about spam. A button that changes something on Discord calls a tool in the name
// of the person who pressed it, so the tool checks that person's permissions.

import { type ButtonInteraction, RESTJSONErrorCodes } from "discord.js";
import { absentIf, fetchMember } from "../../../discord/find.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said, sayIn } from "../../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import { type ComponentHandler, callerOf } from "../../commands/components.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import { requireHeld } from "../../commands/who-may.ts";
import { noMentions } from "../../messages/split-message.ts";
import type { Grants } from "../../settings/grants.ts";
import type { Store } from "../../store/store.ts";
import { spamIncidentRows } from "../../store/tables/spam-incidents.ts";
import { ignoreUnavailable, StoreUnavailable } from "../../store/unavailable.ts";
import type { Cases } from "../cases/cases.ts";
import type { Allowances } from "./allowances.ts";
import { prefix } from "./log-entry.ts";

interface ButtonsOptions extends Pick<FeatureOptions, "callAs" | "log"> {
	grants: Grants;
	cases: Pick<Cases, "find" | "edit">;
	allowances: Pick<Allowances, "add">;
	store: Pick<Store, "sql">;
	/** The person's earlier messages are to be forgotten. */
	onUndone(guildId: string, userId: string): void;
}

interface Press {
	interaction: ButtonInteraction & { guildId: string };
	userId: string;
	caseNumber: number | undefined;
}

export function createButtons(options: ButtonsOptions): ComponentHandler {
	const { grants, callAs, cases, allowances, store, log, onUndone } = options;
	/** By log entry, because two moderators may press at once. */
	const running = new Set<string>();

	function call({ interaction, userId }: Press, tool: string, more: object) {
		return callAs({ ...callerOf(interaction), tool, args: { user_ids: [userId], ...more }, command: "spam button" });
	}

	function about({ caseNumber }: Press): string {
		return caseNumber === undefined ? "spam" : `case ${caseNumber}, spam`;
	}

	async function undo(press: Press): Promise<Answer> {
		const reason = `Undo of ${about(press)}`;
		const { text, isError } = await call(press, "remove_timeout", { reason });
		if (isError) return { text, isDone: false };
		onUndone(press.interaction.guildId, press.userId);
		return { text, isDone: true };
	}

	async function ban(press: Press): Promise<Answer> {
		const { text, isError } = await call(press, "ban", { delete_messages: "1h", reason: `Ban for ${about(press)}` });
		return { text, isDone: !isError };
	}

	async function allow(press: Press): Promise<Answer> {
		const { interaction, userId } = press;
		const { guildId, guild } = interaction;
		const member = guild && (await fetchMember(guild, userId));
		const isTimedOut = member?.isCommunicationDisabled() ?? false;
		const undone = isTimedOut ? await undo(press) : undefined;
		if (undone && !undone.isDone) return undone;
		await allowances.add(guildId, userId);
		onUndone(guildId, userId);
		const say = sayIn(interaction.locale);
		const text = say("spam.allowed", { user: `<@${userId}>` });
		return { text: [undone?.text ?? say("spam.ended"), text].join("\n"), isDone: true };
	}

	const actions = { undo, ban, fine: allow };

	async function note({ interaction, caseNumber }: Press, name: keyof typeof actions): Promise<void> {
		const { guildId, guildLocale, user, message } = interaction;
		try {
			if (caseNumber !== undefined) {
				const found = await cases.find(guildId, caseNumber);
				const reason = [`${caseNotes[name]}.`, found?.reason].filter(Boolean).join(" ");
				await cases.edit(guildId, caseNumber, user.id, reason);
			}
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			log.warn("could not note in a case what was done about it", { guild: guildId, case: caseNumber });
		}
		const [embed] = message.embeds;
		const line = sayIn(guildLocale)(`spam.${name}`, { moderator: `<@${user.id}>` });
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

	return {
		prefix,
		async run(interaction, rest) {
			const [, name = "", userId = "", id = ""] = /^(undo|ban|fine):(\d{1,20}):(\d{1,20})$/.exec(rest) ?? [];
			if (!isName(name) || !interaction.isButton()) throw new SaidError(said("spam.button.unknown"));
			// If the timeout has ended, "fine" calls no tool that would check the person's permissions.
			requireHeld(grants, interaction, { may: name === "ban" ? "ban" : "timeout" });
			await deferPrivately(interaction);
			const { id: entryId } = interaction.message;
			if (running.has(entryId)) throw new SaidError(said("spam.pressed"));
			running.add(entryId);
			try {
				const row = await spamIncidentRows
					.first(store.sql, { guild_id: interaction.guildId, id })
					.catch(ignoreUnavailable);
				const press: Press = { interaction, userId, caseNumber: row?.case_number ?? undefined };
				const { text, isDone } = await actions[name](press);
				await answerPrivately(interaction, text);
				if (isDone) await note(press, name);
			} finally {
				running.delete(entryId);
			}
		},
	};
}

interface Answer {
	text: string;
	isDone: boolean;
}

/** The start of the case's reason from then on. */
const caseNotes = { undo: "Undone", ban: "Banned", fine: "It's fine" } as const;

const isName = (name: string): name is keyof typeof caseNotes => Object.hasOwn(caseNotes, name);
