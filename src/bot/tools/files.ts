// Sending files. The content comes with the call: URLs are not fetched, because one chosen by a model could point into the
// operator's network.

import { type APIMessage, Routes } from "discord.js";
import * as v from "valibot";
import { textChannel } from "../../discord/find.ts";
import { oneField, oneLine } from "../../discord/text.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { readBase64 } from "../messages/image.ts";
import { allowedMentions, content, contentPermissions, slowMode } from "../messages/message-arguments.ts";
import { pingLines, placeOf } from "../messages/sent-message.ts";
import { flag, found, guild_id, requireEither } from "../tool/arguments/arguments.ts";
import { writeTool } from "../tool/define.ts";

const plainName = /^[^/\\:*?"<>|]{1,100}$/;
const oddEnd = /^[\s.]|[\s.]$/;

const filename = v.pipe(
	v.string(),
	v.regex(plainName, notPlain),
	v.check((name) => !oddEnd.test(name), notPlain),
	// No line breaks, invisible characters or lone surrogates.
	v.check((name) => oneLine(name) === name && name.isWellFormed(), notPlain),
	v.description("Such as report.txt."),
);

function notPlain({ input }: { input: string }): string {
	return `expected a plain file name of at most 100 characters, such as report.txt, received ${oneLine(JSON.stringify(input.slice(0, 100)))}`;
}

export const sendFile = writeTool({
	name: "send_file",
	toolset: "messages",
	title: "Send a file",
	description: "Send a file of up to about 45 KB; give `text` or `data_base64`.",
	permissions: ["SendMessages", "AttachFiles"],
	person: { permissions: [slowMode("channel_id"), ...contentPermissions] },
	input: {
		guild_id,
		channel_id: found(textChannel, "channel or thread"),
		filename,
		text: v.optional(v.pipe(v.string(), v.description("The file as text."))),
		data_base64: v.optional(v.pipe(v.string(), v.description("The file as base64."))),
		content: v.optional(content),
		spoiler: flag("Hide it until clicked.", false),
	},
	async run(args, { discord, guild, channel }, call) {
		const { data, contentType } = readFile(args);
		const filename = `${args.spoiler ? "SPOILER_" : ""}${args.filename}`;
		const message = (await discord.rest.post(Routes.channelMessages(channel.id), {
			body: { ...(args.content !== undefined && { content: args.content }), allowed_mentions: allowedMentions("none") },
			files: [{ name: filename, data, contentType }],
		})) as APIMessage;
		call.onMessage?.(message.id);
		return [
			`File sent: ${oneField(filename)}, ${data.length} bytes (message ID: ${message.id}) to ${placeOf(channel, message.id)}`,
			...pingLines(guild, args.content, message),
		];
	},
});

function readFile(args: { text?: string | undefined; data_base64?: string | undefined }) {
	requireEither(args, ["text", "data_base64"], "one of the two");
	const { text, data_base64 = "" } = args;
	const [data, contentType] =
		text === undefined
			? ([readBase64(data_base64), "application/octet-stream"] as const)
			: ([Buffer.from(text), "text/plain; charset=utf-8"] as const);
	if (!data) throw invalidParameters(["data_base64: expected base64"]);
	if (data.length === 0) throw invalidParameters(["text: expected at least 1 character"]);
	return { data, contentType };
}
