// `nuke`: deletes the latest messages of a channel, and the command itself.

import type { GuildTextBasedChannel, Message } from "discord.js";
import type { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Log } from "../../../lib/log.ts";
import { within } from "../../../lib/wait.ts";
import { ToolError } from "../../../mcp/tool.ts";
import type { Command } from "../../commands/commands.ts";
import { userName } from "../../discord/describe.ts";
import {
	bitsIn,
	describeBits,
	missingToWrite,
	requirePermissions,
} from "../../discord/permissions.ts";
import { wasNotDone } from "../../discord/rest/rest.ts";
import { auditReason } from "../../discord/text.ts";
import {
	bulkDelete,
	isDeletable,
	isTooOldForBulk,
} from "../../messages/bulk-delete.ts";
import { fetchPage } from "../../messages/message-pages.ts";
import { noMentions } from "../../messages/split-message.ts";
import type { ModerationOptions } from "./target.ts";

/** Discord's maximum number of messages per bulk delete request. */
const maxCount = 100;
/** How long the bot's confirmation message stays in the channel before it is deleted. */
const confirmationMs = 5_000;
const shutdownGraceMs = 1_000;
const neededPermissions = [
	"ViewChannel",
	"ReadMessageHistory",
	"ManageMessages",
] as const;

export interface NukeOptions extends ModerationOptions {
	/** Lock per channel id: only one bulk deletion runs in a channel at a time. */
	mutex: KeyedMutex;
	log: Log;
}

/**
 * Creates the chat command nuke, which deletes the latest messages of a channel. The method `close` of the command
 * deletes confirmation messages that are still shown.
 */
export function createNuke(options: NukeOptions) {
	const { prefix, limiter, moderationLog, mutex, log } = options;
	const confirmations = new Map<Message, Timer>();
	const sending = new Set<Promise<void>>();
	let closed = false;

	async function remove(confirmation: Message): Promise<void> {
		clearTimeout(confirmations.get(confirmation));
		confirmations.delete(confirmation);
		try {
			await confirmation.delete();
		} catch (error) {
			log.warn(
				"could not delete the confirmation message of the chat command nuke",
				{
					reason: String((error as Error).message),
				},
			);
		}
	}

	/** Sends a confirmation message and deletes it some seconds later. Logs failures and never rejects. */
	async function confirm(channel: GuildTextBasedChannel, content: string) {
		try {
			const missing = missingToWrite(channel);
			if (missing !== 0n)
				throw new Error(
					`the bot lacks ${describeBits(missing)} in the channel ${channel.id}`,
				);
			const sent = { content, allowedMentions: noMentions };
			const message = await channel.send(sent);
			if (closed) return await remove(message);
			const timer = setTimeout(remove, confirmationMs, message);
			confirmations.set(message, timer);
		} catch (error) {
			// The messages are deleted anyway.
			log.warn(
				"could not send the confirmation message of the chat command nuke",
				{
					reason: String((error as Error).message),
				},
			);
		}
	}

	const command: Command = {
		name: "nuke",
		usage: `<1-${maxCount}>`,
		description: `deletes the latest messages in this channel, up to ${maxCount}`,
		permission: { name: "ManageMessages", in: "channel" },
		limiter,
		async run({ guild, channel, member, message }, rest) {
			const count = /^\d{1,3}$/.test(rest) ? Number(rest) : 0;
			if (count < 1 || count > maxCount)
				throw new ToolError(
					`Write \`${prefix} nuke <1-${maxCount}>\`: how many of the latest messages to delete.`,
				);
			requirePermissions(guild, channel, bitsIn(channel, neededPermissions));
			const reason = auditReason(`nuke ${count} by ${userName(member.user)}`);
			const where = `in <#${channel.id}> (ID: ${channel.id})`;
			const entry = { title: "Nuke", moderatorId: member.id };
			const { deleted, tooOld, undeletable } = await mutex
				.withLock(channel.id, () => deleteBefore(message, count, reason))
				.catch((error) => {
					const description = `Up to ${count} message(s) may have been deleted ${where}: Discord did not confirm it.`;
					const failure = { ...entry, isFailure: true, description };
					if (!wasNotDone(error)) moderationLog.add(guild.id, failure);
					throw error;
				});
			const description = `${deleted} message(s) deleted ${where}.`;
			moderationLog.add(guild.id, { ...entry, description });
			let text = `Deleted ${deleted} message(s).`;
			if (tooOld > 0)
				text += ` Kept ${tooOld}: Discord does not bulk-delete messages older than 14 days.`;
			if (undeletable > 0)
				text += ` Kept ${undeletable}: nobody can delete Discord's notices in a thread.`;
			const confirmed = confirm(channel, text);
			sending.add(confirmed);
			await confirmed.finally(() => sending.delete(confirmed));
			return undefined;
		},
	};
	return {
		command,
		async close() {
			closed = true;
			const removed = [...confirmations.keys()].map(remove);
			await within(shutdownGraceMs, Promise.all([...removed, ...sending]));
		},
	};
}

/**
 * Deletes the command's message and up to `count` messages before it, except messages that Discord does not delete in
 * bulk.
 */
async function deleteBefore(
	message: Message<true>,
	count: number,
	reason: string,
): Promise<{ deleted: number; tooOld: number; undeletable: number }> {
	const { channel } = message;
	const page = await fetchPage(channel, { limit: count, before: message.id });
	const deletable = page.filter(isDeletable).map(({ id }) => id);
	const ids = deletable.filter((id) => !isTooOldForBulk(id));
	const batch = ids.length < maxCount ? [...ids, message.id] : ids;
	await bulkDelete(channel, batch, reason);
	// The others are deleted: failing to delete the command is not worth an error.
	if (batch === ids)
		await bulkDelete(channel, [message.id], reason).catch(() => {});
	return {
		deleted: ids.length,
		tooOld: deletable.length - ids.length,
		undeletable: page.length - deletable.length,
	};
}
