// Messages: what is written in channels and threads.

import {
	type APIEmbed,
	type GuildTextBasedChannel,
	type Message,
	MessageFlags,
	type MessageMentionTypes,
	Routes,
	SnowflakeUtil,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import {
	choice,
	flag,
	found,
	guild_id,
	integer,
	list,
	reason,
	snowflake,
	text,
} from "../arguments.ts";
import { destructiveTool, type Plan, tool } from "../context.ts";
import { channelName, time, userName } from "../describe.ts";
import { textChannel } from "../find.ts";

/** What a text may ping. Each kind includes the one before. */
const mentionTypes: Record<string, readonly MessageMentionTypes[]> = {
	none: [],
	users: ["users"],
	roles: ["users", "roles"],
	everyone: ["users", "roles", "everyone"],
};

const embedLimit = 6000;

const embed = v.strictObject({
	title: v.optional(text(1, 256, "Heading.")),
	description: v.optional(text(1, 4096, "Text, in Discord's Markdown.")),
	url: v.optional(text(1, 2048, "Where the heading links to.")),
	color: v.optional(integer(0, 0xffffff, "Colour of the edge, as 0xRRGGBB.")),
	footer: v.optional(text(1, 2048, "Small print.")),
	image_url: v.optional(text(1, 2048, "A picture to show.")),
	fields: v.optional(
		list(
			v.strictObject({
				name: text(1, 256, "Heading of the field."),
				value: text(1, 1024, "Text of the field."),
				inline: v.optional(flag("Beside the field before it."), false),
			}),
			0,
			25,
			"Short paragraphs with headings.",
		),
	),
});

export const sendMessage = tool({
	name: "send_message",
	toolset: "messages",
	title: "Send a message",
	description:
		"Send a message to a channel or thread of a guild, as the bot. It pings nobody unless `mentions` allows it. Answers with the message's id.",
	effect: "write",
	permissions: ({ content, mentions, embeds, reply_to }) => [
		"SendMessages",
		// Without it Discord sends the message, and pings nobody.
		...(mentions === "everyone" && /@(everyone|here)/.test(content)
			? (["MentionEveryone"] as const)
			: []),
		...(embeds.length > 0 ? (["EmbedLinks"] as const) : []),
		...(reply_to ? (["ReadMessageHistory"] as const) : []),
	],
	input: v.strictObject({
		guild_id,
		channel_id: found(textChannel, "channel or thread to send to"),
		content: text(1, 2000, "The message, in Discord's Markdown."),
		reply_to: v.optional(snowflake("message to reply to, in the same channel")),
		mentions: v.optional(
			choice(
				["none", "users", "roles", "everyone"],
				"Whom mentions in the content may ping: nobody, users, users and roles, or all of them and @everyone.",
			),
			"none",
		),
		silent: v.optional(flag("Send without a notification."), false),
		embeds: v.optional(
			list(embed, 0, 10, "Framed text below the content, up to 10."),
			[],
		),
		suppress_embeds: v.optional(flag("Show no previews of links."), false),
	}),
	async run(args, { channel }) {
		const flags =
			(args.silent ? MessageFlags.SuppressNotifications : 0) |
			(args.suppress_embeds ? MessageFlags.SuppressEmbeds : 0);
		const message = await channel.send({
			content: args.content,
			embeds: readEmbeds(args.embeds),
			allowedMentions: {
				parse: mentionTypes[args.mentions] ?? [],
				repliedUser: false,
			},
			flags,
			...(args.reply_to && {
				reply: { messageReference: args.reply_to, failIfNotExists: true },
			}),
		});
		return `Message sent (ID: ${message.id}).`;
	},
});

function readEmbeds(given: v.InferOutput<typeof embed>[]): APIEmbed[] {
	const embeds = given.map(
		({ footer, image_url, fields, ...rest }): APIEmbed => ({
			...(rest as APIEmbed),
			...(footer && { footer: { text: footer } }),
			...(image_url && { image: { url: image_url } }),
			...(fields && { fields }),
		}),
	);
	const length = embeds
		.flatMap(({ title, description, footer, fields = [] }) => [
			title,
			description,
			footer?.text,
			...fields.flatMap(({ name, value }) => [name, value]),
		])
		.reduce((sum, part) => sum + [...(part ?? "")].length, 0);
	if (length > embedLimit)
		throw invalidParameters([
			`embeds: expected at most ${embedLimit} characters over all embeds, received ${length}`,
		]);
	return embeds;
}

/** What Discord does not tell of a bulk deletion. */
const passedOver =
	"Discord passes over ids that name no message there, without a word.";

/** Discord refuses a bulk deletion whole if one message is over 14 days old. A minute is left for the way there. */
const bulkAgeMs = (14 * 24 * 60 - 1) * 60_000;
/** How far back messages are looked at for `count`. */
const searchDepth = 1000;
const pageSize = 100;
const sampleSize = 5;

export const deleteMessages = destructiveTool({
	name: "delete_messages",
	toolset: "messages",
	title: "Delete messages",
	description:
		"Delete messages of one channel: those in `message_ids`, or the latest `count`, optionally only of one author or with a text in them. Deleted messages cannot be brought back. Messages over 14 days old can only be deleted one at a time: they are left, and named in the answer.",
	permissions: ({ count }) =>
		count === undefined
			? ["ManageMessages"]
			: ["ManageMessages", "ReadMessageHistory"],
	idempotent: true,
	input: v.strictObject({
		guild_id,
		channel_id: found(textChannel, "channel or thread"),
		message_ids: v.optional(
			list(snowflake("message"), 1, 100, "Ids of the messages."),
		),
		count: v.optional(
			integer(1, 100, "How many of the latest messages to delete."),
		),
		author_id: v.optional(
			snowflake("author whose messages `count` is limited to"),
		),
		contains: v.optional(
			text(
				1,
				200,
				"Text that the messages counted by `count` must contain, ignoring case.",
			),
		),
		reason,
	}),
	async plan({ message_ids, count, author_id, contains }, { channel }) {
		if ((message_ids === undefined) === (count === undefined))
			throw invalidParameters([
				"message_ids, count: expected exactly one of the two",
			]);
		if (message_ids) {
			if (author_id !== undefined || contains !== undefined)
				throw invalidParameters([
					"author_id, contains: expected only together with count",
				]);
			return deletion(channel, message_ids, undefined);
		}
		if (contains !== undefined) requireContent(channel);
		const wanted = contains?.toLowerCase();
		const messages = await latest(
			channel,
			count ?? 0,
			(message) =>
				(author_id === undefined || message.author.id === author_id) &&
				(wanted === undefined ||
					message.content.toLowerCase().includes(wanted)),
		);
		const sample = messages
			.slice(0, sampleSize)
			.map(
				({ createdTimestamp, author, id }) =>
					`${time(createdTimestamp)} by ${userName(author)} | ID: ${id}`,
			);
		return deletion(
			channel,
			messages.map(({ id }) => id),
			sample,
		);
	},
});

/** Without this intent Discord shows a bot other people's messages without their text. */
function requireContent({ client }: GuildTextBasedChannel): void {
	const { flags } = client.application;
	if (
		flags.any([
			"GatewayMessageContent",
			"GatewayMessageContentLimited",
		] as const)
	)
		return;
	throw new ToolError(
		'Discord shows this bot no texts of messages, so `contains` finds nothing. Its operator can switch on "Message Content Intent" in the developer portal (Bot). Nothing was done.',
	);
}

/** Without a `sample`, nobody has looked whether there are such messages. */
function deletion(
	channel: GuildTextBasedChannel,
	ids: readonly string[],
	sample: readonly string[] | undefined,
): Plan {
	const where = channelName(channel);
	const nothing = `No message in ${where} matches: there is nothing to delete.`;
	const oldest = Date.now() - bulkAgeMs;
	const isOld = (id: string) => SnowflakeUtil.timestampFrom(id) < oldest;
	const single = ids.length === 1;
	const deleted = ids.filter((id) => single || !isOld(id));
	const left = ids.filter((id) => !single && isOld(id));
	const notes: string[] = [];
	if (!sample && deleted.length > 1) notes.push(passedOver);
	if (left.length > 0)
		notes.push(
			`${left.length} over 14 days old, to be deleted one at a time: ${left.join(", ")}`,
		);
	return {
		preview:
			ids.length === 0
				? nothing
				: [
						`Would delete ${deleted.length} message(s) from ${where}.`,
						...(sample ? [`The latest ${sample.length}:`, ...sample] : []),
						...notes,
					],
		async act() {
			if (ids.length === 0) return nothing;
			if (deleted.length === 0)
				throw new ToolError(`Nothing was deleted: ${notes.join(" ")}`);
			const [first, ...others] = deleted;
			if (first !== undefined && others.length === 0)
				await channel.client.rest.delete(
					Routes.channelMessage(channel.id, first),
				);
			else if (first !== undefined)
				await channel.client.rest.post(Routes.channelBulkDelete(channel.id), {
					body: { messages: deleted },
				});
			return [`Deleted ${deleted.length} message(s) from ${where}.`, ...notes];
		},
	};
}

/** The latest `count` messages for which `matches` holds, newest first, out of the latest 1000. */
async function latest(
	channel: GuildTextBasedChannel,
	count: number,
	matches: (message: Message) => boolean,
): Promise<Message[]> {
	const taken: Message[] = [];
	let before: string | undefined;
	for (let seen = 0; seen < searchDepth; seen += pageSize) {
		const page = await channel.messages.fetch({
			limit: pageSize,
			cache: false,
			...(before && { before }),
		});
		for (const message of page.values()) {
			if (matches(message)) taken.push(message);
			if (taken.length === count) return taken;
		}
		before = page.lastKey();
		if (page.size < pageSize) break;
	}
	return taken;
}
