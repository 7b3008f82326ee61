// Words that people, Discord's client and other MCP servers use, and the words of this bot's tools that mean the same.

import { stem } from "./stem.ts";

const meanings: readonly [said: string, meant: string][] = [
	// Verbs.
	["add, make, new, open, build, set up, setup", "create"],
	["start", "create"],
	["show, view, see, display, fetch, retrieve, look, browse, who", "list, get, read"],
	["erase, destroy, drop, clear", "delete, remove"],
	["change, modify, update, rename, adjust, configure, patch, alter", "edit, set"],
	["disable, enable, turn off, turn on, activate, deactivate", "edit enabled"],
	["post, write, say, reply, respond, announce", "send message"],
	["give, grant, award, apply, assign", "add"],
	["take, revoke, strip, unassign, lift, cancel", "remove, delete, edit status"],
	["reorder, sort, order, arrange, position, above, below, drag, rank", "move"],
	["remove all, delete all", "clear"],
	["user id, by name, id by", "lookup user name"],
	["duplicate", "clone, copy"],
	["search, query, look for, look up", "find, search, lookup"],
	["stop, finish", "end"],
	["close", "end, lock, edit archive"],
	["resolve, whois, who is", "get member, lookup"],
	["allow, deny, hide, permit, forbid", "set permissions"],
	["mass, multiple, several, bulk, many", "bulk"],
	// Nouns.
	["undo, revert, restore, left, leave", "audit log"],
	["restore, back up, snapshot", "backup plan guild"],
	["welcome screen, onboarding", "plan guild document"],
	["at once, in bulk, several role, several channel", "plan guild document"],
	["template, blueprint, structure, layout, yaml, rebuild", "guild document"],
	["warn, warning, strike", "warn member, send dm, timeout"],
	["moderator, admin, administrator, staff", "check permissions, list members"],
	[
		"moderator act, moderator acted, moderator did, moderator do, moderator activity, moderation history, member history, was done, done about, done before, punishment, infraction, sanction",
		"list case moderator",
	],
	["reaction role, self role, assignable, role button", "role menu"],
	["ban for, for day, for hour, for week, for month, temporary", "temp"],
	["read forum, forum post", "list threads"],
	["count message, message count, message per", "search messages"],
	["announcement channel", "create channel"],
	["promote", "bulk add role"],
	["demote", "bulk remove role"],
	["server", "guild"],
	["user, person, people, account, profile", "member, user"],
	["dm, pm, whisper, inbox, direct message", "private message"],
	["overwrite, override, access", "channel permissions"],
	["private channel, channel private, hidden channel", "set channel permissions"],
	["has role, with role, have role, role member", "list members"],
	["purge, wipe, clean, clean up, cleanup, bulk delete, nuke, mass delete", "delete messages"],
	["history, backlog, conversation, chat, latest, scroll", "recent messages"],
	["log, modlog, who did, who deleted, who changed", "audit log"],
	["mute, silence, gag, quiet, time out", "timeout"],
	["unmute, untimeout", "remove timeout"],
	["deaf, undeafen", "deafen voice members"],
	["server mute, server deafen", "edit voice members"],
	["lockdown, lock down, freeze, read only, readonly", "lock channel"],
	["unfreeze, reopen, unlockdown", "unlock channel"],
	["voice channel, stage channel", "create channel"],
	["forum tag, bitrate", "edit channel tags topic slowmode"],
	["channel status", "edit channel status category topic"],
	["slowmode, slow mode, cooldown, rate limit, ratelimit, nsfw, topic", "edit channel"],
	["vanity", "guild info, invite"],
	["nick, alias", "nickname"],
	["hoist, colour, color, mentionable", "edit role"],
	["announcement, publish, broadcast, follower", "crosspost, announcement"],
	["emote, emoticon", "emoji"],
	["sticker, soundboard", "list emoji"],
	["backup, back up, snapshot, export, structure", "list channels"],
	["raid, attack, panic, raider", "raid mode, incident, ban"],
	["stat, statistic, analytic, activity, metric, insight", "search messages, count, info"],
	["boot, eject, throw out", "kick"],
	["pardon, forgive, unblock", "unban"],
	["block, blacklist", "ban"],
	["banlist, who banned, who is banned", "get bans"],
	["inactive, lurker", "prune members"],
	["vote, survey, ballot", "poll"],
	["ticket", "private thread"],
	["swear, swearing, profanity, bad word, filter, spam, censor, blocklist, slur, moderation", "set automod rule"],
	["auto mod, automoderation, auto moderation, regex, keyword", "automod rule"],
	["hook, integration", "webhook"],
	["link", "invite"],
	["join, joiner, newcomer", "list members joined"],
	["who joined, new member, new account, join time, raider wrote", "purge joined, list members joined"],
	["archive, unarchive", "edit thread"],
	["quote, repost, share", "forward"],
	["react", "reactions"],
	["embed", "send message"],
	["upload, attach, attachment, image, picture, photo, pdf", "send file"],
	["health, diagnose, debug, troubleshoot, broken", "setup check"],
	["latency, uptime, version", "bot info"],
	["attendee, rsvp, interested, attend", "event users"],
	["calendar, meeting, appointment, schedule", "scheduled event"],
	["live", "start stage"],
	["folder, section, group, category", "channel, category"],
	["vc, voice call", "voice"],
	["may, able, can see, can post, can write, can read, effective", "check permissions"],
	["owner, feature, boost, icon, member count", "guild info"],
	["inherit, sync, synced", "copy channel permissions"],
	["sticky", "pin"],
	["verification, locale, afk, setting", "edit guild"],
];

/** By the stem of a word that people use, or the stems of two successive words: the phrases of the tools. */
export const synonyms: ReadonlyMap<string, readonly (readonly string[])[]> = read();

function read(): Map<string, string[][]> {
	const found = new Map<string, string[][]>();
	for (const [said, meant] of meanings)
		for (const phrase of said.split(", ")) {
			const key = phrase.split(" ").map(stem).join(" ");
			const phrases = meant.split(", ").map((one) => one.split(" "));
			found.set(key, [...(found.get(key) ?? []), ...phrases]);
		}
	return found;
}
