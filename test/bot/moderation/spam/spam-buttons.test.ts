// The buttons below log entries about spam, with the whole bot: presses are tool calls of the person.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { onBoth } from "../../../support/stores.ts";
import { until } from "../../../support/until.ts";
import { channelNamed, memberNamed, memberOverwrite, roleNamed } from "../../../support/world.ts";
import { grant } from "../../features/running-feature.ts";
import { moderator, staffChannel, startModerationWorld } from "../moderation-world.ts";
import { advert } from "./spam-world.ts";

onBoth((databases) => {
	test("buttons act in the name of the person who presses, also after a restart", async () => {
		await using world = await startModerationWorld(await databases.place(), {}, () => ({
			spam: { on: true, channels: 3 },
		}));
		const { simulator, guild } = world;
		const { BanMembers, ModerateMembers } = PermissionFlagsBits;
		grant(simulator, "Staff", BanMembers, ModerateMembers);
		const owner = simulator.world.users.get(guild.owner_id);
		const channels = [0, 1, 2].map((n) =>
			simulator.world.channels.add(guild, { name: `c${n}`, type: ChannelType.GuildText }),
		);
		const spam = (user: (typeof people)[number]) => {
			for (const channel of channels) simulator.world.messages.add(channel, user, { content: advert });
		};
		const people = [0, 1, 2, 3].map((n) => {
			const user = simulator.world.users.add({ username: `mallory${n}` });
			simulator.world.members.add(guild, user);
			return user;
		});
		const [undone, banned, fine, late] = people;
		if (!undone || !banned || !fine || !late) throw new Error("no people");
		const isTimedOut = ({ id }: typeof undone) => Boolean(guild.members.get(id)?.communication_disabled_until);
		const entries = () =>
			world.answers(staffChannel).filter(({ embeds }) => embeds.some(({ title }) => title === "Spam"));
		const entryOf = ({ id }: typeof undone) =>
			until("the entry", () => entries().find(({ embeds }) => JSON.stringify(embeds).includes(id)));
		const press = async (who: string, user: typeof undone, button: string): Promise<string> => {
			const entry = await entryOf(user);
			const handle = await simulator.user(who).press(entry, button);
			return (await handle.reply()).content;
		};
		people.forEach(spam);
		for (const user of people) await entryOf(user);
		expect(people.map(isTimedOut)).toEqual([true, true, true, true]);

		// Mona may do nothing of it. She does not see the channel: anyone may be given it.
		const seen = memberOverwrite(world.id("mona_lisa"), { allow: PermissionFlagsBits.ViewChannel });
		simulator.world.channels.setOverwrite(channelNamed({ guild }, "staff"), seen);
		const holders = `<@&${roleNamed({ guild }, "Staff").id}>, <@${guild.owner_id}>`;
		expect(await press("mona_lisa", undone, "Undo")).toBe(
			`You need the permission Timeout Members for this. Ask somebody who has it: ${holders}. Nothing was done.`,
		);
		simulator.world.users.locales.set(world.id("mona_lisa"), "de");
		expect(await press("mona_lisa", undone, "Ban")).toContain("„Mitglieder bannen“");
		expect(await press("mona_lisa", undone, "It's fine")).toContain("„Mitglieder im Timeout“");
		expect(isTimedOut(undone)).toBe(true);
		const granted = roleNamed({ guild }, "Regular");
		simulator.world.members.edit(guild, memberNamed({ guild }, "mona_lisa"), { roles: [granted.id] });
		await world.set({ "may.ban": [granted.id] });
		expect(await press("mona_lisa", undone, "Undo")).toContain("„Mitglieder im Timeout“");
		await world.set({ "may.timeout": [granted.id] });
		expect(await press("mona_lisa", undone, "Undo")).toContain("Timeout");
		expect(isTimedOut(undone)).toBe(false);
		const pair = await Promise.all([press(moderator, banned, "Ban"), press(owner?.username ?? "", banned, "Ban")]);
		expect(pair.filter((text) => text.includes("Banned"))).toHaveLength(1);
		expect(pair.join("\n")).toContain("just now. Nothing was done.");
		expect(guild.bans.has(banned.id)).toBe(true);
		expect(await press(moderator, fine, "It's fine")).toContain("24 hours");
		expect(isTimedOut(fine)).toBe(false);
		await until(
			"the entries have lost their buttons",
			() => entries().filter(({ components }) => components.length > 0).length === 1,
		);

		// What was found to be fine is not taken for spam again, what was undone is.
		spam(fine);
		spam(undone);
		await until("spam is found again", () => isTimedOut(undone));
		expect(isTimedOut(fine)).toBe(false);

		await world.stop();
		await world.start();
		expect(await press(moderator, late, "Undo")).toContain("Ended the timeout");
		expect(isTimedOut(late)).toBe(false);
		spam(fine);
		spam(late);
		await until("spam is found again", () => isTimedOut(late));
		expect(isTimedOut(fine)).toBe(false);
	});
});
