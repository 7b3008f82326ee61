// What the moderation log and `case` show of cases, with hostile reasons.

import { expect, test } from "bun:test";
import { startModerationWorld } from "../moderation-world.ts";

const staff = "The Cooks/staff";
const hostile = "a @everyone <@&1> **b** [c](https://x.example) \u202e\u200b`d`";

test("an entry has moderator, user, action, reason and case, with the reason escaped", async () => {
	await using world = await startModerationWorld();
	const [ada, zoe] = [world.id("ada"), world.id("zoe")];
	await world.ask("ada", `!m warn ${zoe} ${hostile}`);
	const [first] = await world.noted(1);
	expect(first).toMatchObject({
		title: "Warning",
		Moderator: `<@${ada}>`,
		User: `<@${zoe}>`,
		Case: "1",
		"Direct message": "told by direct message",
	});
	const { Reason = "" } = first ?? {};
	expect(Reason).toContain("\\<@&1> \\*\\*b\\*\\*");
	expect(Reason).not.toMatch(/[\u202e\u200b]/);
	expect(Reason).toContain("\\[c](https");

	for (const text of ["!m case 1", `!m cases ${zoe}`])
		expect(await world.ask("ada", text)).toStartWith("Everyone can read this channel. Use `/case");
	const shown = await world.ask("ada", "!m case 1", staff);
	expect(shown).toContain(" | Warning | ");
	expect(shown).not.toMatch(/[\u202e\u200b]/);
	expect(shown).toContain("@everyone");
	const sent = world.answers(staff).filter(({ content }) => content === shown);
	expect(sent).toMatchObject([{ mention_everyone: false, mentions: [] }]);

	await world.ask("ada", "!m delete-case 1");
	expect((await world.noted(2))[1]).toMatchObject({ title: "Case deleted: Warning", Case: "1" });
});

test("an entry names the role of a change", async () => {
	await using world = await startModerationWorld();
	const [role] = [...world.guild.roles.values()].filter(({ name }) => name === "Newcomer");
	if (!role) throw new Error("there is a role");
	await world.ask("ada", `!m role remove ${role.id} ${world.id("zoe")}`);
	const [first] = await world.noted(1);
	expect(first).toMatchObject({ title: "Role removed", Detail: `<@&${role.id}>`, User: `<@${world.id("zoe")}>` });
});
