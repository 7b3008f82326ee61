// Words that people, Discord's client and other MCP servers use, and the words of this bot's tools that mean the same.

const meanings: readonly [said: string, meant: string][] = [
	// Verbs.
	["add, make, new, open, build, set up, setup, start", "create"],
	["show, view, see, display, fetch, retrieve, look, browse, queue, who", "list, get, read"],
	[
		"inspect, review, examine, analyze, monitor, track, watch, obtain, gather, collect, print, summarize",
		"list, get, read",
	],
	["inform, notify, tell, alert, contact, remind, embed", "send message"],
	["replace, swap, reset, change, modify, update, adjust, configure, patch, alter", "edit, set"],
	["relocate, shift, reorder, sort, order, arrange, position, above, below, drag, rank", "move"],
	["locate, discover, identify", "lookup, search"],
	["terminate", "end, delete"],
	["expel, boot, eject, throw out", "kick"],
	["right, privilege", "permissions"],
	["room, text channel, voice channel, stage channel, rule channel", "channel"],
	["participant", "member"],
	["information", "info"],
	["erase, destroy, drop, clear", "delete, remove"],
	["rename, correct, fix", "edit"],
	["disable, enable, activate, deactivate", "edit enabled"],
	["post, write, wrote, written, say, said, reply, respond, announce", "send message"],
	["give, grant, award, apply, assign", "add"],
	["take, revoke, strip, lift, cancel", "remove, delete, edit status"],
	["remove all, delete all", "clear"],
	["user id, by name, id by", "lookup user name"],
	["duplicate", "clone, copy"],
	["search, query, look for, look up", "find, search, lookup"],
	["stop, finish", "end"],
	["close", "end, lock, edit archive"],
	["resolve, whois, who is", "get member, lookup"],
	["allow, deny, hide, permit, forbid", "set permissions"],
	["mass, multiple, several, bulk, many, to everyone, to everybody", "bulk"],
	// Nouns.
	["undo, revert, restore, left, leave", "audit log"],
	["hijacked, compromised, taken over, hacked, rogue", "undo account"],
	["restore, back up, snapshot", "backup plan guild"],
	["at once, in bulk, several role, several channel", "plan guild document"],
	["template, blueprint, structure, layout, yaml, rebuild", "guild document"],
	["warn, warning, strike", "warn member, send dm, timeout"],
	["moderator, admin, administrator, staff, mod", "check permissions, list members, moderator"],
	["moderator act, moderator acted, moderator did, moderator do, moderator activity", "list case moderator"],
	["moderation history, member history, was done, done about, done before", "list case moderator"],
	["punishment, infraction, sanction", "list case moderator"],
	["reaction role, self role, assignable, role button", "role menu"],
	["ban for, for day, for hour, for week, for month, temporary", "temp"],
	["read forum", "list threads"],
	["forum post", "thread"],
	["count message, message count, message per, message did, many message", "search messages"],
	["announcement channel", "create channel"],
	["promote", "bulk add role"],
	["demote, unassign, unmod, role away, take role, revoke role, strip role", "bulk remove role update"],
	["away member, away role, strip member, strip moderator, moderator away, away moderator", "bulk remove role update"],
	["fire moderator, dismiss moderator, remove moderator, take moderator, revoke moderator", "bulk remove role update"],
	["remove admin, revoke admin, take admin, strip admin, admin away, away admin", "bulk remove role update"],
	["server, community", "guild"],
	["user, person, people, author, account, spammer, scammer, troll, guy, newbie", "member, user"],
	["dm, pm, whisper, inbox, direct message, privately, in private", "private message"],
	["overwrite, override, access", "channel permissions"],
	["private channel, channel private, hidden channel, hide channel", "set channel permissions"],
	["has role, with role, have role, role member, no role, without role", "list members"],
	["purge, wipe, clean, clean up, cleanup, bulk delete, nuke, mass delete, spam message", "delete messages"],
	["history, backlog, conversation, chat, latest, scroll, last message", "recent messages"],
	[
		"log, modlog, who did, who deleted, who changed, who banned, who kicked, who removed, who gave, who took, who created",
		"audit log",
	],
	["mute, silence, gag, quiet, time out", "timeout"],
	["unmute, untimeout, talk again, timeout end, write again", "remove timeout"],
	["deaf, undeafen", "deafen voice members"],
	["server mute, server deafen", "edit voice members"],
	["lockdown, lock down, freeze, read only, readonly", "lock channel"],
	["unfreeze, reopen, unlockdown", "unlock channel"],
	["forum tag, bitrate", "edit channel tags topic slowmode"],
	["channel status", "edit channel status category topic"],
	["slow, slowmode, cooldown, rate limit, ratelimit, nsfw, topic", "edit channel"],
	["vanity, vanity url, vanity link", "guild info, invite"],
	["nick, alias", "nickname"],
	["hoist, colour, color, mentionable", "edit role"],
	["announcement, publish, broadcast, follower", "crosspost, announcement"],
	["emote, emoticon", "emoji"],
	["sticker, soundboard", "list emoji"],
	["backup, back up, snapshot, export, structure", "list channels"],
	["raid, attack, panic, raider", "raid mode, incident, ban"],
	["stat, statistic, analytic, activity, metric, insight", "search messages, count, info"],
	["pardon, forgive, unblock", "unban"],
	["block, blacklist", "ban"],
	["banlist, list ban, all ban, is banned, are banned, banned member, banned user", "get bans"],
	["by invite, by which, through invite, through which, via invite, per invite, came by, came through", "list members"],
	["inactive, lurker", "prune members"],
	["vote, survey, ballot, ask, question", "poll"],
	["ticket", "private thread"],
	["swear, swearing, profanity, bad word, swear word, filter, spam", "set automod rule"],
	["censor, blocklist, slur, moderation", "set automod rule"],
	["auto mod, automoderation, auto moderation, regex, keyword", "automod rule"],
	["hook, integration", "webhook"],
	["link", "invite"],
	["join, joiner, newcomer, new people, new member", "list members joined"],
	["who joined, new member, new account, join time, raider wrote", "purge joined, list members joined"],
	["archive, unarchive", "edit thread"],
	["quote, repost, share", "forward"],
	["react", "reactions"],
	["upload, attach, attachment, image, picture, photo, pdf", "send file"],
	["health, diagnose, debug, troubleshoot, broken, not work", "setup check"],
	["latency, uptime, version", "bot info"],
	["attendee, rsvp, interested, attend", "event users"],
	["calendar, meeting, appointment, schedule", "scheduled event"],
	["live", "start stage"],
	["folder, section, group, category", "channel, category"],
	["vc, voice call", "voice"],
	["may, able, allowed, can see, can post, can write, can read, effective, bot permission", "check permissions"],
	["owner, feature, boost, icon, member count, mfa, mfa level", "guild info"],
	["inherit, sync, synced", "copy channel permissions"],
	["sticky", "pin"],
	["game night, movie, movie night, meetup, party, tournament, contest, workshop", "scheduled event"],
	["from posting, from sending, from writing, posting link, sending link, prevent", "set automod rule"],
	["give role", "bulk role update"],
	["role above, role below, role under", "move roles"],
	["from backup, restore channel, restore role, restore backup", "plan guild"],
	["assistant", "recent tool calls"],
	["dismiss", "resolve"],
	["expire, expired", "expiry"],
	["about user, about member, user info, member info", "get member"],
	["choose, pick", "set"],
	["moderator role, mod role, admin role, staff role, helper role", "role"],
	["end event, cancel event, start event", "edit event"],
	["was warned, were warned, got warned, been warned, warned by", "list cases"],
	["with certain word, certain word, containing, contain", "text"],
	["raided, being raided", "raid mode"],
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

/** "banned", "banning" and "bans" become "ban", and "replies" "reply". */
export function stem(word: string): string {
	let base = word;
	if (/ies$/.test(base) && base.length > 4) base = base.replace(/ies$/, "y");
	else if (/(?:[sx]|ch|sh)es$/.test(base)) base = base.slice(0, -2);
	else if (/[^su]s$/.test(base) && base.length > 3) base = base.slice(0, -1);
	if (/ied$/.test(base)) return base.replace(/ied$/, "y");
	if (/[aeiouy].*ing$/.test(base) && base.length > 5) base = base.slice(0, -3);
	else if (/[aeiouy].*[^e]ed$/.test(base) && base.length > 4) base = base.slice(0, -2);
	// "banned" became "bann", and "deleted" "delet".
	if (/([bdfgkmnprtvz])\1$/.test(base)) base = base.slice(0, -1);
	return base.length > 3 ? base.replace(/e$/, "") : base;
}
