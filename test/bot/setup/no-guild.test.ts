import { expect, test } from "bun:test";
import { startBot } from "../../../src/bot/bot.ts";
import { invitePermissions, inviteUrl } from "../../../src/bot/setup/invite.ts";
import { connectedConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { present, until } from "../../support/until.ts";

test("a bot in no guild warns with its invitation: at the start, and when it has left its last one", async () => {
	await using simulator = await startSimulator({
		seed: {
			bots: [{ username: "alpha" }],
			users: [{ username: "ada" }],
			guilds: ["One", "Two"].map((name) => ({ name, owner: "ada" })),
		},
	});
	const { world } = simulator;
	const { id } = simulator.bot("alpha");
	const alpha = present(world.users.get(id));
	const [one, two] = [simulator.guild("One"), simulator.guild("Two")];
	const { log, entries } = recordLog();
	const config = connectedConfig(simulator);
	const bot = startBot(config, log);
	await using stack = new AsyncDisposableStack();
	stack.defer(() => bot.close());
	const warnings = () => entries("the bot is in no guild, open this link to invite it");
	await until("it has warned", () => warnings().length === 1);
	expect(warnings()[0]).toMatchObject({ level: "warn", invite: inviteUrl(id, invitePermissions(config.toml)) });

	const members = [one, two].map((guild) => world.members.add(guild, alpha));
	const loaded = () => entries("loaded all members of a guild").length;
	await until("it knows both guilds", () => loaded() === 2);
	world.guilds.remove(one);
	const [, inTwo] = members;
	if (!inTwo) throw new Error("alpha is in both");
	world.members.remove(two, inTwo);
	await until("it has warned again", () => warnings().length > 1);
	expect(warnings()).toHaveLength(2);
});
