// /tag posts one of the texts that a guild keeps in its setting "tags", and /tag-edit writes one. Posting is for everyone.

import * as v from "valibot";
import { similar } from "../../lib/config.ts";
import { SaidError } from "../../texts/said-error.ts";
import { inList, said, sayIn } from "../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../commands/answer.ts";
import { callerOf } from "../commands/components.ts";
import { Limiter } from "../commands/cooldown.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import { modalOf } from "../commands/forms.ts";
import { requireHeld } from "../commands/who-may.ts";
import { tagName } from "../config/values.ts";
import { noMentions } from "../messages/split-message.ts";

const nameIn = (typed: string) => typed.trim().toLowerCase();

export function createTags({ config, settings, callAs }: FeatureOptions): Feature {
	const { moderation, game } = config.toml.features;
	const limiter = new Limiter({ max: 10, windowMs: 60_000 });
	const tagsOf = (guildId: string) => new Map(Object.entries(settings.of(guildId).tags));

	/** Those that begin like it, have it in them or are similar; all if there are none. */
	function suggest(guildId: string, typed: string): readonly string[] {
		const [all, name] = [[...tagsOf(guildId).keys()], nameIn(typed)];
		const starting = all.filter((one) => one.startsWith(name));
		const found = new Set([...starting, ...all.filter((one) => one.includes(name)), ...similar(name, all)]);
		return found.size > 0 ? [...found] : all;
	}

	function textOf(guildId: string, typed: string): string {
		const text = tagsOf(guildId).get(nameIn(typed));
		if (text !== undefined) return text;
		const names = suggest(guildId, typed).map((one) => `\`${one}\``);
		if (names.length > 0) throw new SaidError(said("tag.unknown", { names: names.slice(0, 10).join(", ") }));
		const roles = settings.of(guildId)["may.tags"].map((id) => `<@&${id}>`);
		throw new SaidError(said("tag.none", { who: inList([said("permission.ManageGuild"), ...roles]) }));
	}

	const options = [{ name: "name", kind: "text", required: true, min: 1, max: 32, suggest }] as const;
	return {
		// Others have no chat commands.
		commands:
			moderation || game
				? [{ name: "tag", usage: "<name>", limiter, run: async ({ guild }, rest) => textOf(guild.id, rest) }]
				: [],
		menus: [
			{
				type: "slash",
				name: "tag",
				options,
				async run(interaction) {
					const { guildId, user, options } = interaction;
					const content = textOf(guildId, options.getString("name", true));
					limiter.require(`${guildId} ${user.id}`);
					await interaction.reply({ content, allowedMentions: noMentions });
				},
			},
			{
				type: "slash",
				name: "tag-edit",
				may: "tags",
				options,
				async run(interaction) {
					requireHeld(settings, interaction, { may: "tags" });
					const { guildId, options, locale } = interaction;
					const tag = nameIn(options.getString("name", true));
					if (!v.is(tagName, tag)) throw new SaidError(said("tag.bad_name"));
					const say = sayIn(locale);
					const labels = { label: say("menu.builder.text"), hint: say("tag.text.hint") };
					const fields = [
						{ id: "text", ...labels, isLong: true, required: false, max: 2_000, value: tagsOf(guildId).get(tag) },
					];
					await interaction.showModal(modalOf({ id: `tag:${tag}`, title: `/tag ${tag}`, fields, locale }));
				},
			},
		],
		components: [
			{
				prefix: "tag",
				async run(interaction, tag) {
					if (!interaction.isModalSubmit()) return;
					await deferPrivately(interaction);
					const settings = { [`tags.${tag}`]: interaction.fields.getTextInputValue("text") };
					const call = { ...callerOf(interaction), tool: "set_settings", args: { settings }, command: "/tag-edit" };
					await answerPrivately(interaction, (await callAs(call)).text);
				},
			},
		],
	};
}
