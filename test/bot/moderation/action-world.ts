// The bot with the feature `moderation` and its database, moderators who use it through each front end, and what comes of it:
// Discord's state, the answer, and the cases in the database.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import { createFeatures } from "../../../src/bot/features/index.ts";
import { peopleText } from "../../../src/bot/results/people-text.ts";
import type { CaseRow } from "../../../src/bot/store/tables/cases.ts";
import { tools as builtIn } from "../../../src/bot/tools/index.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { KeyedMutex } from "../../../src/lib/keyed-mutex.ts";
import type { Simulator, SimulatorOptions } from "../../../src/simulator/simulator.ts";
import type { Account, Guild, Role } from "../../../src/simulator/world/state/entities.ts";
import { botConfig } from "../../support/bot-config.ts";
import { splitSettings } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { startWorld } from "../../support/world.ts";
import { noTools } from "../features/running-feature.ts";
import type { Permission } from "../tool-rows/scene.ts";
import { freshName, newRole, type Scene } from "../tool-rows/scene.ts";

/** Everything that moderators need for the actions. */
export const moderatorPermissions: readonly Permission[] = [
	...(["ViewChannel", "SendMessages", "ReadMessageHistory"] as const),
	...(["UseApplicationCommands", "Connect", "Speak"] as const),
	...(["AddReactions", "SendMessagesInThreads"] as const),
	...(["CreatePublicThreads", "CreatePrivateThreads"] as const),
	...(["BanMembers", "KickMembers", "ModerateMembers"] as const),
	...(["ManageMessages", "ManageChannels", "ManageRoles"] as const),
	...(["ManageNicknames", "MoveMembers", "MuteMembers"] as const),
	...(["DeafenMembers", "ManageGuild", "ViewAuditLog"] as const),
	...(["ManageThreads", "PinMessages", "ManageEvents"] as const),
];

export const bitsOf = (permissions: readonly Permission[]) =>
	permissions.reduce((all, name) => all | PermissionFlagsBits[name], 0n);

/** The settings of a bot with all moderation features and all tools, in sections. */
export const moderationSections = ({ channel }: Pick<Simulator, "channel">, more: Record<string, unknown> = {}) => ({
	mcp: { toolsets: "all" },
	features: { moderation: true },
	moderation: { log_channel: channel("The Cooks/staff").id },
	...more,
});

/** What the bot offers with these settings, without a connection. */
function offeredBy(sections: JsonObject) {
	const features = createFeatures({
		config: botConfig({ toml: splitSettings(sections).toml }),
		connection: { guilds: [] },
		store: {},
		log: recordLog().log,
		mutex: new KeyedMutex(),
		callAs: noTools,
	} as unknown as Parameters<typeof createFeatures>[0]);
	const { actions, menus } = features;
	return { actions, menus, builtIn, tools: [...builtIn, ...features.tools] };
}

/** All actions, whatever the ids in the settings are. */
export const offered = offeredBy(moderationSections({ channel: () => ({ id: "1".repeat(18) }) as never }));

/** Converts the text of a tool's error for people, as the front ends do. */
export const forPeople = (text: string) => peopleText(text, { isError: true });

export interface ActionScene extends Scene {
	/** The only role of moderators, which has all of `moderatorPermissions`. Roles that tests make rank below it. */
	mods: Role;
	/** The only role of people who lack something. It ranks like `mods`. */
	lacking: Role;
	/** A role above both, and below the bot. */
	higher: Role;
	/** The bot's own role. */
	botRole: Role;
	/** A new person with this role and a token. */
	newPerson(role?: Role): Account;
	/** The cases since the last call of this function. */
	newCases(): CaseRow[];
	/** Whether there is a case about a person. */
	hasCase(userId: string): boolean;
	/** Resolves when the bot has heard of everything; forgets requests and cases so far. */
	settle(): Promise<void>;
}

/** The bot is in its guild alone, with all permissions that moderators have. */
export async function startActionScene({
	settings,
	requestsPerSecond,
	...options
}: SimulatorOptions & {
	/** More keys of config.toml. */
	settings?: (simulator: Simulator) => Record<string, unknown>;
	requestsPerSecond?: number;
} = {}): Promise<ActionScene & AsyncDisposable> {
	const world = await startWorld(options, {
		mcpToken: "a-token",
		...(requestsPerSecond && { requestsPerSecond }),
		sections: (simulator) => moderationSections(simulator, settings?.(simulator)),
	});
	const { simulator, guild } = world;
	const platform = simulator.world;
	const other = simulator.guild("The Bakers");
	const scene: Scene = { world, guild, other };
	const everyone = roleOfEveryone(guild);
	const all = String(bitsOf(moderatorPermissions));
	const basic = bitsOf([
		...(["ViewChannel", "SendMessages", "ReadMessageHistory"] as const),
		...(["UseApplicationCommands", "Connect"] as const),
	]);
	platform.roles.edit(guild, everyone, { permissions: String(basic) });
	// A new role ranks below all others.
	const [higher, mods, lacking] = [0, 1, 2].map(() => newRole(scene, guild));
	const botRole = [...guild.roles.values()].find(({ tags }) => tags?.bot_id === simulator.bot("alpha").id);
	if (!higher || !mods || !lacking || !botRole) throw new Error("there are these roles");
	for (const role of [mods, lacking, botRole]) platform.roles.edit(guild, role, { permissions: all });
	platform.roles.move(guild, new Map([[botRole, guild.roles.size]]));
	// As an owner can do in the guild's settings: everyone sees all commands.
	for (const command of registered(simulator)) command.default_member_permissions = null;
	const rows = caseReader(world.dataDirectory);
	await world.heard();
	return {
		...scene,
		mods,
		lacking,
		higher,
		botRole,
		newPerson(role = mods) {
			const account = platform.users.addPerson({ username: freshName() });
			const member = platform.members.add(guild, account.user);
			platform.members.edit(guild, member, { roles: [role.id] });
			return account;
		},
		newCases: rows.next,
		hasCase: rows.has,
		async settle() {
			await world.heard();
			simulator.requests.clear();
			simulator.journal.clear();
			rows.next();
		},
		async [Symbol.asyncDispose]() {
			rows.close();
			await world[Symbol.asyncDispose]();
		},
	};
}

export function roleOfEveryone(guild: Guild): Role {
	const role = guild.roles.get(guild.id);
	if (role) return role;
	throw new Error("a guild has a role of everyone");
}

/** The commands that the bot has registered. */
export function registered({ world, bot, guild }: Simulator) {
	const application_id = bot("alpha").id;
	return [
		...world.commands.in({ application_id }),
		...world.commands.in({ application_id, guild_id: guild("The Cooks").id }),
	];
}

/** Reads the cases in a bot's SQLite file. */
export function caseReader(directory: string) {
	const database = new Database(join(directory, "store.sqlite"));
	database.run("PRAGMA busy_timeout = 5000");
	let last = 0;
	return {
		/** The cases with a number above that of the last one that was read. */
		next(): CaseRow[] {
			const rows = database.query<CaseRow, [number]>("SELECT * FROM cases WHERE number > ? ORDER BY number").all(last);
			last = rows.at(-1)?.number ?? last;
			return rows;
		},
		has: (userId: string): boolean => database.query("SELECT number FROM cases WHERE user_id = ?").get(userId) !== null,
		close: () => database.close(),
	};
}
