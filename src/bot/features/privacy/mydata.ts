// /privacy and /mydata: what is stored of people in this guild, a file of it, erasing it, and AI chat off for oneself.

import { ButtonStyle, MessageFlags, type RepliableInteraction } from "discord.js";
import { type Say, sayIn } from "../../../texts/texts.ts";
import { deferPrivately } from "../../commands/answer.ts";
import type { ComponentInteraction } from "../../commands/components.ts";
import { Limiter } from "../../commands/cooldown.ts";
import type { Feature, FeatureOptions, MenuHandler } from "../../commands/feature.ts";
import { buttonRow } from "../../messages/buttons.ts";
import { erasePerson, exportPerson } from "../../store/personal-data.ts";

const personOf = ({ guildId, user }: RepliableInteraction) => ({ guild: guildId ?? "", user: user.id });

/** "ask" asks whether to "erase". */
type Action = "file" | "on" | "off" | "ask" | "erase";

function buttons(say: Say, ...actions: readonly Action[]) {
	const styleOf = (one: Action) => (one === "erase" ? (ButtonStyle.Danger as const) : (ButtonStyle.Secondary as const));
	const labelOf = (one: Action) => say(`mydata.${one}.button`);
	return [buttonRow(actions.map((one) => ({ id: `mydata:${one}`, label: labelOf(one), style: styleOf(one) })))];
}

export function createMyData({ config, store, settings, ai, chatPrivacy }: FeatureOptions): Feature {
	const often = new Limiter({ max: 10, windowMs: 60_000 });
	// Who erases their reports can report again.
	const rarely = new Limiter({ max: 2, windowMs: 3_600_000 });

	const limit = (by: Limiter, interaction: RepliableInteraction) =>
		by.require(Object.values(personOf(interaction)).join());

	function describe(guild: string, say: Say): string {
		const { chat, features, mcp } = config.toml;
		const keep = settings.of(guild);
		const days = (count?: number) => (count === undefined ? say("privacy.for_good") : say("answer.days", { count }));
		const providers = (features.chat && ai?.providers.join(", ")) || undefined;
		const isLogged = features.moderation && (keep["log.messages"] !== undefined || keep["log.evidence"]);
		return say("privacy.text", {
			messages: say(isLogged ? "privacy.messages" : "setting.off"),
			cases: days(keep["keep.cases_days"]),
			reports: days(keep["keep.reports_days"]),
			calls: days(Math.min(keep["keep.calls_days"] ?? mcp.audit_days, mcp.audit_days)),
			chat: providers ? say("privacy.chat", { time: days(chat.keep_days), providers }) : say("setting.off"),
			game: features.game ? `\n${say("privacy.game")}` : "",
		});
	}

	async function panel(interaction: RepliableInteraction, say: Say) {
		const { guild, user } = personOf(interaction);
		const isOff = (await chatPrivacy.off(guild))(user);
		return { content: say("mydata.text"), components: buttons(say, "file", isOff ? "on" : "off", "ask") };
	}

	const commandOf = (name: string): MenuHandler => ({
		type: "slash",
		name,
		options: [],
		async run(interaction) {
			limit(often, interaction);
			const say = sayIn(interaction.locale);
			const isPanel = name === "mydata";
			const answer = isPanel ? await panel(interaction, say) : { content: describe(interaction.guildId, say) };
			await interaction.reply({ ...answer, flags: MessageFlags.Ephemeral });
		},
	});

	async function press(interaction: ComponentInteraction, action: string): Promise<void> {
		if (!interaction.isButton()) return;
		const say = sayIn(interaction.locale);
		const person = personOf(interaction);
		if (action === "file") {
			limit(often, interaction);
			await deferPrivately(interaction);
			const text = Buffer.from(JSON.stringify(await exportPerson(store.sql, person), withTimes, "\t"));
			const file =
				text.length > interaction.attachmentSizeLimit
					? { name: "mydata.json.gz", attachment: Buffer.from(Bun.gzipSync(text)) }
					: { name: "mydata.json", attachment: text };
			return void (await interaction.editReply({ files: [file] }));
		}
		await interaction.deferUpdate();
		if (action === "ask")
			await interaction.editReply({ content: say("mydata.ask"), components: buttons(say, "erase") });
		else if (action === "erase") {
			limit(rarely, interaction);
			chatPrivacy.onErase?.(person);
			const kept = Object.entries(await erasePerson(store, person)).map(
				([name, { length }]) => `\`${name}\`: ${length}`,
			);
			await interaction.editReply({ content: say("mydata.erased", { kept: kept.join(", ") || "–" }), components: [] });
		} else {
			await chatPrivacy.set(person, action === "off" ? Date.now() : undefined);
			await interaction.editReply(await panel(interaction, say));
		}
	}

	return { menus: [commandOf("privacy"), commandOf("mydata")], components: [{ prefix: "mydata", run: press }] };
}

function withTimes(column: string, value: unknown): unknown {
	return typeof value === "number" && /(?:^|_)(?:at|until|day)$/.test(column) ? new Date(value) : value;
}
