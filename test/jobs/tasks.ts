// The jobs: what an administrator asks for, and how to see on the simulator whether it is done.

import { ChannelType, PermissionFlagsBits as Permission } from "discord.js";
import type { Guild, Member } from "../../src/simulator/world/state/entities.ts";
import { channelPermissions, compareRoles, has } from "../../src/simulator/world/state/permissions.ts";
import { raid } from "./guild.ts";
import type { Job } from "./job.ts";

/** A job that was prepared in a guild. */
export interface Task {
	/** What the administrator asks for. */
	text: string;
	/** Names what is not done, or wrong in the answer; empty if the job is done. */
	missing(answer: string): string[];
}

/** The conditions that do not hold. */
const unmet = (conditions: Record<string, boolean | undefined>): string[] =>
	Object.entries(conditions).flatMap(([name, holds]) => (holds ? [] : [name]));

/** Whether these roles follow one another directly, highest first. */
function areInOrder(guild: Guild, names: readonly string[]): boolean {
	const order = [...guild.roles.values()].sort(compareRoles);
	const all = order.map(({ name }) => name);
	const start = all.indexOf(names[0] ?? "");
	return names.every((name, index) => all[start + index] === name);
}

/** Rebuild a guild for a new season. */
export function season(job: Job): Task {
	const { world, guild, people, role, channel } = job;
	const [host1, host2, ...captains] = people.slice(20, 26);
	const user = (member: Member | undefined) => `@${member?.user.username}`;
	const others = people.slice(100, 101);
	const can = (member: Member | undefined, name: string, bits: bigint) => {
		const place = channel(name);
		return place !== undefined && member !== undefined && has(channelPermissions(guild, place, member.user.id), bits);
	};
	const { ViewChannel: view, SendMessages: send } = Permission;
	const startsAt = new Date(Date.now() + 48 * 3_600_000);
	startsAt.setUTCMinutes(0, 0, 0);
	return {
		text: `Rebuild the guild "Lantern Hall" for the new season:
1. Roles: "Season 5" in the colour #8E44AD, shown separately, right below Veteran. "Event Host" in green, with Manage Events and Mention Everyone, right below Helper; give it to ${user(host1)} and ${user(host2)}. "Captain", right below Event Host; give it to ${captains.map(user).join(", ")}.
2. A category "Season 5" with: #season-news, which everyone reads, but only Moderator and Event Host write in; #season-chat for everyone, with a slow mode of 10 seconds; #captains, which only Captain and Moderator see; the voice channel "War Room" for at most 8 people, which only Captain and Event Host see; the forum #strategy with the tags Guide, Question and Clip, where only moderators can apply Guide.
3. A category "Archive" with #old-season in it, which everyone can still read, but nobody but moderators writes in.
4. An event "Opening Night" in the voice channel Lounge, from ${startsAt.toISOString()} for two hours.
5. An AutoMod rule that blocks messages with "free lamps" and alerts #staff-chat.
6. In #season-news, a post that welcomes everyone to Season 5, pinned. In #season-chat, a poll "Which map first?" with the answers Harbour, Forest and Tower, open for a day.`,
		missing() {
			const news = channel("season-news");
			const chat = channel("season-chat");
			const forum = channel("strategy");
			const room = channel("War Room");
			const old = channel("old-season");
			const archive = channel("Archive");
			const category = [...guild.channels.values()].find(
				({ name, type }) => name === "Season 5" && type === ChannelType.GuildCategory,
			);
			const holds = (member: Member | undefined, name: string) => member?.roles.includes(role(name)?.id ?? "");
			const hostBits = BigInt(role("Event Host")?.permissions ?? "0");
			const [event] = world.simulator.world.scheduledEvents.in(guild);
			const [rule] = world.simulator.world.autoModeration.in(guild);
			const newsMessages = news ? world.simulator.world.messages.in(news.id) : [];
			const chatMessages = chat ? world.simulator.world.messages.in(chat.id) : [];
			const [anyone] = others;
			const mod = people[4];
			return unmet({
				"Season 5 is purple": role("Season 5")?.color === 0x8e44ad,
				"Season 5 is shown separately": role("Season 5")?.hoist,
				"Season 5 is below Veteran": areInOrder(guild, ["Veteran", "Season 5"]),
				"Event Host and Captain are below Helper": areInOrder(guild, ["Helper", "Event Host", "Captain"]),
				"Event Host has its permissions":
					(hostBits & Permission.ManageEvents) !== 0n && (hostBits & Permission.MentionEveryone) !== 0n,
				"the hosts have their role": [host1, host2].every((one) => holds(one, "Event Host")),
				"the captains have their role": captains.every((one) => holds(one, "Captain")),
				"the category has its channels": ["season-news", "season-chat", "captains", "War Room", "strategy"].every(
					(name) => category !== undefined && channel(name)?.parent_id === category.id,
				),
				"everyone reads season-news": can(anyone, "season-news", view),
				"only hosts and moderators write in season-news":
					!can(anyone, "season-news", send) && can(host1, "season-news", send) && can(mod, "season-news", send),
				"season-chat is slow": chat?.rate_limit_per_user === 10,
				"everyone writes in season-chat": can(anyone, "season-chat", send),
				"captains is private":
					!can(anyone, "captains", view) &&
					!can(host1, "captains", view) &&
					can(captains[0], "captains", view | send) &&
					can(mod, "captains", view),
				"War Room is a private voice channel for 8":
					room?.type === ChannelType.GuildVoice &&
					room.user_limit === 8 &&
					!can(anyone, "War Room", view) &&
					can(host1, "War Room", view | Permission.Connect) &&
					can(captains[0], "War Room", view | Permission.Connect),
				"strategy is a forum with its tags":
					forum?.type === ChannelType.GuildForum &&
					(forum.available_tags ?? []).map(({ name, moderated }) => `${name} ${moderated}`).join() ===
						"Guide true,Question false,Clip false",
				"old-season is archived":
					archive?.type === ChannelType.GuildCategory &&
					old?.parent_id === archive.id &&
					can(anyone, "old-season", view) &&
					!can(anyone, "old-season", send) &&
					can(mod, "old-season", send),
				"the event is planned":
					event?.name === "Opening Night" &&
					event.channel_id === channel("Lounge")?.id &&
					Date.parse(event.scheduled_start_time) === startsAt.getTime() &&
					Date.parse(event.scheduled_end_time ?? "") === startsAt.getTime() + 7_200_000,
				"the AutoMod rule blocks and alerts":
					rule?.enabled === true &&
					rule.actions
						.map(({ type }) => type)
						.sort()
						.join() === "1,2" &&
					(rule.trigger_metadata.keyword_filter ?? []).some((word) => word.includes("free lamps")),
				"the post is pinned": newsMessages.some(({ pinned_at }) => pinned_at !== null),
				"the poll is open": chatMessages.some(
					({ poll }) => poll?.answers.map(({ poll_media }) => poll_media.text).join() === "Harbour,Forest,Tower",
				),
				"nothing else was made": guild.channels.size === 23 && guild.roles.size === 11,
			});
		},
	};
}

/** Clean up after a raid and a moderator's account that was taken over. */
export function cleanUp(job: Job): Task {
	const { world, guild, role, channel } = job;
	const messages = world.simulator.world.messages;
	const before = [...guild.channels.values()]
		.filter(({ name }) => name !== "trading")
		.flatMap(({ id }) => messages.in(id).map((one) => one.id));
	const { mallory, raiders, accomplices, victims } = raid(world.simulator.world, job);
	return {
		text: `The guild "Lantern Hall" was raided within the last three hours. The account of the moderator @${mallory.user.username} was taken over and did things in it, too. Find out what happened and put everything right: take the account's power until its owner has it back (do not ban it), ban the accounts that only came to advertise, delete what they wrote and nothing else, and undo all that the account did. Nobody else may be harmed. Report what cannot be restored.`,
		missing(answer) {
			const mods = role("Moderator")?.id ?? "";
			const isBanned = ({ user }: Member) => guild.bans.has(user.id);
			const now = [...guild.channels.values()].flatMap(({ id }) => messages.in(id));
			const left = new Set(now.map(({ id }) => id));
			const announcements = channel("announcements");
			const everyone = announcements?.permission_overwrites.find(({ id }) => id === guild.id);
			const { webhooks, invites } = world.simulator.world;
			return unmet({
				"the account has no power, and is not banned":
					!isBanned(mallory) && guild.members.has(mallory.user.id) && !mallory.roles.includes(mods),
				"all raiders are banned": raiders.every(isBanned),
				"nobody else is banned": guild.bans.size === raiders.length,
				"the victims are not banned": victims.every(({ id }) => !guild.bans.has(id)),
				"what the raiders wrote is gone": !now.some(({ content }) => content.includes("FREE LAMPS")),
				"what others wrote is there": before.every((id) => left.has(id)),
				"the accomplices are no moderators": accomplices.every(({ roles }) => !roles.includes(mods)),
				"the other moderators still are":
					job.people.slice(2, 6).filter(({ roles }) => roles.includes(mods)).length === 3,
				"the role Support is gone": role("Support") === undefined,
				"trading is there again": channel("trading")?.parent_id === channel("Hall")?.id,
				"pictures has its name": channel("pictures") !== undefined,
				"announcements is read-only": (BigInt(everyone?.deny ?? "0") & Permission.SendMessages) !== 0n,
				"the webhooks are gone": webhooks.list({ guild_id: guild.id }).length === 0,
				"the invites are gone": invites.list({ guild_id: guild.id }).length === 0,
				"the guild has its name": guild.name === "Lantern Hall",
				"the report says that messages in trading are lost": /trading/i.test(answer),
			});
		},
	};
}

/** Review who can see, post and do what, and who wrote how much. */
export function review(job: Job): Task {
	const { world, guild, people } = job;
	const messages = [...guild.channels.values()].flatMap(({ id }) => world.simulator.world.messages.in(id));
	const counts = new Map<string, number>();
	for (const { author } of messages) counts.set(author.username, (counts.get(author.username) ?? 0) + 1);
	const [top, second, third] = [...counts].sort(([, a], [, b]) => b - a);
	const quiet = people.slice(70, 72).map(({ user }) => user.username);
	const helper = people[7]?.user.username;
	return {
		text: `Review the guild "Lantern Hall" and change nothing. Answer: (1) Who can see #staff-notes? Is that what its name and category suggest? (2) Which people have Administrator, and by which role? (3) In which text channels can a member without roles not write? (4) Can @${helper} time out members, and delete messages in #general? (5) Who are the three people who wrote most in the last 30 days, and how many messages each? (6) How many messages did @${quiet.join(" and @")} write in the last 30 days? (7) How many messages are in each channel of the category Hall in the last 30 days?`,
		missing(answer) {
			const says = (...words: (string | number | undefined)[]) => words.every((word) => answer.includes(String(word)));
			return unmet({
				"everyone sees staff-notes": /everyone|all members|everybody/i.test(answer),
				"the administrators": says("lantern0", "lantern1"),
				"the owner": says("lantern_owner") || says("Mira"),
				"the channels": says("rules", "announcements", "staff-chat"),
				"who wrote most": [top, second, third].every((one) => says(one?.[0], one?.[1])),
				"who wrote nothing": says(...quiet),
				"messages by channel": [...guild.channels.values()]
					.filter(({ parent_id }) => parent_id === job.channel("Hall")?.id)
					.every(({ id }) => says(world.simulator.world.messages.in(id).length)),
				"nothing was changed": guild.auditLog.length === 0,
			});
		},
	};
}

/** The roles that a rebuild asks for, in order, with their colors. */
export const newRoles = [
	["Council", "#C0392B"],
	["Engineer", "#2980B9"],
	["Scout", "#27AE60"],
	["Quartermaster", "#8E44AD"],
	["Healer", "#16A085"],
	["Smith", "#D35400"],
	["Bard", "#F39C12"],
	["Cartographer", "#7F8C8D"],
	["Recruit", "#BDC3C7"],
	["Veteran Guest", "#34495E"],
] as const;

/** The categories that a rebuild asks for: who sees them (nobody listed: everyone), and their channels. */
export const newPlaces = [
	{
		name: "Council Chamber",
		seenBy: ["Council"],
		text: ["council-talk", "council-votes", "council-notes", "council-log"],
		voice: "Council Voice",
	},
	{
		name: "Workshop",
		seenBy: ["Engineer", "Smith", "Council"],
		text: ["blueprints", "forge", "repairs", "materials"],
		voice: "Workshop Voice",
	},
	{
		name: "Wilds",
		seenBy: ["Scout", "Cartographer", "Council"],
		text: ["sightings", "maps", "routes", "camps"],
		voice: "Wilds Voice",
	},
	{
		name: "Stores",
		seenBy: ["Quartermaster", "Council"],
		text: ["inventory", "orders", "deliveries", "prices"],
		voice: "Stores Voice",
	},
	{
		name: "Infirmary",
		seenBy: ["Healer", "Council"],
		text: ["patients", "herbs", "remedies", "duty-roster"],
		voice: "Infirmary Voice",
	},
	{ name: "Tavern", seenBy: [], text: ["songs", "stories", "recruits-ask", "games-night"], voice: "Tavern Voice" },
] as const satisfies readonly { name: string; seenBy: readonly string[]; text: readonly string[]; voice: string }[];

/** Build ten roles, and thirty channels in six categories, with access. */
export function rebuild({ guild, role, channel }: Job): Task {
	const places = newPlaces.map(
		({ name, seenBy, text, voice }) =>
			`- ${name}, which ${seenBy.length > 0 ? `only ${seenBy.join(", ")} see` : "everyone sees"}: ${text.map((one) => `#${one}`).join(", ")}, ${voice}`,
	);
	const { ViewChannel } = Permission;
	/** Whether a role is kept out of a channel. */
	const isHidden = (channelName: string, roleName: string) => {
		const overwrites = channel(channelName)?.permission_overwrites ?? [];
		const bits = (id: string | undefined, field: "allow" | "deny") =>
			BigInt(overwrites.find((one) => one.id === id)?.[field] ?? 0);
		const allows = bits(role(roleName)?.id, "allow") & ViewChannel;
		return (bits(guild.id, "deny") & ViewChannel) !== 0n && allows === 0n;
	};
	return {
		text: `Build the new part of this server:
Roles, in this order right below the role Veteran, all shown separately in the member list: ${newRoles.map(([name, color]) => `${name} (${color})`).join(", ")}. Council may also kick members and manage messages.
Categories with channels (text channels, and at the end a voice channel for at most 12 people):
${places.join("\n")}
In #council-votes, #orders and #duty-roster there is a slow mode of 30 seconds.`,
		missing() {
			const names = newRoles.map(([name]) => name);
			return unmet({
				"the roles are in order": areInOrder(guild, ["Veteran", ...names]),
				...Object.fromEntries(
					newRoles.map(([name, color]) => [
						`the role ${name} is shown separately, with its color`,
						role(name)?.hoist === true && role(name)?.color === Number.parseInt(color.slice(1), 16),
					]),
				),
				"Council may kick members": has(
					BigInt(role("Council")?.permissions ?? 0),
					Permission.KickMembers | Permission.ManageMessages,
				),
				...Object.fromEntries(
					newPlaces.flatMap((place) =>
						[...place.text, place.voice].map((name) => {
							const made = channel(name);
							const seenBy: readonly string[] = place.seenBy;
							return [
								`#${name} is in ${place.name}, for the right roles`,
								made?.parent_id === channel(place.name)?.id &&
									(made?.type === ChannelType.GuildVoice) === (name === place.voice) &&
									names.every((one) => isHidden(name, one) === (seenBy.length > 0 && !seenBy.includes(one))),
							];
						}),
					),
				),
				"voice channels are limited": newPlaces.every(({ voice }) => channel(voice)?.user_limit === 12),
				"slow mode is on": ["council-votes", "orders", "duty-roster"].every(
					(name) => channel(name)?.rate_limit_per_user === 30,
				),
			});
		},
	};
}
