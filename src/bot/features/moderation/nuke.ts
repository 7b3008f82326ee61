// `nuke`: deletes the latest messages of a channel, and itself.

import {
	type GuildTextBasedChannel,
	type Message,
	PermissionFlagsBits,
} from "discord.js";
import type { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Log } from "../../../lib/log.ts";
import { ToolError } from "../../../mcp/tool.ts";
import type { Command } from "../../commands/commands.ts";
import type { Limiter } from "../../commands/cooldown.ts";
import { userName } from "../../discord/describe.ts";
import {
	describeBits,
	missingToWrite,
	requirePermissions,
} from "../../discord/permissions.ts";
import { wasNotDone } from "../../discord/rest/rest.ts";
import { auditReason } from "../../discord/text.ts";
import { bulkDelete, isTooOldForBulk } from "../../messages/bulk-delete.ts";
import { fetchPage } from "../../messages/message-pages.ts";
import { noMentions } from "../../messages/split-message.ts";
import type { ModerationLog } from "./moderation-log.ts";

/** As many as Discord deletes at once. */
const most = 100;
/** How long the notice stays. */
const noticeMs = 5_000;
/** How long notices are waited for at the end. */
const farewellMs = 1_000;

export interface NukeOptions {
	/** What chat commands begin with, for the usage. */
	prefix: string;
	limiter: Limiter;
	moderationLog: Pick<ModerationLog, "tell">;
	/** What deletes in a channel, by its id. */
	mutex: KeyedMutex;
	log: Log;
	noticeMs?: number;
}

/** The command, and the end of it: notices that still stand go. */
export function createNuke(options: NukeOptions): {
	command: Command;
	close(): Promise<void>;
} {
	const { prefix, limiter, moderationLog, mutex, log } = options;
	const notices = new Map<Message, Timer>();
	const sending = new Set<Promise<void>>();
	let closed = false;

	async function take(notice: Message): Promise<void> {
		clearTimeout(notices.get(notice));
		notices.delete(notice);
		try {
			await notice.delete();
		} catch (error) {
			log.warn("a notice stays", { reason: String((error as Error).message) });
		}
	}

	/** Says something that goes after a while, where the bot may write. Never rejects. */
	async function say(
		channel: GuildTextBasedChannel,
		content: string,
	): Promise<void> {
		try {
			const missing = missingToWrite(channel);
			if (missing !== 0n)
				throw new Error(`the bot lacks ${describeBits(missing)} there`);
			const notice = await channel.send({
				content,
				allowedMentions: noMentions,
			});
			const ms = options.noticeMs ?? noticeMs;
			if (closed) await take(notice);
			else notices.set(notice, setTimeout(take, ms, notice));
		} catch (error) {
			// What it would say is done all the same.
			log.warn("could not say what was deleted", {
				reason: String((error as Error).message),
			});
		}
	}

	const command: Command = {
		name: "nuke",
		usage: `<1-${most}>`,
		description: `deletes so many of the latest messages here, up to ${most}`,
		permission: { name: "ManageMessages", in: "channel" },
		limiter,
		async run({ guild, channel, member, message }, rest) {
			const count = /^\d{1,3}$/.test(rest) ? Number(rest) : 0;
			if (count < 1 || count > most)
				throw new ToolError(
					`Write \`${prefix} nuke <1-${most}>\`: how many of the latest messages to delete.`,
				);
			const { ManageMessages, ReadMessageHistory, ViewChannel } =
				PermissionFlagsBits;
			requirePermissions(
				guild,
				channel,
				ViewChannel | ReadMessageHistory | ManageMessages,
			);
			const by = member.id;
			const reason = auditReason(`nuke ${count} by ${userName(member.user)}`);
			const where = `in <#${channel.id}> (ID: ${channel.id})`;
			const note = { title: "Nuke", by };
			const { deleted, left } = await mutex
				.withLock(channel.id, () => deleteBefore(message, count, reason))
				.catch((error) => {
					const what = `It is not known whether up to ${count} message(s) were deleted ${where}.`;
					if (!wasNotDone(error))
						moderationLog.tell(guild.id, { ...note, isTrouble: true, what });
					throw error;
				});
			const what = `${deleted} message(s) deleted ${where}.`;
			moderationLog.tell(guild.id, { ...note, what });
			const kept =
				left > 0 ? ` ${left} over 14 days old cannot go this way.` : "";
			const said = say(channel, `Deleted ${deleted} message(s).${kept}`);
			sending.add(said);
			await said.finally(() => sending.delete(said));
			return undefined;
		},
	};
	return {
		command,
		async close() {
			closed = true;
			const last = Promise.all([...[...notices.keys()].map(take), ...sending]);
			await Promise.race([last, Bun.sleep(farewellMs)]);
		},
	};
}

/** Deletes the latest `count` messages before this one, as far as they are young enough, and this one. */
async function deleteBefore(
	message: Message<true>,
	count: number,
	reason: string,
): Promise<{ deleted: number; left: number }> {
	const { channel } = message;
	const page = await fetchPage(channel, { limit: count, before: message.id });
	const ids = page.map(({ id }) => id).filter((id) => !isTooOldForBulk(id));
	const together = ids.length < most ? [...ids, message.id] : ids;
	await bulkDelete(channel, together, reason);
	// That it may stay is no reason to say that nothing was done.
	if (together === ids)
		await bulkDelete(channel, [message.id], reason).catch(() => {});
	return { deleted: ids.length, left: page.length - ids.length };
}
