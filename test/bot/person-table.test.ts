// Every tool in the name of people who may do by hand what it does, and of people who may not: who are no members, lack a
// permission or a rank, do not see the channel, or are timed out. What Discord demands is the column "person" of the table.

import { afterAll, describe, expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { tools } from "../../src/bot/tools/index.ts";
import { officialName } from "../../src/discord/permissions.ts";
import { type GuildChannel, isThread } from "../../src/simulator/world/state/entities.ts";
import type { McpCaller } from "../support/mcp.ts";
import { memberOverwrite, userNamed } from "../support/world.ts";
import { type Cast, castOf, clientOf, permit } from "./person-cast.ts";
import { toolsOfPlans } from "./tool-rows/guild-documents.ts";
import { administrator, hiddenChannel, hide } from "./tool-rows/person.ts";
import {
	type Act,
	type Args,
	type Ask,
	type Demand,
	freshName,
	newMember,
	newRole,
	type Permission,
	type Row,
	type Scene,
	startScene,
} from "./tool-rows/scene.ts";
import { settle } from "./tool-scene.ts";
import { table } from "./tool-table.ts";

/** How many tools share a scene: a guild takes 500 channels and 250 roles. */
const toolsPerScene = 6;
let current: { cast: Cast; scene: AsyncDisposable; tools: Set<string> } | undefined;

async function enter(tool: string): Promise<Cast> {
	if (
		current &&
		!current.tools.has(tool) &&
		(current.tools.size === toolsPerScene || current.tools.has("delete_invite"))
	)
		await leave();
	if (!current) {
		const scene = await startScene("a-token");
		current = { scene, cast: castOf(scene), tools: new Set() };
	}
	current.tools.add(tool);
	const { cast } = current;
	cast.world.simulator.faults.clear();
	cast.person.communication_disabled_until = null;
	return cast;
}

async function leave(): Promise<void> {
	await current?.scene[Symbol.asyncDispose]();
	current = undefined;
}

afterAll(leave);

/** A call of the row that succeeds, and what would show that it was done. */
async function prepare(cast: Cast, name: string): Promise<Ask | Act | { args: Args }> {
	const row: Row | undefined = table[name];
	if (!row) return { args: await planArgs(cast, name) };
	if ("act" in row) return row.act(cast);
	return "ask" in row ? row.ask(cast) : { args: row.args(cast) };
}

const appliesPlan = (name: string) => name === "apply_guild" || name === "undo_actions";

/** The arguments of the tools that need a plan or a job. */
async function planArgs({ world }: Cast, name: string): Promise<Args> {
	const document = { channels: [{ name: freshName() }] };
	const isUndo = name === "undo_actions";
	const source = isUndo ? { user_id: world.simulator.user("zoe").id, after: "3h" } : { document };
	const { text } = await world.call(isUndo ? name : "plan_guild", source);
	const plan_hash = /plan_hash=(\w+)/.exec(text)?.[1];
	if (appliesPlan(name)) return { plan_hash };
	const job = await world.call("apply_guild", { plan_hash });
	return { job_id: /\bjob (\w{12})\b/i.exec(job.text)?.[1] };
}

const changes = ({ method, path }: { method: string; path: string }) =>
	method !== "GET" && path !== "/users/@me/channels";

interface Refusal {
	args?: Args;
	client?: McpCaller;
}

/** Makes a call that must be refused before Discord is asked to change anything. Returns the error. */
async function refused(
	cast: Cast,
	name: string,
	made: Ask | Act | { args: Args },
	{ args = made.args, client = cast.client }: Refusal = {},
): Promise<string> {
	await settle(cast);
	const { text, isError } = await client.call(name, args);
	expect({ text, isError }).toMatchObject({ isError: true });
	if ("done" in made) expect(made.done()).toBe(false);
	const { requests, journal } = cast.world.simulator;
	expect(requests.list().filter(changes)).toEqual([]);
	expect(journal.entries()).toEqual([]);
	return text;
}

async function runs(cast: Cast, name: string, made: Ask | Act | { args: Args }, args = made.args): Promise<string> {
	await settle(cast);
	const { text, isError } = await cast.client.call(name, args);
	expect({ text, isError }).toMatchObject({ isError: false });
	if ("done" in made) expect(made.done()).toBe(true);
	return text;
}

/** What the person needs in the guild: MANAGE_GUILD to manage the bot. */
function needsOf({ needs }: Demand): readonly Permission[] {
	if (needs === "nothing") return [];
	return needs === "to manage the bot" ? ["ManageGuild"] : needs;
}

function permitAll(cast: Cast, demand: Demand, but?: Permission) {
	const all = [...needsOf(demand), ...(demand.also ?? [])];
	permit(
		cast,
		all.filter((one) => one !== but),
	);
}

const lackOf = (permission: Permission) => `You lack ${officialName(permission)} in `;

/** The channel of a call in which permissions count. */
function channelOf({ world, guild }: Scene, made: { args: Args; channel?: string }): GuildChannel {
	const id = made.channel ?? made.args.channel_id ?? made.args.channel_ids;
	const named = world.simulator.world.channels.get(String([id].flat()[0]));
	const channel = named && isThread(named) ? guild.channels.get(named.parent_id) : named;
	if (!channel || !("position" in channel)) throw new Error(`${id} is a channel with permissions`);
	return channel;
}

const propertiesOf = (name: string): Record<string, { type?: string }> => {
	const schema = tools.find((tool) => tool.name === name)?.listing.inputSchema;
	return Object(schema?.properties);
};
const takesGuild = (name: string) => Object.hasOwn(propertiesOf(name), "guild_id");
const isReading = (name: string) => {
	const annotations = tools.find((tool) => tool.name === name)?.listing.annotations as Record<string, boolean>;
	return annotations.readOnlyHint === true;
};
const isList = (name: string, key: string) => propertiesOf(name)[key]?.type === "array";

const unknownId = "123456789012345678";

const all = Object.entries({ ...table, ...toolsOfPlans });

describe.each(all)("%s", (name, { person: demand }) => {
	const { needs, hidden, below } = demand;

	test("runs for a person who has what Discord demands", async () => {
		const cast = await enter(name);
		permitAll(cast, demand);
		const made = await prepare(cast, name);
		if (appliesPlan(name)) raise(cast);
		await runs(cast, name, made);
	});

	if (takesGuild(name))
		test("does not know the guild of which a person is no member", async () => {
			const cast = await enter(name);
			const made = await prepare(cast, name);
			const stranger = userNamed(cast.world, "bob_the_baker");
			const text = await refused(cast, name, made, {
				args: { ...made.args, guild_id: cast.guild.id },
				client: clientOf(cast, stranger.id),
			});
			expect(text).toBe(`The bot is not in a guild ${cast.guild.id}. Use list_guilds to find its guilds.`);
		});
	else
		test("says nothing of the guild of which a person is no member", async () => {
			const cast = await enter(name);
			const made = await prepare(cast, name);
			const stranger = userNamed(cast.world, "bob_the_baker");
			await settle(cast);
			const client = clientOf(cast, stranger.id);
			const { text, isError } = await client.call(name, made.args);
			expect(isError).toBe(needs !== "nothing");
			expect(text).not.toContain(cast.guild.id);
			expect(text).not.toContain(cast.guild.name);
		});

	for (const permission of needsOf(demand)) {
		test(`is refused without ${officialName(permission)} in the guild`, async () => {
			const cast = await enter(name);
			permitAll(cast, demand, permission);
			const made = await prepare(cast, name);
			const text = await refused(cast, name, made);
			expect(text).toContain(lackOf(permission));
		});

		if (demand.in === "the channel")
			test(`is refused if the channel denies ${officialName(permission)}`, async () => {
				const cast = await enter(name);
				permitAll(cast, demand);
				const made = await prepare(cast, name);
				const channel = channelOf(cast, made);
				cast.world.simulator.world.channels.setOverwrite(
					channel,
					memberOverwrite(cast.person.user.id, { deny: PermissionFlagsBits[permission] }),
				);
				const text = await refused(cast, name, made);
				expect(text).toContain(lackOf(permission));
			});
	}
	if (needs === "nothing") test.skip("permissions: every member may do this", () => {});
	else if (demand.in !== "the channel")
		test.skip("overwrites: what it needs is needed in the guild as a whole", () => {});

	if (below)
		test(`is refused for ${below} that does not rank below the person`, async () => {
			const cast = await enter(name);
			permitAll(cast, demand);
			const made = await prepare(cast, name);
			const { world, guild, higher, person } = cast;
			const { members } = world.simulator.world;
			const { user_ids, user_id = [user_ids].flat()[0] } = made.args;
			const target = guild.members.get(String(user_id));
			if (below === "the member" && target) members.edit(guild, target, { roles: [higher.id] });
			// The call's roles were made before.
			const lower = newRole(cast, guild);
			world.simulator.world.roles.edit(guild, lower, { permissions: cast.role.permissions });
			members.edit(guild, person, { roles: [lower.id] });
			try {
				const text = await refused(cast, name, made);
				expect(text).toContain("does not rank below you");
			} finally {
				members.edit(guild, person, { roles: [cast.role.id] });
			}
		});
	else test.skip("rank: it changes no role or member that could rank above", () => {});

	if ("argument" in hidden)
		test(`answers for a hidden ${hidden.argument} as for one that does not exist`, async () => {
			const cast = await enter(name);
			permitAll(cast, demand);
			const made = await prepare(cast, name);
			const { argument } = hidden;
			const given = String([made.args[argument]].flat()[0]);
			const named = cast.world.simulator.world.channels.get(given);
			const personId = cast.person.user.id;
			const place = { args: { channel_id: given } };
			// Some rows name a channel that their next call names, too.
			using _ = named && hide(cast, channelOf(cast, place), personId);
			const id = named?.id ?? hiddenChannel(cast, personId, demand).id;
			const withId = (one: string): Args => ({ ...made.args, [argument]: isList(name, argument) ? [one] : one });
			const text = await refused(cast, name, made, { args: withId(id) });
			const other = await refused(cast, name, made, { args: withId(unknownId) });
			expect(text).toBe(other.replaceAll(unknownId, id));
			expect(text).toContain(`There is no channel ${id}`);
		});
	else if ("refusal" in hidden)
		test("answers for what is in a hidden channel as if it did not exist", async () => {
			const cast = await enter(name);
			permitAll(cast, demand);
			const made = await prepare(cast, name);
			const { id } = cast.person.user;
			if (!hidden.args) hide(cast, channelOf(cast, made), id);
			const args = { ...made.args, ...hidden.args?.(cast, hiddenChannel(cast, id, demand)) };
			const text = await refused(cast, name, made, { args });
			expect(text).toContain(hidden.refusal);
		});
	else if ("leavesOut" in hidden)
		test("leaves out what is in a hidden channel", async () => {
			const cast = await enter(name);
			permitAll(cast, demand);
			const { id } = cast.person.user;
			const channel = hiddenChannel(cast, id, demand);
			const { args, secrets } = hidden.leavesOut(cast, channel);
			const text = await runs(cast, name, { args });
			for (const secret of secrets) expect(text).not.toContain(secret);
			const own = await cast.world.call(name, args);
			for (const secret of secrets) expect(own.text).toContain(secret);
		});
	else test.skip(`hidden channels: ${hidden.why}`, () => {});

	test(`${isReading(name) ? "only reads" : "is refused"} in a timeout`, async () => {
		const cast = await enter(name);
		permitAll(cast, demand);
		const made = await prepare(cast, name);
		const { world, guild, person } = cast;
		world.simulator.world.members.edit(guild, person, { communication_disabled_until: "2099-01-31T12:00:00.000Z" });
		try {
			const rest = needsOf(demand).filter((one) => one !== "ReadMessageHistory");
			const isAdministrator = rest.includes("Administrator");
			if (isAdministrator || (isReading(name) && rest.length === 0)) {
				if (appliesPlan(name)) raise(cast);
				await runs(cast, name, made);
				return;
			}
			const text = await refused(cast, name, made);
			// Who is timed out lacks MANAGE_GUILD as well.
			expect(text).toMatch(/^You (are timed out in the guild |lack MANAGE_GUILD in the bot's own guild)/);
		} finally {
			world.simulator.world.members.edit(guild, person, { communication_disabled_until: null });
		}
	});
});

test("a plan is refused to an administrator who ranks below the bot", async () => {
	const cast = await enter("apply_guild");
	permitAll(cast, administrator);
	cast.world.simulator.world.roles.move(cast.guild, new Map([[cast.role, 1]]));
	const made = await prepare(cast, "apply_guild");
	const text = await refused(cast, "apply_guild", made);
	expect(text).toContain("You rank below @alpha");
});

/** Moves the person's role above that of the bot. */
function raise({ world, guild, role }: Cast): void {
	const { roles } = world.simulator.world;
	roles.move(guild, new Map([[role, guild.roles.size]]));
}

/** A guild full of hidden channels. Their names, and those of what is in them, contain this. */
const secret = "hush";

/** Adds hidden channels of each kind, with what channels contain, and settings and rules that name them. */
function hideMuch(cast: Cast): void {
	const { world, guild, person } = cast;
	const platform = world.simulator.world;
	const bot = userNamed(world, "alpha");
	const kinds = [
		ChannelType.GuildText,
		ChannelType.GuildVoice,
		ChannelType.GuildForum,
		ChannelType.GuildCategory,
	] as const;
	const [text, voice] = kinds.map((type) => {
		const name = `${secret}-${freshName()}`;
		const channel = platform.channels.add(guild, { name, type });
		hide(cast, channel, person.user.id);
		return channel;
	});
	if (!text || !voice) throw new Error("both were made");
	const named = { name: `${secret}-${freshName()}` };
	platform.messages.add(text, bot, { content: `${secret} secret` });
	platform.threads.add(text, bot, named);
	platform.webhooks.add(text, { ...named, user: bot });
	platform.invites.add(text, { inviter: bot });
	platform.scheduledEvents.add(guild, guild.owner_id, {
		...named,
		entity_type: 2,
		channel_id: voice.id,
		scheduled_start_time: "2099-01-31T12:00:00.000Z",
	});
	platform.voice.join(voice, newMember(cast, guild));
	platform.guilds.edit(guild, { system_channel_id: text.id, afk_channel_id: voice.id });
	const higher = { id: cast.higher.id, type: 0, allow: "1024", deny: "0" };
	platform.channels.setOverwrite(text, { ...higher, type: 0 });
	platform.channels.edit(text, { topic: secret }, { actor: guild.owner_id });
}

test.each(all)("%s names nothing hidden to a person with all permissions but ADMINISTRATOR", async (name) => {
	const cast = await enter(name);
	const { Administrator: _, ...others } = PermissionFlagsBits;
	permit(cast, Object.keys(others) as Permission[]);
	const { args } = await prepare(cast, name);
	// Some rows remove what there is of their noun.
	hideMuch(cast);
	await settle(cast);
	const hasDryRun = Object.hasOwn(propertiesOf(name), "dry_run");
	const calls = [
		...(hasDryRun ? [{ ...args, dry_run: true }] : []),
		args,
		...(isReading(name) ? [{}, { ...args, limit: 1000 }] : []),
	];
	const shown: string[] = [];
	for (const given of calls) shown.push((await cast.client.call(name, given)).text);
	expect(shown.join("\n")).not.toContain(secret);
});
