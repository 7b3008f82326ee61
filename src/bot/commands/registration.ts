// Registers slash commands and context menu commands with Discord, for all guilds at once or for each guild. Sends them
// only if they differ from those that are registered, because Discord limits how many commands are created per day.
// https://docs.discord.com/developers/interactions/application-commands#registering-a-command

import { type APIApplicationCommand, type Client, Events, Routes } from "discord.js";
import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Definition } from "./definitions.ts";

/** Commands registered in another way are deleted. */
export type CommandScope = "global" | "guild" | "off";

interface RegistrationOptions {
	scope: CommandScope;
	/** In a guild, or in all. */
	definitions(guildId?: string): readonly Definition[];
	/** Only these are replaced or deleted: others are of another program, or an activity's entry point. */
	known: ReadonlySet<string>;
	log: Log;
	retryMs?: readonly number[] | undefined;
}

const defaultRetryMs = [5_000, 30_000, 120_000, 600_000];

export type Registration = ReturnType<typeof keepRegistered>;

/** At each login, and for each guild that the bot joins. */
export function keepRegistered(client: Client, options: RegistrationOptions) {
	const { scope, log, retryMs = defaultRetryMs } = options;
	const mutex = new KeyedMutex();
	const registration = {
		/** The first registration has ended; failed parts are retried. */
		hasRun: false,
		/** The definitions for this guild may have changed. */
		renew(guildId: string) {
			if (scope === "guild" && client.isReady() && client.guilds.cache.has(guildId))
				void register(client, { guildId, wanted: true });
		},
	};

	async function register(ready: Client<true>, place: Place, attempt = 0): Promise<void> {
		if (!ready.isReady()) return;
		try {
			await mutex.withLock(place.guildId ?? "", () => sync(ready, place, options));
		} catch (error) {
			const waitMs = retryMs[attempt];
			log.warn("could not register slash commands with Discord", {
				guild: place.guildId,
				reason: String((error as Error).message),
				...(waitMs !== undefined && { retry_in_seconds: waitMs / 1000 }),
			});
			if (waitMs === undefined) return;
			setTimeout(() => void register(ready, place, attempt + 1), waitMs).unref();
		}
	}

	client.on(Events.ClientReady, async (ready) => {
		await register(ready, { wanted: scope === "global" });
		for (const guildId of ready.guilds.cache.keys()) await register(ready, { guildId, wanted: scope === "guild" });
		registration.hasRun = true;
	});
	client.on(Events.GuildCreate, (guild) => {
		const { client: ready, id: guildId } = guild;
		if (scope === "guild") void register(ready, { guildId, wanted: true });
	});
	return registration;
}

interface Place {
	guildId?: string;
	wanted: boolean;
}

async function sync(
	{ rest, application: { id } }: Client<true>,
	{ guildId, wanted }: Place,
	{ definitions: definitionsIn, known, log }: RegistrationOptions,
): Promise<void> {
	const definitions = definitionsIn(guildId);
	const route = guildId === undefined ? Routes.applicationCommands(id) : Routes.applicationGuildCommands(id, guildId);
	// Commands of other programs are sent back below, and would otherwise lose their translations.
	const query = new URLSearchParams({ with_localizations: "true" });
	const found = (await rest.get(route, { query })) as APIApplicationCommand[];
	if (!wanted || definitions.length === 0) {
		const stale = found.filter(({ name }) => known.has(name));
		for (const command of stale) await rest.delete(`${route}/${command.id}`);
		if (stale.length > 0) log.info("deleted slash commands from Discord", { guild: guildId, commands: stale.length });
		return;
	}
	const isForGuild = guildId !== undefined;
	const body = isForGuild ? definitions.map(withoutContexts) : definitions;
	const isOwn = ({ name }: { name: string }) => known.has(name);
	const own = found.filter(isOwn);
	if (isEqual(isForGuild ? own.map(withoutContexts) : own, body)) return;
	// The request replaces all commands. Discord refuses it if it leaves out an activity's entry point.
	const others = found.filter((command) => !isOwn(command)).map(sendable);
	await rest.put(route, { body: [...body, ...others] });
	log.info("registered slash commands with Discord", { guild: guildId, commands: body.length });
}

function sendable(command: APIApplicationCommand): object {
	return Object.fromEntries(
		Object.entries(command).filter(
			([key, value]) =>
				// The default of dm_permission is true.
				!setByDiscord.has(key) && (key === "dm_permission" || !isDefault(value)),
		),
	);
}

// Discord accepts these only for commands of all guilds.
function withoutContexts<One extends { contexts?: unknown; integration_types?: unknown }>({
	contexts: _,
	integration_types: __,
	...rest
}: One): Omit<One, "contexts" | "integration_types"> {
	return rest;
}

/** In any order. */
export function isEqual(found: readonly object[], wanted: readonly object[]): boolean {
	const texts = (all: readonly object[]) => all.map((one) => JSON.stringify(normalized(one))).sort();
	return JSON.stringify(texts(found)) === JSON.stringify(texts(wanted));
}

const setByDiscord: ReadonlySet<string> = new Set([
	"application_id",
	"guild_id",
	"version",
	"name_localized",
	"description_localized",
]);

const ignored: ReadonlySet<string> = new Set([...setByDiscord, "id", "dm_permission", "default_permission"]);

function normalized(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(normalized);
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value)
		.filter(([key, item]) => !ignored.has(key) && !isDefault(item))
		.map(([key, item]) => [key, normalized(item)] as const)
		.sort(([one], [other]) => (one < other ? -1 : 1));
	return Object.fromEntries(entries);
}

function isDefault(value: unknown): boolean {
	return value === undefined || value === null || value === false || (value as { length?: number }).length === 0;
}
