// The command /rolemenu: a private message in which a person makes a role menu. It shows and keeps what they chose; posting is a
// call of create_role_menu in their name.

import {
	type APIRoleSelectComponent,
	ButtonStyle,
	ComponentType,
	EmbedBuilder,
	type Guild,
	type Message,
	MessageFlags,
	type RepliableInteraction,
} from "discord.js";
import { maxRoles, menuPrefix } from "../../../discord/role-menu.ts";
import { truncate } from "../../../discord/text.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said, sayIn } from "../../../texts/texts.ts";
import { type ComponentHandler, type ComponentInteraction, callerOf } from "../../commands/components.ts";
import type { FeatureOptions, MenuHandler } from "../../commands/feature.ts";
import { modalOf } from "../../commands/forms.ts";
import { requireHeld } from "../../commands/who-may.ts";
import { buttonRow, pickedTypes, pickerRow, type Row, rowOf } from "../../messages/buttons.ts";
import { noMentions } from "../../messages/split-message.ts";
import { maxContent } from "./menu-tool.ts";

// Not `menuPrefix`, which makes a message a role menu.
const prefix = "menubuilder";

/** custom_id of a button that opens the builder. */
export const openBuilder = `${prefix}:open`;

const maxTitle = 256;
const forms = ["buttons_any", "buttons_one", "select_any", "select_one"] as const;

interface Draft {
	title?: string | null | undefined;
	content?: string | null | undefined;
	/** What is chosen in the select menus, by the end of their custom_id. */
	chosen: Partial<Record<string, readonly string[]>>;
}

/** From the builder's message. */
function draftOf({ embeds: [embed], components }: Message): Draft {
	const chosen = (components.map((one) => one.toJSON()) as Row[]).flatMap(({ components: [part] }) => {
		if (!part || part.type === ComponentType.Button) return [];
		const { default_values = [] } = part as APIRoleSelectComponent;
		const isForm = part.type === ComponentType.StringSelect;
		const options = isForm ? part.options.filter((one) => one.default).map(({ value }) => value) : [];
		return [[part.custom_id.slice(prefix.length + 1), [...options, ...default_values.map(({ id }) => id)]]];
	});
	return { title: embed?.title, content: embed?.description, chosen: Object.fromEntries(chosen) };
}

function panelOf(guild: Guild, draft: Draft, locale: string, note?: string) {
	const say = sayIn(locale);
	const { roles = [], channel = [], form: [form = forms[0]] = [] } = draft.chosen;
	const { title = null, content } = draft;
	const text = content ?? (title ? null : sayIn(guild.preferredLocale)("menu.content"));
	const idOf = (name: string) => `${prefix}:${name}`;
	const picker = (kind: "role" | "channel", name: "roles" | "channel", max_values: number) => {
		const look = { custom_id: idOf(name), placeholder: say(`menu.builder.${name}`), min_values: 0, max_values };
		return pickerRow(guild, kind, look, draft.chosen[name] ?? []);
	};
	const options = forms.map((value) => ({ label: say(`menu.builder.${value}`), value, default: value === form }));
	const disabled = roles.length === 0 || channel.length === 0;
	return {
		content: truncate(note ?? say("menu.builder"), maxContent),
		embeds: [new EmbedBuilder().setTitle(title).setDescription(text)],
		components: [
			picker("role", "roles", maxRoles),
			picker("channel", "channel", 1),
			rowOf({ type: ComponentType.StringSelect, custom_id: idOf("form"), options }),
			buttonRow([
				{ id: idOf("edit"), label: say("menu.builder.edit"), style: ButtonStyle.Secondary },
				{ id: idOf("post"), label: say("menu.builder.post"), style: ButtonStyle.Success, disabled },
			]),
		],
		allowedMentions: noMentions,
	};
}

function formOf({ title, content }: Draft, locale: string) {
	const say = sayIn(locale);
	// The message has both, with "## " before and a line break between them.
	const max = maxContent - maxTitle - 4;
	const fields = [
		{ id: "title", label: say("menu.builder.title"), required: false, max: maxTitle, value: title ?? "" },
		{ id: "content", label: say("menu.builder.text"), isLong: true, required: false, max, value: content ?? "" },
	];
	return modalOf({ id: `${prefix}:typed`, title: say("menu.builder.edit"), locale, fields });
}

export function createMenuBuilder({ connection, settings, callAs }: FeatureOptions) {
	function guildOf({ guildId }: RepliableInteraction): Guild {
		const guild = connection.guild(guildId ?? "");
		if (!guild?.available) throw new SaidError(said("refusal.offline"));
		return guild;
	}

	async function open(interaction: RepliableInteraction): Promise<void> {
		requireHeld(settings, interaction, menu);
		const { channel, locale } = interaction;
		const isShown = pickedTypes.some((type) => type === channel?.type);
		const chosen = { channel: channel && isShown ? [channel.id] : [] };
		const panel = panelOf(guildOf(interaction), { chosen }, locale);
		await interaction.reply({ ...panel, flags: MessageFlags.Ephemeral });
	}

	async function post(interaction: ComponentInteraction, draft: Draft): Promise<void> {
		await interaction.deferUpdate();
		const { title, content, chosen } = draft;
		const { roles: role_ids, channel: [channel_id] = [], form: [form = ""] = [] } = chosen;
		const [style, count] = form.split("_");
		const texts = { ...(title && { title }), ...(content && { content }) };
		const args = { channel_id, role_ids, style, ...texts, ...(count === "one" && { max: 1 }) };
		const call = { ...callerOf(interaction), tool: "create_role_menu", args, command: `/${menuPrefix}` };
		const { text, isError } = await callAs(call);
		const panel = panelOf(guildOf(interaction), draft, interaction.locale, text);
		await interaction.editReply(isError ? panel : { ...panel, embeds: [], components: [] });
	}

	const component: ComponentHandler = {
		prefix,
		async run(interaction, action) {
			const { message } = interaction;
			// Others can send components with any custom_id by a webhook of the bot, but not privately.
			if (!message?.flags.has(MessageFlags.Ephemeral)) throw new SaidError(said("menu.unknown"));
			const draft = draftOf(message);
			if (action === "open") return open(interaction);
			if (action === "post") return post(interaction, draft);
			if (interaction.isButton()) return void (await interaction.showModal(formOf(draft, interaction.locale)));
			if (interaction.isAnySelectMenu()) draft.chosen[action] = interaction.values;
			else if (interaction.isFromMessage()) {
				const typed = (id: string) => interaction.fields.getTextInputValue(id).trim() || null;
				Object.assign(draft, { title: typed("title"), content: typed("content") });
			} else return;
			await interaction.update(panelOf(guildOf(interaction), draft, interaction.locale));
		},
	};

	const menu: MenuHandler = { type: "slash", name: menuPrefix, permission: "ManageRoles", options: [], run: open };
	return { menu, component };
}
