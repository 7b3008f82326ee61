// The tool create_role_menu.

import { type APIMessage, type Guild, MessageFlags, type Role, Routes } from "discord.js";
import * as v from "valibot";
import { roleName } from "../../../discord/describe.ts";
import { role, textChannel } from "../../../discord/find.ts";
import { describeBits, withTitles } from "../../../discord/permissions.ts";
import { grantsOf } from "../../../discord/powers.ts";
import { isMenu, type MenuEntry, maxLabelLength, maxRoles, menuComponents } from "../../../discord/role-menu.ts";
import { countOf, lengthOf, resultLines, truncate } from "../../../discord/text.ts";
import { publishedAs } from "../../../mcp/json-schema.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { render, said, sayIn } from "../../../texts/texts.ts";
import { type Emoji, innerEmoji, requireOwnEmoji } from "../../messages/emoji.ts";
import { allowedMentions, contentPermissions, fetchOwnMessage, slowMode } from "../../messages/message-arguments.ts";
import { linkTo, placeOf, requireSender } from "../../messages/sent-message.ts";
import { roles as mentionsOf, parts, type Result, result } from "../../results/result.ts";
import { choice, expected, found, guild_id, integer, list, snowflake, text } from "../../tool/arguments/arguments.ts";
import { writeTool } from "../../tool/define.ts";
import { type ReservedRoles, whyNotTakeable } from "./choice.ts";

/** Discord's maximum length of a message. https://discord.com/developers/docs/resources/message#create-message */
export const maxContent = 2000;

const shortText = (max: number, description: string) =>
	v.pipe(
		text(1, max, description),
		v.check((input) => !/[\r\n]/.test(input) && input.trim() !== "", expected("one line")),
	);

const none = v.literal("");

const perRole = <const Item extends v.GenericSchema>(item: Item, description: string) =>
	v.optional(
		v.pipe(
			v.array(v.lazy((input) => (input === "" ? none : item))),
			v.maxLength(maxRoles, `expected at most ${maxRoles}`),
			publishedAs({ type: "array", items: { type: "string" }, description }),
		),
	);

interface Texts {
	channel_id: string;
	title?: string | undefined;
	content?: string | undefined;
	message_id?: string | undefined;
}

function contentOf({ title, content }: Texts): string | undefined {
	return title === undefined ? content : [`## ${title}`, content].filter(Boolean).join("\n");
}

const textPermissions = contentPermissions.map((needed) => ({
	permission: needed.permission,
	with: "content" as const,
	when: (args: Texts, memberId: string, guild: Guild) =>
		(needed.permission !== "EmbedLinks" || args.message_id !== undefined) &&
		(needed.when?.({ ...args, content: contentOf(args) }, memberId, guild) ?? false),
}));

/** Refuses the roles in `reserved`, which the bot's configuration uses otherwise. */
export function createMenuTool(reserved: ReservedRoles) {
	return writeTool({
		name: "create_role_menu",
		toolset: "roles",
		offered: "extra",
		title: "Create a role menu",
		description:
			"Send a message with buttons or a select menu with which members give themselves roles, or replace such a menu.",
		lock: ({ message_id }) => [message_id],
		permissions: [
			{ permission: "ManageRoles", inGuild: true },
			"SendMessages",
			{ permission: "ReadMessageHistory", with: "message_id" },
		],
		person: {
			permissions: [slowMode("channel_id"), { permission: "ManageMessages", with: "message_id" }, ...textPermissions],
		},
		ranked: true,
		input: {
			guild_id,
			channel_id: found(textChannel, "channel or thread"),
			role_ids: list(found(role, "role"), 1, maxRoles, "The roles."),
			title: v.optional(shortText(256, "Its title.")),
			content: v.optional(text(1, maxContent, "Its text, in Markdown.")),
			max: v.optional(integer(1, maxRoles, "Roles per person; 1: a choice replaces the last one. Default: all.")),
			requires_role_id: v.optional(found(role, "role that its users need")),
			style: v.optional(choice(["buttons", "select"], "Its form."), "buttons"),
			labels: perRole(shortText(maxLabelLength.select, ""), 'One per role, "" for its name.'),
			emojis: perRole(innerEmoji, 'One per role, "" for none.'),
			descriptions: perRole(shortText(maxLabelLength.select, ""), 'One per role, "" for none. For select.'),
			message_id: v.optional(snowflake("menu to replace")),
		},
		destructive({ message_id }, { roles }) {
			const grants = grantsOf(roles);
			if (grants !== undefined) return `gives ${grants} to those who use it`;
			return message_id && "replaces what a message says";
		},
		async run(args, { guild, channel, roles, requires_role, discord, audit }) {
			for (const one of roles) {
				const problem = whyNotTakeable(guild, one, reserved);
				if (!problem) continue;
				const models = render(said("menu.refused", { role: roleName(one), problem }), "en");
				throw new SaidError(said("menu.refused", { role: `<@&${one.id}>`, problem: withTitles(problem) }), { models });
			}
			if (requires_role?.id === guild.id)
				throw new SaidError(said("menu.everyone"), {
					models: "requires_role_id is the role of all members. Leave it out. Nothing was done.",
				});
			const content = contentOf(args);
			if (content !== undefined && lengthOf(content) > maxContent)
				throw invalidParameters([
					`title, content: expected at most ${maxContent} characters together, received ${lengthOf(content)}`,
				]);
			const { style, message_id } = args;
			const say = sayIn(guild.preferredLocale);
			const emojis = (args.emojis ?? []).map((one) => one || undefined);
			const entries = entriesFor(roles, { ...args, emojis });
			await requireOwnEmoji(
				guild,
				emojis.filter((one) => one !== undefined),
			);
			const max = args.max !== undefined && args.max < roles.length ? args.max : undefined;
			const body = {
				components: menuComponents(style, entries, { max, requires: requires_role?.id }, say),
				...(content !== undefined && { content }),
				allowed_mentions: allowedMentions("none"),
			};
			const rules = describeRules(roles, max, requires_role);
			if (message_id !== undefined) {
				const current = await fetchOwnMessage(channel, message_id, "edit");
				const { components = [], poll } = current;
				if ((components.length > 0 && !isMenu(components)) || poll)
					throw new SaidError(said("menu.other"), {
						models: `The message ${message_id} is not a role menu: it has other buttons or a poll. Nothing was done.`,
					});
				if (!isMenu(components)) await requireSender(guild, current, audit);
				await discord.rest.patch(Routes.channelMessage(channel.id, message_id), { body });
				const place = placeOf(channel, message_id);
				const replaced = said("menu.replaced", { menu: linkTo(channel, message_id) });
				return parts(result(`Replaced the role menu ${message_id} in ${place}`, replaced), rules);
			}
			const { id } = (await discord.rest.post(Routes.channelMessages(channel.id), {
				body: { content: say("menu.content"), ...body, flags: MessageFlags.SuppressEmbeds },
			})) as APIMessage;
			return parts(
				result(
					`Role menu sent (ID: ${id}) to ${placeOf(channel, id)}`,
					said("menu.sent", { menu: linkTo(channel, id) }),
				),
				rules,
			);
		},
	});
}

function describeRules(roles: readonly Role[], max: number | undefined, required: Role | undefined): Result {
	const limit =
		max === undefined
			? "any number of them"
			: max === 1
				? "one of them, which a new choice replaces"
				: `at most ${max} of them`;
	return result(
		resultLines(
			`${countOf(roles.length, "role")}: ${roles.map(roleName).join(", ")}. None gives a moderator's permissions.${beyondEveryone(roles)}`,
			`People may have ${limit}.`,
			required && `Only people with ${roleName(required)} can use it.`,
		),
		said("menu.roles", { count: roles.length, roles: mentionsOf(roles) }),
		max === undefined ? said("menu.limit.none") : said("menu.limit", { count: max }),
		required && said("menu.limit.role", { role: `<@&${required.id}>` }),
	);
}

function beyondEveryone(roles: readonly Role[]): string {
	const added = roles.flatMap((one) => {
		const bits = one.permissions.bitfield & ~one.guild.roles.everyone.permissions.bitfield;
		return bits === 0n ? [] : `${roleName(one)}: ${describeBits(bits)}`;
	});
	return added.length > 0 ? ` Beyond @everyone's: ${added.join("; ")}.` : " They add nothing to @everyone's.";
}

interface Looks {
	style: keyof typeof maxLabelLength;
	labels?: readonly string[] | undefined;
	emojis: readonly (Emoji | undefined)[];
	descriptions?: readonly string[] | undefined;
}

function entriesFor(roles: readonly Role[], { style, labels = [], emojis, descriptions = [] }: Looks): MenuEntry[] {
	const max = maxLabelLength[style];
	const issues = [
		...[{ labels }, { emojis }, { descriptions }].flatMap((given) =>
			Object.entries(given).flatMap(([name, { length }]) =>
				length === 0 || length === roles.length
					? []
					: `${name}: expected one for each of the ${roles.length} roles, received ${length}`,
			),
		),
		...labels.flatMap((label) =>
			label.length > max
				? `labels: expected at most ${max} characters with style=${style}, received ${label.length}`
				: [],
		),
	];
	if (style === "buttons" && descriptions.some(Boolean)) issues.push("descriptions: only with style=select");
	if (issues.length > 0) throw invalidParameters(issues);
	return roles.map(({ id, name }, index) => {
		const label = labels[index];
		const emoji = emojis[index];
		return {
			roleId: id,
			label: label || truncate(name, max),
			isNamed: !label,
			description: descriptions[index],
			// Discord accepts an emoji's id without its name.
			...(emoji && { emoji: emoji.id ? { id: emoji.id } : { name: emoji.name ?? "" } }),
		};
	});
}
