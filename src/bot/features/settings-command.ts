// The commands /settings and /setup: a guild's settings by pickers and short forms. Each change is a call of set_settings in
// the person's name.

import { type Guild, MessageFlags, type RepliableInteraction } from "discord.js";
import type { JsonObject } from "../../lib/json.ts";
import { within } from "../../lib/wait.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said, sayIn } from "../../texts/texts.ts";
import { answerPrivately, deferPrivately } from "../commands/answer.ts";
import { type ComponentHandler, type ComponentInteraction, callerOf } from "../commands/components.ts";
import type { Feature, FeatureOptions, MenuHandler } from "../commands/feature.ts";
import { modalOf } from "../commands/forms.ts";
import { requireHeld } from "../commands/who-may.ts";
import { askToApply } from "../moderation/night/notice.ts";
import { isKey, kindOf } from "../settings/keys.ts";
import { defaultOf } from "../settings/of-guild.ts";
import type { PersonResult } from "../tool/call-as.ts";
import { firstStep, formOf, type Page, pageNamed, panelOf, settingsPrefix, valueTyped } from "./settings-panel.ts";

/** Asks for what a scenario can be given. */
function rehearsalForm(scenario: "member" | "document", locale: string) {
	const say = sayIn(locale);
	const kind = scenario === "member" ? { isRoles: true, max: 25 } : { isLong: true, max: 4_000 };
	const [label, hint] = [say(`settings.rehearse.${scenario}.label`), say(`settings.rehearse.${scenario}.hint`)];
	const fields = [{ id: "given", label, hint, required: false, ...kind }];
	return modalOf({ id: `${settingsPrefix}:rehearse:${scenario}`, title: say("settings.form"), locale, fields });
}

export function createSettingsCommand({
	config: { toml, gameVerifyUrl, gameVerifySecret },
	settings,
	connection,
	callAs,
}: Pick<FeatureOptions, "config" | "settings" | "connection" | "callAs">): Feature {
	async function guildOf(interaction: RepliableInteraction): Promise<Guild> {
		// Administrators can let others see the command.
		requireHeld(settings, interaction, { may: "settings" });
		const guild = connection.guild(interaction.guildId ?? "");
		if (!guild?.available) throw new SaidError(said("refusal.offline"));
		await settings.ready();
		return guild;
	}

	/** What the component is to change, by key; undefined: nothing. */
	function wantedBy(interaction: ComponentInteraction, action: string, page: Page, guild: Guild, key: string) {
		if (interaction.isModalSubmit()) {
			const { fields } = interaction;
			const typed = page.keys.filter((one) => fields.fields.has(one));
			return Object.fromEntries(typed.map((one) => [one, valueTyped(one, fields.getTextInputValue(one))]));
		}
		if (!isKey(key) || !page.keys.includes(key)) return undefined;
		if (action === "flag") return { [key]: !(settings.state(guild.id).stored[key] ?? defaultOf(key)) };
		if (!interaction.isAnySelectMenu()) return undefined;
		const { values } = interaction;
		const isOne = kindOf(key) === "channel" || kindOf(key) === "role";
		return { [key]: isOne ? (values[0] ?? null) : values };
	}

	async function change(interaction: ComponentInteraction, action: string, page: Page, rest: readonly string[]) {
		const guild = await guildOf(interaction);
		const [version, key = ""] = rest;
		const isStale = Number(version) !== settings.state(guild.id).version;
		const wanted = isStale ? undefined : wantedBy(interaction, action, page, guild, key);
		// All of these are components of a message, or forms that one opened.
		if (interaction.isModalSubmit() && !interaction.isFromMessage()) return;
		await interaction.deferUpdate();
		const command = page.step === undefined ? "/settings" : "/setup";
		const args = { settings: wanted, if_version: Number(version) };
		const call = { ...callerOf(interaction), tool: "set_settings", args, command };
		const note = isStale ? sayIn(interaction.locale)("settings.stale") : wanted && (await callAs(call)).text;
		await interaction.editReply(panelOf(guild, settings, page, interaction, note));
	}

	async function rehearse(interaction: ComponentInteraction, scenario: string) {
		if ((scenario === "member" || scenario === "document") && !interaction.isModalSubmit())
			return interaction.showModal(rehearsalForm(scenario, interaction.locale));
		const field = interaction.isModalSubmit() && interaction.fields.getField("given");
		const roles = field && "values" in field && { role_ids: [...field.values] };
		const document = field && "value" in field && field.value && { document: field.value };
		const args = { scenario, ...roles, ...document };
		await deferPrivately(interaction);
		let step = "…";
		const reportProgress = (_done: number, _total?: number, message = step) => {
			step = message;
		};
		const call = (tool: string, args: JsonObject) =>
			callAs({ ...callerOf(interaction), tool, args, command: "/settings", reportProgress });
		let result: PersonResult;
		let waitMs = 0;
		do {
			const asked = call("rehearse", args);
			for (; (await within(waitMs, asked)) === "late"; waitMs = 2_000)
				await interaction.editReply(sayIn(interaction.locale)("settings.rehearse.running", { step }));
			result = await asked;
		} while (result.text.startsWith("The rehearsal is running"));
		const { text, advice } = result;
		const plan = advice && (await call("plan_guild", { document: { bot: advice.set } }));
		await answerPrivately(interaction, plan ? `${text}\n${plan.text.replace(/^Estimated time: .*/ms, "")}` : text);
		if (plan) await askToApply(interaction, plan, "apply_guild");
	}

	const component: ComponentHandler = {
		prefix: settingsPrefix,
		async run(interaction, rest) {
			const [action = "", name = "", ...more] = rest.split(":");
			const [picked = ""] = interaction.isStringSelectMenu() ? interaction.values : [];
			if (action === "rehearse") return rehearse(interaction, name || picked);
			const isMenu = interaction.isStringSelectMenu() && action === "page";
			const page = pageNamed(isMenu ? picked : name, settings.keys);
			if (isMenu || action === "step") {
				if (interaction.isModalSubmit()) return;
				const guild = await guildOf(interaction);
				const hasGame = gameVerifyUrl && gameVerifySecret && (toml.game.guilds?.includes(guild.id) ?? true);
				const note = page?.name === "game" && !hasGame ? sayIn(interaction.locale)("settings.no_game") : undefined;
				await interaction.update(panelOf(guild, settings, page, interaction, note));
			} else if (!page) throw new SaidError(said("settings.gone"));
			else if (action === "edit" && interaction.isButton()) {
				const guild = await guildOf(interaction);
				await interaction.showModal(formOf(guild, settings.state(guild.id), page, interaction.locale));
			} else await change(interaction, action, page, more);
		},
	};

	const commandOf = (name: string, page = ""): MenuHandler => ({
		type: "slash",
		name,
		may: "settings",
		options: [],
		async run(interaction) {
			const panel = panelOf(await guildOf(interaction), settings, pageNamed(page, settings.keys), interaction);
			await interaction.reply({ ...panel, flags: MessageFlags.Ephemeral });
		},
	});
	return { menus: [commandOf("settings"), commandOf("setup", firstStep)], components: [component] };
}
