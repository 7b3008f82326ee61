// Tells a guild that a channel or role of one of its settings was deleted: as it happens, so once. What is deleted while the
// bot is away is found by the checks.

import { Colors, EmbedBuilder, Events, type Guild } from "discord.js";
import { said, sayIn, type TextKey } from "../../texts/texts.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import { createEmbedQueue } from "../messages/embed-queue.ts";
import { isKey, sectionOf } from "../settings/keys.ts";
import { referencesIn } from "../settings/of-guild.ts";

export function createLostSettings({ settings, connection, log }: FeatureOptions): Feature {
	const queue = createEmbedQueue({ connection, log, setting: "moderation.log_channel" });

	function tell(guild: Guild, kind: "channel" | "role", id: string): void {
		const { stored, values } = settings.state(guild.id);
		const keys = referencesIn(stored).flatMap((one) => (one.id === id && isKey(one.key) ? one.key : []));
		const logs = [values["moderation.log_channel"] ?? "", values["audit.channel"] ?? ""];
		const place = logs.find((one) => one !== id && guild.channels.cache.has(one));
		if (keys.length === 0 || place === undefined) return;
		const embed = () => {
			const lines = [...new Set(keys)].map((key) => {
				const section = said(`setting.section.${sectionOf(key)}.label` as TextKey as "setting.section.spam.label");
				return sayIn(guild.preferredLocale)(`setting.lost.${kind}`, { section, label: said(`setting.${key}.label`) });
			});
			return new EmbedBuilder().setColor(Colors.Orange).setDescription(lines.join("\n"));
		};
		queue.push(guild.id, { channelId: () => place, embed });
	}

	return {
		attach(client) {
			client.on(Events.ChannelDelete, (channel) => {
				if (!channel.isDMBased()) tell(channel.guild, "channel", channel.id);
			});
			client.on(Events.GuildRoleDelete, ({ guild, id }) => tell(guild, "role", id));
		},
		close: queue.settled,
	};
}
