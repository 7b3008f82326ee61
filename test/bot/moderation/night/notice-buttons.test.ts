// The notice of a mass deletion in the guild's channels, and its buttons, with the real bot.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { until } from "../../../support/until.ts";
import { giveRole, memberNamed, startWorld } from "../../../support/world.ts";

const staff = "The Cooks/staff";

/** Notices are posted in staff's channel, which is that of the setting. */
async function startCrime(setting: "audit" | "moderation", night = {}) {
	const world = await startWorld(
		{},
		{
			sections: ({ channel }) => ({
				backup: { alarm_deletions: 3 },
				night,
				...(setting === "audit" ? { audit: { channel: channel(staff).id } } : {}),
				moderation: { log_channel: channel(setting === "audit" ? "The Cooks/general" : staff).id },
			}),
		},
	);
	const { simulator, guild, dataDirectory } = world;
	const { channels, messages } = simulator.world;
	for (let number = 0; number < 4; number += 1) channels.add(guild, { name: `recipes-${number}` });
	// Its name must not be taken for the plan's.
	const role = simulator.world.roles.add(guild, { name: `plan_hash=${"0123456789abcdef".repeat(2)}` });
	await world.heard();
	return {
		...world,
		names: () => [...guild.channels.values()].map(({ name }) => name).filter((name) => name.startsWith("recipes")),
		async backUp() {
			const { text: json } = await world.call("export_guild", { parts: ["channels", "categories"] });
			using database = new Database(join(dataDirectory, "store.sqlite"));
			database.run(
				"INSERT INTO guild_backups (guild_id, number, made_at, guild_name, length, sha256, channels, roles, omitted, document) VALUES (?, 1, ?, 'The Cooks', ?, '', 1, 1, '', ?)",
				[guild.id, 0, json.length, json],
			);
		},
		commit() {
			const by = { actor: simulator.user("zoe").id };
			simulator.world.roles.remove(guild, role, by);
			for (const channel of [...guild.channels.values()])
				if (channel.name.startsWith("recipes")) channels.remove(channel, by);
		},
		notice: () =>
			until("the notice is posted", () => messages.in(simulator.channel(staff).id).find(({ embeds }) => embeds.length)),
		async press(who: string, message: Message, button: string) {
			const pressed = await simulator.user(who).press(message, button);
			return { text: (await pressed.reply()).content, next: () => pressed.followUp() };
		},
		[Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
	};
}

test.concurrent("Restore shows the plan with the backup to an administrator, and makes what was deleted again", async () => {
	await using crime = await startCrime("moderation");
	await crime.backUp();
	crime.commit();
	const notice = await crime.notice();
	expect(notice.embeds[0]?.description).toContain("deleted 5 channels or roles from");
	expect((await crime.press("jose.garcia", notice, "Restore …")).text).toContain("Administrator");
	const { text, next } = await crime.press("ada", notice, "Restore …");
	expect(text).toContain("recipes-3");
	expect(crime.names()).toEqual([]);
	const asked = await next();
	expect(asked.ephemeral).toBe(true);
	const done = await crime.press("ada", asked as never, "Do it");
	expect(done.text).toContain("recipes-0");
	expect(crime.names()).toEqual(["recipes-0", "recipes-1", "recipes-2", "recipes-3"]);
});

test.concurrent("without a backup, Restore undoes what the account did", async () => {
	await using crime = await startCrime("audit");
	crime.commit();
	const { next } = await crime.press("ada", await crime.notice(), "Restore …");
	await crime.press("ada", (await next()) as never, "Do it");
	expect(crime.names().sort()).toEqual(["recipes-0", "recipes-1", "recipes-2", "recipes-3"]);
});

test.concurrent("roles that were taken are given back once, by who may, and the rule can be turned off", async () => {
	await using crime = await startCrime("moderation", { strip: true });
	const { guild } = crime;
	const zoe = memberNamed({ guild }, "zoe");
	const crew = giveRole(crime, "zoe", { permissions: PermissionFlagsBits.ManageChannels });
	await crime.heard();
	crime.commit();
	const notice = await crime.notice();
	expect(zoe.roles).not.toContain(crew.id);
	expect((await crime.press("jose.garcia", notice, "Give roles back")).text).toContain("Manage Roles");
	expect((await crime.press("jose.garcia", notice, "Turn this rule off")).text).toContain("Manage Server");
	expect((await crime.press("ada", notice, "Give roles back")).text).toContain(`<@&${crew.id}>`);
	expect(zoe.roles).toContain(crew.id);
	expect((await crime.press("ada", notice, "Give roles back")).text).toBe("This button is of no use any more.");
	await crime.press("ada", notice, "Turn this rule off");
	expect((await crime.call("get_settings", {})).text).not.toContain("night.strip = true");
});
