// A raid, and a moderator whose account is hijacked.

import { addInvites } from "../simulator/seed.ts";
import type { Account, Member } from "../simulator/world/state/entities.ts";
import { bitsOf, guildPermissions, has } from "../simulator/world/state/permissions.ts";
import type { Scenario } from "./stage.ts";
import { advance } from "./virtual-time.ts";

const accounts = 60;
const powers = bitsOf(["Administrator", "ManageChannels", "BanMembers"]);
/** The simulator does not enforce the verification level: at HIGH, members without a role wait so long. */
const verifiedMs = 600_000;

/** Sixty accounts of one day join, one each second. Each writes twice, where it may. */
export const playRaid: Scenario = async ({ guild, world, request, done, after }, { settings }, random) => {
	addInvites(world);
	const [invite] = world.invites.list({ guild_id: guild.id });
	if (!invite) return { lines: ["There is no channel to which people could be invited."] };
	const raiders = new Map<Account, number>();
	const channels = [...guild.channels.values()].filter(({ type }) => type === 0);
	let written = 0;
	async function write(raider: Account): Promise<void> {
		const places = channels.filter((one) =>
			has(world.channels.permissionsOf(one, raider.user), ["ViewChannel", "SendMessages"]),
		);
		const path = `/channels/${places[Math.floor(random() * places.length)]?.id}/messages`;
		if (await request(raider, "POST", path, { content: `Free gifts at https://gifts.example/${written}` }))
			written += 1;
	}
	for (let second = 1; second <= accounts + 6; second += 1) {
		const id = world.state.newId(Date.now() - 86_400_000);
		const account = world.users.addPerson({ username: `raider${second}`, id });
		if (second <= accounts && (await request(account, "POST", `/invites/${invite.code}`)))
			raiders.set(account, Date.now());
		for (const [raider, at] of raiders) {
			const isHeld = guild.verification_level >= 3 && Date.now() - at < verifiedMs;
			if (!isHeld && [2_000, 6_000].includes(Date.now() - at)) await write(raider);
		}
		await advance(1_000);
	}
	await advance(120_000);
	const lines = [
		`${raiders.size} of ${accounts} accounts joined, one each second. They wrote ${written} of ${raiders.size * 2} messages.`,
	];
	const [paused] = done("PUT /guilds/:guild_id/incident-actions");
	const slowed = done("PATCH /channels/:channel_id");
	if (paused) {
		const slow = `and slow mode was on in ${slowed.length} channels after ${after(slowed.at(-1)?.at ?? paused.at)}`;
		return { lines: [...lines, `The bot paused invites after ${after(paused.at)}, ${slow}.`] };
	}
	const posted = done("POST /channels/:channel_id/messages");
	const suggested = posted.find(({ body }) => JSON.stringify(body).includes("raid:on"));
	if (suggested) lines.push(`The bot suggested raid mode after ${after(suggested.at)}, and waited for a moderator.`);
	else if (settings["moderation.log_channel"]) lines.push("The bot noticed no raid.");
	else lines.push("The bot has no moderation log in which to suggest raid mode.");
	return { lines, better: { "night.raid": true } };
};

/** Who can do most deletes a channel and bans a member each second for a minute. */
export const playHijack: Scenario = async ({ guild, world, request, done, after }, _, random) => {
	const people = [...guild.members.values()].filter(({ user }) => !user.bot && user.id !== guild.owner_id);
	const powerOf = ({ user }: Member) => Number(guildPermissions(guild, user.id) & powers);
	const [moderator, ...others] = people.toSorted((a, b) => powerOf(b) - powerOf(a));
	if (!moderator || powerOf(moderator) === 0) return { lines: ["No member but the owner can delete channels or ban."] };
	const account = { token: "hijacked", user: moderator.user, privilegedIntents: [] };
	world.state.accounts.set(account.token, account);
	const channels = [...guild.channels.keys()];
	let deleted = 0;
	let banned = 0;
	for (let second = 0; second < 60; second += 1) {
		const [channel] = channels.splice(Math.floor(random() * channels.length), 1);
		if (channel && (await request(account, "DELETE", `/channels/${channel}`))) deleted += 1;
		if (await request(account, "PUT", `/guilds/${guild.id}/bans/${others.pop()?.user.id}`)) banned += 1;
		await advance(1_000);
	}
	await advance(60_000);
	const [taken] = done("DELETE /guilds/:guild_id/members/:user_id/roles/:role_id");
	const end = taken ? `The bot took roles from it after ${after(taken.at)}.` : "The bot could take no role from it.";
	return { lines: [`The account deleted ${deleted} channels and banned ${banned} members within a minute. ${end}`] };
};
