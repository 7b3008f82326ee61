// Members of threads: listing, adding and removing them. A private thread is seen only by its members and MANAGE_THREADS.
// https://discord.com/developers/docs/resources/channel#list-thread-members

import {
	type APIGuildMember,
	type APIThreadMember,
	ChannelType,
	type GuildMember,
	makeURLSearchParams,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { channelName, memberFields, personFields, time } from "../../discord/describe.ts";
import * as find from "../../discord/find.ts";
import { actingMembers, requireOf } from "../../discord/permissions.ts";
import { fieldLine, resultLines } from "../../discord/text.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { said } from "../../texts/texts.ts";
import { asking, mentions } from "../results/result.ts";
import { found, guild_id, limit, list, requireOneOf, snowflake } from "../tool/arguments/arguments.ts";
import { planEach } from "../tool/bulk.ts";
import { destructiveTool, readTool } from "../tool/define.ts";

export const listThreadMembers = readTool({
	name: "list_thread_members",
	toolset: "threads",
	title: "List thread members",
	description: "List the members of a thread or forum post, by id.",
	intents: ["GuildMembers"],
	input: {
		guild_id,
		thread_id: found(find.thread, "thread or forum post"),
		limit: limit(100, 100),
		after: v.optional(snowflake("previous page's last member")),
	},
	async run({ limit, after }, { discord, guild, thread }) {
		const query = makeURLSearchParams({ with_member: true, limit, after });
		const members = (await discord.rest.get(Routes.threadMembers(thread.id), { query })) as (APIThreadMember & {
			member: APIGuildMember;
		})[];
		const where = channelName(thread);
		const last = members.at(-1)?.user_id;
		if (!last) return `No member of ${where}${after ? ` has an id above ${after}` : ""}.`;
		return [
			`${members.length} member(s) of ${where}, by id:`,
			...members.map(({ member, join_timestamp }) =>
				fieldLine(personFields(guild, member.user), `joined: ${time(new Date(join_timestamp))}`),
			),
			...(members.length === limit ? [`next_after=${last}`] : []),
		];
	},
});

const members = list(found(find.member, "member"), 1, 50, "Members.");

interface Change {
	member: GuildMember;
	adds: boolean;
}

export const editThreadMembers = destructiveTool({
	name: "edit_thread_members",
	toolset: "threads",
	title: "Add or remove thread members",
	description: "Add members to a thread, or remove them. Those removed can rejoin, unless it is private.",
	lock: "thread_id",
	permissions: [{ permission: "SendMessagesInThreads", with: "add_user_ids" }],
	permissionsIn: "thread_id",
	input: {
		guild_id,
		thread_id: found(find.currentThread, "thread or forum post"),
		add_user_ids: v.optional(members),
		remove_user_ids: v.optional(members),
	},
	plan(args, { guild, thread, add_users = [], remove_users = [] }) {
		requireOneOf(args, ["add_user_ids", "remove_user_ids"]);
		if (add_users.some(({ id }) => args.remove_user_ids?.includes(id)))
			throw invalidParameters(["add_user_ids, remove_user_ids: the same member cannot be in both lists"]);
		const isPrivate = thread.type === ChannelType.PrivateThread;
		// https://discord.com/developers/docs/resources/channel#thread-metadata-object
		const managesToAdd = isPrivate && !thread.invitable;
		const manages = (id: string) =>
			(add_users.length > 0 && managesToAdd) || (remove_users.length > 0 && !(isPrivate && thread.ownerId === id));
		for (const member of actingMembers(guild))
			if (manages(member.id)) requireOf(member, thread, PermissionFlagsBits.ManageThreads);
		const where = channelName(thread);
		const { rest } = guild.client;
		const changes: Change[] = [
			...add_users.map((member) => ({ member, adds: true })),
			...remove_users.map((member) => ({ member, adds: false })),
		];
		const isBoth = add_users.length > 0 && remove_users.length > 0;
		return planEach({
			items: changes,
			asks: asking(
				resultLines(
					add_users.length > 0 && `Would add ${add_users.length} member(s) to ${where}:`,
					add_users.map(memberFields),
					remove_users.length > 0 && `Would remove ${remove_users.length} member(s) from ${where}:`,
					remove_users.map(memberFields),
				),
				add_users.length > 0 && said("preview.thread_add", { who: mentions(add_users), where: `<#${thread.id}>` }),
				remove_users.length > 0 &&
					said("preview.thread_remove", { who: mentions(remove_users), where: `<#${thread.id}>` }),
			),
			next(left) {
				const ids = (some: readonly Change[]) => some.map(({ member }) => member.id).join(", ");
				const [added, removed] = [true, false].map((adds) => ids(left.filter((change) => change.adds === adds)));
				const given = resultLines(added && `add_user_ids ${added}`, removed && `remove_user_ids ${removed}`);
				return `To continue, call again with ${given.join(" and ")}.`;
			},
			idOf: ({ member }) => member.id,
			describe: ({ member, adds }) => `${isBoth ? (adds ? "add " : "remove ") : ""}${memberFields(member)}`,
			write({ member, adds }) {
				// For the bot itself, `@me` stands for its user id.
				const route = Routes.threadMembers(thread.id, member.id === thread.client.user.id ? "@me" : member.id);
				return adds ? rest.put(route) : rest.delete(route);
			},
			done(count, of) {
				if (isBoth) return `Made ${count} of ${of} changes of the members of ${where}:`;
				return add_users.length > 0
					? `Added ${count} of ${of} member(s) to ${where}:`
					: `Removed ${count} of ${of} member(s) from ${where}:`;
			},
		});
	},
});
