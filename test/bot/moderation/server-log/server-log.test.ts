// What the member and server log shows of what people do by hand, each kind in its channel.

import { expect, test } from "bun:test";
import { ChannelType } from "discord.js";
import { createFolding } from "../../../../src/bot/moderation/server-log/server-log.ts";
import { serverLogs } from "../../../../src/bot/settings/keys.ts";
import { said } from "../../../../src/texts/texts.ts";
import { until } from "../../../support/until.ts";
import { moderator, staffChannel, startModerationWorld } from "../moderation-world.ts";

/** All kinds are shown in the staff channel, which is also the moderation log. */
const startLogged = () =>
	startModerationWorld(undefined, {}, (simulator) => {
		const { id } = simulator.channel(staffChannel);
		return { log: Object.fromEntries(serverLogs.map((kind) => [kind, id])) };
	});

test("what moderators do by hand is shown with who did it, to whom and what changed", async () => {
	await using world = await startLogged();
	const { simulator, guild, member, notes, id } = world;
	const { members, channels, roles, webhooks, users } = simulator.world;
	const by = { actor: id(moderator), reason: "tidying *up*" };
	const shown = (title: string) =>
		until(`an entry ${title}`, () => {
			const found = notes().find((note) => note.title === title && !("Case" in note));
			return found && JSON.stringify(found);
		});
	const mona = member("mona_lisa");
	members.edit(guild, mona, { nick: "Mona [x](https://evil.example)" }, by);
	const name = await shown("Name");
	expect(name).toContain(`<@${id(moderator)}>`);
	expect(name).toContain(`<@${id("mona_lisa")}>`);
	expect(name).toContain("tidying \\\\*up\\\\*");
	expect(name).toContain("\\\\[x](https");
	members.edit(guild, mona, { roles: [] }, by);
	expect(await shown("Roles of a member")).toContain("−@Regular");
	members.edit(guild, mona, { communication_disabled_until: "2100-01-01T00:00:00.000Z" }, by);
	expect(await shown("Timeout")).toContain("timeout until none → <t:4102444800:f>");
	const channel = channels.add(guild, { name: "new-place", type: ChannelType.GuildText }, by);
	expect(await shown("Channel")).toContain("created channel #new-place");
	channels.setOverwrite(channel, { id: guild.id, type: 0, allow: "0", deny: "1024" }, by);
	await until("the overwrite", () => JSON.stringify(notes()).includes("−VIEW"));
	roles.add(guild, { name: "Fresh" }, by);
	expect(await shown("Role")).toContain("created role @Fresh");
	expect(webhooks).toBeDefined();
	const nora = users.add({ username: "nora" });
	members.add(guild, nora);
	expect(await shown("Member joined")).toMatch(/<@\d+>.*account created <t:\d+:R>/);
	members.remove(guild, member("liwei"), by);
	const kicked = await shown("Member kicked");
	expect(kicked).toContain(`<@${id(moderator)}>`);
	expect(kicked).toContain("member since");
	const titled = (title: string) => notes().filter((note) => note.title === title);
	for (const username of ["idle", "asleep"]) members.remove(guild, members.add(guild, users.add({ username })));
	const options = { delete_member_days: "30", members_removed: "2" };
	simulator.world.state.audit(guild, by, "MemberPrune", null, { options });
	const prune = await shown("Prune");
	expect(prune).toContain("2 members\\ninactive for 30 days");
	await until("both leaves", () => titled("Member left in a prune").length === 2);
	for (const entry of [prune, JSON.stringify(titled("Member left in a prune"))]) expect(entry).toContain(id(moderator));
	// Somebody else's kick is none of hers, and a prune's number is exhausted.
	members.remove(guild, member("zoe"));
	expect(await shown("Member left")).toContain(`<@${id("zoe")}>`);
	// What waits for the audit log or an invite is shown at a shutdown.
	members.remove(guild, mona);
	members.add(guild, users.add({ username: "nick" }));
	roles.add(guild, { name: "Last" }, by);
	await until("the role", () => JSON.stringify(notes()).includes("@Last"));
	await world.stop();
	expect(titled("Member left").length + titled("Member joined").length).toBe(6);
}, 120_000);

test("the first of many are shown one by one, and the rest together, also at a shutdown", () => {
	const posted: string[] = [];
	const folding = createFolding((guildId, { userId, description }) => {
		posted.push(`${guildId} ${userId ?? JSON.stringify(description)}`);
	});
	const add = (kind: string, guildId: string, users: number) => {
		for (let user = 1; user <= users; user += 1)
			folding.add(kind, guildId, { title: said("log.set.title"), userId: `${user}` });
	};
	add("joined", "g", 40);
	add("left", "g", 1);
	add("joined", "h", 6);
	expect(posted).toEqual(["g 1", "g 2", "g 3", "g 4", "g 5", "g 1", "h 1", "h 2", "h 3", "h 4", "h 5"]);
	folding.close();
	expect(posted).toHaveLength(13);
	expect(posted[11]).toContain('"count":35');
	expect(posted[11]).toContain("<@6>, <@7>");
	// One alone is shown as it is.
	expect(posted[12]).toBe("h 6");
});
