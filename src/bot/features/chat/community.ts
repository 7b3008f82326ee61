// What an AI knows of a community: its tags, its settings that members may know, and the newest messages of its rules channel.

import { type APIMessage, type Client, GatewayDispatchEvents, type Guild, Routes } from "discord.js";
import { truncate } from "../../../discord/text.ts";
import { isPublic } from "../../../discord/visible-channels.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import { messageTexts } from "../../messages/message-lines.ts";

/** Of all tags, and of the rules. */
const maxLength = 8_000;
const rulesMs = 5 * 60_000;
const leftOut = "(too long to stand here: /tag posts it)";

export type Community = ReturnType<typeof createCommunity>;
export type Facts = Awaited<ReturnType<Community["facts"]>>;

export function createCommunity({
	connection,
	settings,
	now,
}: Pick<FeatureOptions, "connection" | "settings"> & { now(): number }) {
	/** By channel. */
	const rules = new Map<string, { until: number; text: Promise<string> }>();

	function rulesIn({ client }: Guild, id: string): Promise<string> {
		const known = rules.get(id);
		if (known && known.until > now()) return known.text;
		const read = client.rest.get(Routes.channelMessages(id), { query: new URLSearchParams({ limit: "5" }) });
		// Without them if the bot cannot read there.
		const text = read.then((messages) => textOf(messages as APIMessage[])).catch(() => "");
		rules.set(id, { until: now() + rulesMs, text });
		return text;
	}

	return {
		attach({ ws }: Client): void {
			const { MessageCreate, MessageUpdate, MessageDelete, MessageDeleteBulk } = GatewayDispatchEvents;
			for (const event of [MessageCreate, MessageUpdate, MessageDelete, MessageDeleteBulk] as const)
				ws.on(event, ({ channel_id }: { channel_id: string }) => rules.delete(channel_id));
		},
		async facts(guildId: string) {
			const guild = connection.guild(guildId);
			if (!guild) return undefined;
			const { tags, ...values } = settings.of(guildId);
			const open = (id: string | null = "") => {
				const channel = guild.channels.cache.get(id ?? "");
				return channel && isPublic(channel) ? channel : undefined;
			};
			const [rulesChannel, welcome] = [open(guild.rulesChannelId), open(values["welcome.channel"])];
			return {
				server: guild.name,
				about: guild.description ?? undefined,
				language: guild.preferredLocale,
				welcome_channel: welcome && `#${welcome.name} ${welcome}`,
				how_to_report: values["moderation.reports"] && "/report, or Report in the menu of a message, tells the staff",
				how_to_appeal: values["moderation.appeal"],
				rules_channel: rulesChannel && `#${rulesChannel.name} ${rulesChannel}`,
				rules: rulesChannel && (await rulesIn(guild, rulesChannel.id)),
				tags: shortened(tags),
			};
		},
	};
}

function textOf(messages: readonly APIMessage[]): string {
	const texts = messages.toReversed().flatMap(messageTexts);
	return truncate(texts.filter((text) => text !== "").join("\n\n"), maxLength);
}

/** All names, and the shortest texts. */
function shortened(tags: Readonly<Record<string, string>>): Record<string, string> {
	const all = Object.entries(tags).sort(([, a], [, b]) => a.length - b.length);
	let left = maxLength - all.map(([name, text]) => name + text.slice(0, leftOut.length)).join("").length;
	const shown = all.map(([name, text]) => {
		left -= Math.max(text.length - leftOut.length, 0);
		return [name, left < 0 ? leftOut : text];
	});
	return Object.fromEntries(shown);
}
