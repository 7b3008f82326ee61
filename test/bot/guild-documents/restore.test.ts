// A wiped guild is restored from a backup, with everything real but Discord.

import { expect, test } from "bun:test";
import { Backups } from "../../../src/bot/guild-documents/backups/backups.ts";
import { createGuildDocuments, type GuildDocuments } from "../../../src/bot/guild-documents/guild-documents.ts";
import { createRules } from "../../../src/bot/guild-documents/plans/rules.ts";
import { createPictures, type Pictures } from "../../../src/bot/guild-documents/read/pictures.ts";
import type { GuildDocument } from "../../../src/guild-document/format/document.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { present, until } from "../../support/until.ts";
import { memberNamed } from "../../support/world.ts";
import { startFeature } from "../features/running-feature.ts";
import { hashIn, jobIn } from "./running-service.ts";

const dayMs = 86_400_000;

/** A bot with backups and guild documents. */
async function startDocuments(prepare: (simulator: Simulator) => void) {
	const clock = { now: 1_790_000_000_000 };
	let backups: Backups | undefined;
	let documents: GuildDocuments | undefined;
	let pictures: Pictures | undefined;
	const bot = await startFeature({
		prepare,
		create({ connection, store, log, mutex }) {
			pictures = createPictures({ store, download: connection.downloadPicture });
			const made = new Backups({
				settings: { every: dayMs, keep: 14 },
				guilds: undefined,
				connection,
				store,
				pictures,
				log,
				timing: { now: () => clock.now, startDelayMs: 0, spacingMs: 0, maxSleepMs: 5 },
			});
			const service = createGuildDocuments({
				connection,
				store,
				mutex,
				log,
				pictures,
				backups: made,
				rules: createRules({ connection, pictures, denies: () => false }),
				mayTouch: () => true,
				backOffMs: [1, 20],
			});
			backups = made;
			documents = service;
			return {
				attach(client) {
					made.attach(client);
					service.attach(client);
				},
				start() {
					made.start();
					service.start();
				},
				async close() {
					await Promise.all([made.close(), service.close()]);
				},
			};
		},
	});
	if (!backups || !documents || !pictures) throw new Error("it is started");
	const guild = present(bot.connection.guilds[0]);
	const checkedAt = async () => {
		const [row] = await bot.store.sql<{ checked_at: number }>`
			SELECT checked_at FROM guild_backup_checks WHERE guild_id = ${guild.id}`;
		return row?.checked_at;
	};
	return {
		bot,
		guild,
		clock,
		backups,
		documents,
		pictures,
		/** Makes a backup, and returns the document of the latest one. */
		async backUp() {
			clock.now += dayMs;
			await until("the guild was checked", async () => (await checkedAt()) === clock.now);
			return present(await backups?.read(guild.id, "latest"));
		},
		[Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
	};
}

/** A document without ids, which are new after a restore. */
function withoutIds({ members, ...document }: GuildDocument): unknown {
	return { ...JSON.parse(JSON.stringify(document, (key, value) => (key === "id" ? undefined : value))), members };
}

test("a guild that lost half of its channels, roles and emoji is restored to its backup", async () => {
	await using world = await startDocuments(({ world, guild, user }) => {
		const cooks = guild("The Cooks");
		const zoe = world.users.get(user("zoe").id);
		const zoeInGuild = memberNamed({ guild: cooks }, "zoe");
		if (!zoe) throw new Error("zoe is in the guild");
		const roles = Array.from({ length: 8 }, (_, number) =>
			world.roles.add(cooks, { name: `chefs-${number}`, color: number }),
		);
		world.members.edit(cooks, zoeInGuild, { roles: [...zoeInGuild.roles, ...roles.map(({ id }) => id)] });
		const category = world.channels.add(cooks, { name: "Recipes", type: 4 });
		for (let number = 0; number < 8; number += 1)
			world.channels.add(cooks, {
				name: `recipes-${number}`,
				topic: `Recipe ${number}`,
				parent_id: category.id,
				permission_overwrites: [{ id: roles[number]?.id ?? "", type: 0, allow: "1024", deny: "0" }],
			});
		world.emojis.add(cooks, zoe, { name: "soup" });
		world.emojis.add(cooks, zoe, { name: "salad" });
	});
	const { bot, documents, guild } = world;
	const { name, document } = await world.backUp();
	const before = withoutIds(document);
	const simulated = bot.simulator.world;
	for (const [index, role] of [...bot.guild.roles.values()].entries())
		if (role.name.startsWith("chefs-") && index % 2 === 0) simulated.roles.remove(bot.guild, role);
	for (const channel of [...bot.guild.channels.values()])
		if (/^(recipes-[0-4]|Recipes)$/.test(channel.name)) simulated.channels.remove(channel);
	for (const emoji of [...bot.guild.emojis.values()])
		if (emoji.name === "soup") simulated.emojis.remove(bot.guild, emoji);
	expect(withoutIds((await world.backUp()).document)).not.toEqual(before);
	const plan = await documents.plan(guild, { backup: name });
	const job = jobIn(await documents.apply(hashIn(plan)));
	const end = await until("the job ends", async () => {
		const text = await documents.job(job);
		return text.includes("ended 2") && text;
	});
	expect(end).toContain(": done,");
	const restored = await world.backUp();
	expect(withoutIds(restored.document)).toEqual(before);
	// The same pictures, although Discord has new ids for the emoji.
	expect(restored.document.emojis?.map(({ picture }) => picture)).toEqual(
		document.emojis?.map(({ picture }) => picture),
	);
	expect(await documents.plan(guild, { backup: name })).toContain("no changes");
});
