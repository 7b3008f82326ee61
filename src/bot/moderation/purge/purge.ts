// Commands that delete messages: /purge, and the chat command nuke.

import type { Message } from "discord.js";
import { missingToWrite } from "../../../discord/permissions.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { Log } from "../../../lib/log.ts";
import { readDuration } from "../../../lib/times.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { within } from "../../../lib/wait.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said } from "../../../texts/texts.ts";
import { type Action, type ActionOption, announceOption } from "../../commands/action.ts";
import type { Command } from "../../commands/commands.ts";
import { type Feature, type FeatureOptions, Pending } from "../../commands/feature.ts";
import { noMentions } from "../../messages/split-message.ts";
import { type ServerLog, serverLogs } from "../../settings/keys.ts";
import { Delayed } from "../delayed.ts";
import { purgeTool, purgeToolName } from "./purge-tool.ts";

const maxNuked = 100;
const manyMessages = 20;
const confirmationMs = 5_000;
const shutdownGraceMs = 1_000;

const moreOptions: readonly ActionOption[] = [
	{ name: "channel", kind: "channel", argument: "channel_ids", several: true },
	{ name: "pinned", kind: "flag", argument: "pinned" },
	{ name: "reason", kind: "reason", argument: "reason" },
	announceOption,
];

const withinOption = (argument: string, suggestions: readonly string[]): ActionOption => ({
	name: "within",
	kind: "duration",
	argument,
	required: true,
	suggestions,
});

/** Otherwise a purge with a count would delete older messages for those that were deleted since the dry run. */
function limitToFound(args: JsonObject, basis: readonly string[]): JsonObject | undefined {
	const ids = basis.map((line) => line.split("/").at(-1) ?? "");
	const sorted = ids.toSorted(compareIds);
	const [oldest] = sorted;
	const newest = sorted.at(-1);
	if (oldest === undefined || newest === undefined) return undefined;
	const after = String(BigInt(oldest) - 1n);
	return { ...args, after, before: String(BigInt(newest) + 1n) };
}

const common = { tool: purgeToolName, may: "purge", heavy: true, complete: atCommand, limitTo: limitToFound } as const;

/** None that were written after the command. Durations become times; the tool validates other texts. */
function atCommand(args: JsonObject, at: number): JsonObject {
	const timeAgo = (value: unknown) => {
		const ms = readDuration(String(value));
		return ms !== undefined && ms < at ? iso(at - ms) : value;
	};
	const { after, joined_after } = args;
	// The end is 1 ms later, so that the range includes the time of the command itself.
	const end = iso(at + 1);
	return {
		...args,
		before: end,
		...(after !== undefined && { after: timeAgo(after) }),
		...(joined_after !== undefined && { joined_after: timeAgo(joined_after), joined_before: end }),
	};
}

const iso = (ms: number) => new Date(ms).toISOString();

export const purgeActions: readonly Action[] = [
	{
		...common,
		name: "purge latest",
		options: [
			{ name: "count", kind: "integer", argument: "count", required: true, min: 1, max: 10_000 },
			...moreOptions,
		],
		here: "channel_ids",
		confirm: ({ count }) => Number(count) > manyMessages,
	},
	{
		...common,
		name: "purge user",
		options: [
			{ name: "user", kind: "user", argument: "user_ids", required: true, several: true },
			withinOption("after", ["10m", "1h", "6h", "1d", "3d", "7d", "13d"]),
			...moreOptions,
		],
		confirm: () => true,
	},
	{
		...common,
		name: "purge joined",
		options: [withinOption("joined_after", ["10m", "30m", "1h", "6h", "1d"]), ...moreOptions],
		confirm: () => true,
	},
];

type PurgeOptions = Pick<FeatureOptions, "config" | "settings" | "callAs" | "log">;

export function createPurge(options: PurgeOptions) {
	const nuke = createNuke(options);
	const logs = ["messages", ...serverLogs].map((kind) => `log.${kind}` as `log.${ServerLog | "messages"}`);
	const recordKeys = [
		"moderation.log_channel",
		"moderation.reports",
		"audit.channel",
		"approval.channel",
		...logs,
	] as const;
	const recordChannels = (guildId: string) => {
		const values = options.settings.of(guildId);
		return new Set(recordKeys.flatMap((key) => values[key] ?? []));
	};
	return {
		tools: [purgeTool(recordChannels)],
		actions: purgeActions,
		commands: [nuke.command],
		close: nuke.close,
	} satisfies Feature;
}

function createNuke({ config, callAs, log }: PurgeOptions) {
	const confirmations = createConfirmations(log);
	const command: Command = {
		name: "nuke",
		usage: `<1-${maxNuked}>`,
		may: "purge",
		heavy: true,
		async run({ guild, channel, member, message }, rest) {
			const count = /^\d{1,3}$/.test(rest) ? Number(rest) : 0;
			const name = `${config.command} nuke`;
			if (count < 1 || count > maxNuked) throw new SaidError(said("purge.nuke", { command: name, max: maxNuked }));
			const { text, isError, wrote } = await callAs({
				guildId: guild.id,
				person: { id: member.id, name: member.user.username },
				command: name,
				tool: purgeToolName,
				args: {
					channel_ids: [channel.id],
					// Also deletes the message with the command, but nothing that was written after it.
					count: count + 1,
					before: String(BigInt(message.id) + 1n),
					// Discord deletes messages older than 14 days only one by one.
					after: "14d",
				},
			});
			if (isError) throw new ToolError(text, wrote ? { cause: text } : undefined);
			// The other lines of the result are for MCP clients.
			const [first = ""] = text.split("\n");
			await confirmations.post(message, first);
			return undefined;
		},
	};
	return { command, close: confirmations.close };
}

function createConfirmations(log: Log) {
	const removals = new Delayed();
	const sending = new Pending();
	const failed = (what: string) => (error: Error) => {
		log.warn(`could not ${what} the confirmation of the chat command nuke`, { reason: error.message });
	};

	async function send({ channel }: Message<true>, content: string): Promise<void> {
		if (missingToWrite(channel) !== 0n) throw new Error(`the bot may not write in the channel ${channel.id}`);
		const message = await channel.send({ content, allowedMentions: noMentions });
		removals.add(confirmationMs, () => message.delete().then(() => {}, failed("delete")));
	}

	return {
		/** Never rejects: without a confirmation, the purge itself has still succeeded. */
		post: (message: Message<true>, text: string) => sending.add(send(message, text).catch(failed("send"))),
		/** Removes those that are shown, and those that are being sent. */
		async close() {
			const sent = sending.settled().then(() => removals.close());
			await within(shutdownGraceMs, Promise.all([removals.close(), sent]));
		},
	};
}
