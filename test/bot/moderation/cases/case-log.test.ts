// What the moderation log and `case` show of cases, with hostile reasons.

import { expect } from "bun:test";
import { roleNamed } from "../../../support/world.ts";
import { moderationTest } from "../moderation-world.ts";

const staff = "The Cooks/staff";
const hostile = "a @everyone <@&1> **b** [c](https://x.example) \u202e\u200b`d`";

moderationTest("an entry has moderator, user, action, reason and case, with the reason escaped", async (world) => {
	const [ada, zoe] = [world.id("ada"), world.id("zoe")];
	await world.ask("ada", `!m warn ${zoe} ${hostile}`);
	const [first] = await world.noted(1);
	expect(first).toMatchObject({
		title: "Warning",
		Moderator: `<@${ada}>`,
		User: `<@${zoe}>`,
		Case: "1",
		"Direct message": "delivered",
	});
	const { Reason = "" } = first ?? {};
	expect(Reason).toContain("\\<@&1> \\*\\*b\\*\\*");
	expect(Reason).not.toMatch(/[\u202e\u200b]/);
	expect(Reason).toContain("\\[c](https");

	for (const text of ["!m case 1", `!m cases ${zoe}`])
		expect(await world.ask("ada", text)).toStartWith("Everyone can read this channel. Use `/case");
	const shown = await world.ask("ada", "!m case 1", staff);
	expect(shown).toContain("** Warning: ");
	expect(shown).not.toMatch(/[\u202e\u200b]/);
	expect(shown).toContain("@everyone");
	const sent = world.answers(staff).filter(({ content }) => content === shown);
	expect(sent).toMatchObject([{ mention_everyone: false, mentions: [] }]);

	await world.ask("ada", "!m delete-case 1");
	expect((await world.noted(2))[1]).toMatchObject({ title: "Case deleted: Warning", Case: "1" });
});

moderationTest("entries and direct messages are in the guild's language; posted ones keep theirs", async (world) => {
	const { simulator, guild } = world;
	const [ada, zoe] = [world.id("ada"), world.id("zoe")];
	simulator.world.guilds.edit(guild, { preferred_locale: "de" });
	await world.ask("ada", `!m warn ${zoe} unfreundlich`);
	const [first] = await world.noted(1);
	expect(first).toEqual({
		title: "Verwarnung",
		Moderator: `<@${ada}>`,
		Betrifft: `<@${zoe}>`,
		Grund: "unfreundlich",
		Direktnachricht: "zugestellt",
		Fall: "1",
	});
	const [bot, person] = [simulator.bot("alpha").id, zoe].map((id) => simulator.world.users.get(id));
	const dm = bot && person && simulator.world.channels.findDm(bot, person);
	expect(simulator.world.messages.in(dm?.id ?? "")).toMatchObject([
		{ content: "Du wurdest auf **The Cooks** verwarnt.\nGrund: unfreundlich" },
	]);
	await world.ask("ada", `!m timeout ${zoe} 1h`);
	const [, second = {}] = await world.noted(2);
	expect(second).toMatchObject({ title: "Timeout", Bis: expect.stringMatching(/^<t:\d+:f> \(<t:\d+:R>\)$/) });

	simulator.world.guilds.edit(guild, { preferred_locale: "en-GB" });
	await world.ask("ada", "!m delete-case 1");
	const all = await world.noted(3);
	expect(all.map(({ title }) => title)).toEqual(["Verwarnung", "Timeout", "Case deleted: Warning"]);
});

moderationTest("an entry's colour says how grave the action is", async (world) => {
	const zoe = world.id("zoe");
	const commands = [`ban ${zoe} 1h`, `unban ${zoe}`, `warn ${world.id("mona_lisa")} rude`, `note ${zoe} calm`];
	for (const command of commands) await world.ask("ada", `!m ${command}`);
	await world.noted(4);
	const colours = world.answers(staff).flatMap(({ embeds }) => embeds.map(({ color }) => color));
	expect(colours).toEqual([0xc62828, 0x2e7d32, 0xef6c00, 0x546e7a]);
});

moderationTest("an entry names the role of a change", async (world) => {
	const role = roleNamed(world, "Newcomer");
	await world.ask("ada", `!m role remove ${role.id} ${world.id("zoe")}`);
	const [first] = await world.noted(1);
	expect(first).toMatchObject({ title: "Role removed", Detail: `<@&${role.id}>`, User: `<@${world.id("zoe")}>` });
});
