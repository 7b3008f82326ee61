// The menu command "Delete and warn" of a message: a form asks why, then the message is deleted and its author is warned.

import { maxReasonLength } from "../../discord/text.ts";
import { sayIn } from "../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../commands/answer.ts";
import { type ComponentHandler, callerOf } from "../commands/components.ts";
import { modalOf } from "../commands/forms.ts";
import type { MenuHandler } from "../commands/menus.ts";
import type { CallAs } from "../tool/call-as.ts";

export const deleteAndWarnName = "Delete and warn";
const prefix = "delwarn";

export function createDeleteAndWarn(callAs: CallAs): { menu: MenuHandler; component: ComponentHandler } {
	return {
		menu: {
			type: "message",
			name: deleteAndWarnName,
			may: "warn",
			async run(interaction) {
				const { targetMessage, targetId, channelId } = interaction;
				const ids = [channelId, targetId, targetMessage.author.id] as const;
				await interaction.showModal(formFor(ids, interaction.locale));
			},
		},
		component: {
			prefix,
			async run(interaction, rest) {
				if (!interaction.isModalSubmit()) return;
				await deferPrivately(interaction);
				const [channel_id = "", messageId = "", userId = ""] = rest.split(":");
				const reason = interaction.fields.getTextInputValue("reason").trim();
				const call = { ...callerOf(interaction), command: deleteAndWarnName };
				const deleted = await callAs({
					...call,
					tool: "delete_messages",
					args: { channel_id, message_ids: [messageId], reason },
				});
				if (deleted.isError) {
					const text = `${deleted.text}\n${sayIn(interaction.locale)("case.nobody_warned")}`;
					return answerPrivately(interaction, text);
				}
				const warned = await callAs({
					...call,
					tool: "warn_member",
					args: { user_ids: [userId], reason, message_ids: [messageId] },
				});
				const text = `${deleted.text}\n${warned.text}`;
				await answerPrivately(interaction, text);
			},
		},
	};
}

function formFor(ids: readonly [channelId: string, messageId: string, userId: string], locale: string) {
	const say = sayIn(locale);
	const label = say("case.reason.label");
	return modalOf({
		id: [prefix, ...ids].join(":"),
		title: say("command.menu.delete_and_warn.name"),
		fields: [{ id: "reason", label, hint: say("case.reason.hint"), isLong: true, max: maxReasonLength }],
		about: ids[2],
		locale,
	});
}
