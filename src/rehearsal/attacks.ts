// A raid, a wave of spam, and a moderator whose account is hijacked.

import { read } from "../bot/settings/guild-settings.ts";
import { addInvites } from "../simulator/seed.ts";
import type { Account, Member } from "../simulator/world/state/entities.ts";
import { bitsOf, elevatedPermissions, guildPermissions } from "../simulator/world/state/permissions.ts";
import { advance } from "./sandbox.ts";
import type { Scenario } from "./stage.ts";

const accounts = 60;
const timeoutRoute = "PATCH /guilds/:guild_id/members/:user_id";
const powers = bitsOf(["Administrator", "ManageChannels", "BanMembers"]);
const staff = elevatedPermissions | bitsOf("ModerateMembers");

/** Sixty accounts of one day join, one each second. Each writes twice, where it may. */
export const playRaid: Scenario = async (stage, { settings }) => {
	const { guild, world, request, done, after } = stage;
	addInvites(world);
	const [invite] = world.invites.list({ guild_id: guild.id });
	if (!invite) return { lines: ["There is no channel to which people could be invited."] };
	const raiders = new Map<Account, number>();
	let written = 0;
	// The simulator does not enforce it: at HIGH, as in raid mode, members without a role wait ten minutes.
	const isHeld = () => guild.verification_level >= 3;
	async function write(raider: Account): Promise<void> {
		const places = stage.placesOf(raider);
		const path = `/channels/${places[Math.floor(Math.random() * places.length)]}/messages`;
		if (await request(raider, "POST", path, { content: `Free gifts at https://gifts.example/${written}` }))
			written += 1;
	}
	for (let second = 1; second <= accounts + 6; second += 1) {
		const account = stage.newAccount(`raider${second}`);
		if (second <= accounts && (await request(account, "POST", `/invites/${invite.code}`)))
			raiders.set(account, Date.now());
		for (const [raider, at] of raiders) {
			if (!isHeld() && [2_000, 6_000].includes(Date.now() - at)) await write(raider);
		}
		await advance(1_000);
	}
	await advance(120_000);
	const stayed = [...raiders.keys()].reduce((sum, { user }) => sum + stage.messagesOf(user.id).length, 0);
	const timedOut = new Set(done(timeoutRoute).map(({ path }) => path)).size;
	const why = isHeld() ? " The verification level keeps new members from writing." : "";
	const joined = `${raiders.size} of ${accounts} accounts joined, one each second. They wrote ${written} of ${raiders.size * 2} messages, of which ${stayed} stayed. The bot timed out ${timedOut} of them.${why}`;
	const [paused] = done("PUT /guilds/:guild_id/incident-actions");
	const slowed = done("PATCH /channels/:channel_id");
	if (paused) {
		const last = slowed.at(-1);
		const slow = last ? `slow mode was on in ${slowed.length} channel(s) ${after(last.at)}` : "set no slow mode";
		return { lines: [joined, `The bot paused invites ${after(paused.at)}, and ${slow}.`] };
	}
	const posted = done("POST /channels/:channel_id/messages");
	const suggested = posted.find(({ body }) => JSON.stringify(body).includes("raid:on"));
	const { joins = Infinity, windowMs = 0 } = read(settings).values["moderation.raid"] ?? {};
	const isNoticed = raiders.size >= joins && (joins - 1) * 1_000 <= windowMs;
	let end = isNoticed ? "has no moderation log in which to suggest raid mode" : "noticed no raid";
	if (isNoticed && settings["night.raid"]) end = "could not pause invites";
	if (suggested) end = `suggested raid mode ${after(suggested.at)}, and waited for a moderator`;
	const better = { "night.raid": true, ...(!isNoticed && { "moderation.raid": "10 joins in 60s" }) };
	return { lines: [joined, `The bot ${end}.`], better };
};

/** Who can do most deletes a channel and bans a member each second for a minute. */
export const playHijack: Scenario = async (stage, { settings }) => {
	const { guild, request, done, after } = stage;
	const people = [...guild.members.values()].filter(({ user }) => !user.bot && user.id !== guild.owner_id);
	const powerOf = ({ user }: Member) => Number(guildPermissions(guild, user.id) & powers);
	const [moderator, ...others] = people.toSorted((a, b) => powerOf(b) - powerOf(a));
	if (!moderator || powerOf(moderator) === 0) return { lines: ["No member but the owner can delete channels or ban."] };
	const account = stage.hijack(moderator);
	const channels = [...guild.channels.keys()];
	let deleted = 0;
	let banned = 0;
	for (let second = 0; second < 60; second += 1) {
		const [channel] = channels.splice(Math.floor(Math.random() * channels.length), 1);
		if (channel && (await request(account, "DELETE", `/channels/${channel}`))) deleted += 1;
		if (await request(account, "PUT", `/guilds/${guild.id}/bans/${others.pop()?.user.id}`)) banned += 1;
		await advance(1_000);
	}
	await advance(60_000);
	const [taken] = done("DELETE /guilds/:guild_id/members/:user_id/roles/:role_id");
	const isOn = settings["night.strip"] === true;
	const none = isOn ? "could take no role from it" : "did not stop it: night.strip is not set";
	const end = taken ? `took roles from it ${after(taken.at)}` : none;
	const line = `The account deleted ${deleted} channel(s) and banned ${banned} member(s) within a minute. The bot ${end}.`;
	return { lines: [line], better: isOn ? {} : { "night.strip": true }, outcome: [deleted, banned, taken?.at] };
};

const mentions = Array.from({ length: 11 }, (_, number) => `<@${10n ** 17n + BigInt(number)}>`).join("");

/** With the preset of the setting automod.presets without which the bot lets it through. */
const kindsOfSpam: readonly [what: string, preset: string, text: (number: number) => string][] = [
	["the same link", "", () => "Free gifts at https://gifts.example/now"],
	["the same short text", "short_floods", () => "free gifts"],
	["many different texts", "floods", (number) => `Sold ${number} of my old lamps`],
	["capitals", "caps", (number) => `LOOK AT MY ${"VERY ".repeat(number)}NEW CHANNEL`],
	["links of a new account", "new_account_links", (number) => `https://shop.example/${number}`],
	["invites", "invites", (number) => `Join discord.gg/spam${number}`],
	["mentions of 11 people", "mass_mentions", (number) => `${number} ${mentions}`],
];

/** Members whose accounts are hijacked, and one account of one day. Each writes a message each second, in another channel. */
export const playSpam: Scenario = async (stage, { settings }) => {
	const { guild, world, request, done, after } = stage;
	const { "automod.presets": chosen = [], "spam.exempt_roles": exempt = [] } = settings as Record<string, string[]>;
	const people = [...guild.members.values()].filter(({ user, roles }) => {
		const isStaff = user.id === guild.owner_id || (guildPermissions(guild, user.id) & staff) !== 0n;
		return !user.bot && !isStaff && !roles.some((id) => exempt.includes(id));
	});
	const spammers = kindsOfSpam.map(([what, preset, text]) => {
		const [member] = people.splice(Math.floor(Math.random() * people.length), 1);
		const isNew = preset === "new_account_links" || !member;
		const account = isNew ? stage.newAccount(`spammer${preset}`) : stage.hijack(member);
		if (isNew) world.members.add(guild, account.user);
		const count = preset === "floods" ? 14 : 8;
		return { what, preset, text, account, count, places: stage.placesOf(account), posted: 0 };
	});
	if (spammers.every(({ places }) => places.length === 0)) return { lines: ["Members can write in no channel."] };
	for (let number = 1; number <= 14; number += 1) {
		for (const one of spammers) {
			const path = `/channels/${one.places[number % one.places.length]}/messages`;
			const message = { content: one.text(number) };
			if (number <= one.count && (await request(one.account, "POST", path, message))) one.posted += 1;
		}
		await advance(1_000);
	}
	await advance(60_000);
	const timeouts = done(timeoutRoute);
	const missing: string[] = [];
	const lines = spammers.map(({ what, preset, account, count, posted }) => {
		const { id } = account.user;
		const stayed = stage.messagesOf(id).length;
		if (preset && stayed > 0 && !chosen.includes(preset)) missing.push(preset);
		const timeout = timeouts.find(({ path }) => path.endsWith(id));
		if (posted === 0) return `${what}: none of ${count} messages was posted`;
		const end = timeout ? `timed out ${after(timeout.at)}` : "not timed out";
		return `${what}: ${posted} of ${count} messages were posted, ${stayed} stayed; ${end}`;
	});
	const better = {
		...(settings["spam.dry"] === true && { "spam.dry": false }),
		...(missing.length > 0 && { "automod.presets": [...chosen, ...missing] }),
	};
	const first = `${spammers.length} accounts wrote spam, a message each second.`;
	return { lines: [first, ...lines], better };
};
