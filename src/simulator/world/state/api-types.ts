// The types of what Discord sends: those of discord-api-types, and where Discord differs from them.
// https://discord.com/developers/docs/events/gateway-events

import type {
	APIAuditLogEntry,
	APIEmbed,
	APIEmbedField,
	APIGuild,
	APIGuildScheduledEvent,
	APIInvite,
	APIStageInstance,
	APIThreadMember,
	EmbedType,
	GatewayDispatchPayload,
	GatewayReadyDispatchData,
} from "discord.js";
import type { AuditLogChange } from "./entities.ts";

/**
 * The read-only form of a discord-api-types type, for data that the simulator sends: string enums become strings, flags
 * become numbers, and message components become unknown.
 */
export type Sent<T> = T extends string
	? `${T}`
	: {
			readonly [K in keyof T]: K extends "components"
				? readonly unknown[]
				: K extends `${string}flags`
					? number
					: Sent<T[K]>;
		};

type Payloads = {
	[P in GatewayDispatchPayload as `${P["t"]}`]: Sent<P["d"]>;
};

/**
 * A guild as Discord sends it. `home_header` and `nsfw` are required by GuildResponse in Discord's OpenAPI document and
 * missing in discord-api-types.
 */
export type SentGuild = Sent<APIGuild> & {
	readonly home_header: string | null;
	readonly nsfw: boolean;
};

/**
 * An invite as Discord sends it. `guild_id` and `guild.nsfw` are required by GuildInviteResponse in Discord's OpenAPI
 * document and missing in discord-api-types.
 */
export type SentInvite = Sent<APIInvite> & {
	readonly guild_id: string;
	readonly guild: { readonly nsfw: boolean };
};

/**
 * An embed as Discord sends it. `type` and each field's `inline` are required by MessageEmbedResponse in Discord's
 * OpenAPI document and optional in discord-api-types.
 */
export type SentEmbed = Omit<Sent<APIEmbed>, "type" | "fields"> & {
	readonly type: `${EmbedType}`;
	readonly fields?: readonly Required<Sent<APIEmbedField>>[];
};

/**
 * A thread member as Discord sends it. `presence` is documented for the event Thread Members Update and missing in
 * discord-api-types.
 */
export type SentThreadMember = Sent<APIThreadMember> & {
	readonly presence?: null;
};

/**
 * A scheduled event as Discord sends it. `guild_scheduled_event_exceptions` is required in Discord's OpenAPI document
 * and missing in discord-api-types.
 */
export type SentScheduledEvent = Sent<APIGuildScheduledEvent> & {
	readonly guild_scheduled_event_exceptions: readonly [];
};

/**
 * A stage instance as Discord sends it. `guild_scheduled_event_id` is null if the stage belongs to no scheduled event,
 * as documented; in discord-api-types the field is optional.
 */
export type SentStage = Omit<Sent<APIStageInstance>, "guild_scheduled_event_id"> & {
	readonly guild_scheduled_event_id: string | null;
};

/**
 * An audit log entry as Discord sends it. Its `changes` have untyped keys and values, because they are computed by
 * comparing arbitrary objects.
 */
type SentAuditLogEntry = Omit<Sent<APIAuditLogEntry>, "changes"> & {
	readonly changes?: readonly AuditLogChange[];
};

/** The payloads of Gateway events for which discord-api-types differs from what Discord sends. */
interface Differences {
	// Undocumented. Eris needs private_channels (lib/gateway/Shard.js), which discord-userdoccers describes (Ready).
	READY: Sent<GatewayReadyDispatchData> & {
		readonly private_channels: readonly [];
	};
	// Undocumented; with a trace, as discord-userdoccers describes (Resumed).
	RESUMED: { readonly _trace: readonly string[] };
	GUILD_CREATE: Omit<Payloads["GUILD_CREATE"], "stage_instances"> & {
		readonly stage_instances: readonly SentStage[];
	};
	STAGE_INSTANCE_CREATE: SentStage;
	STAGE_INSTANCE_UPDATE: SentStage;
	STAGE_INSTANCE_DELETE: SentStage;
	GUILD_AUDIT_LOG_ENTRY_CREATE: SentAuditLogEntry & {
		readonly guild_id: string;
	};
}

/** The data (`d`) of each Gateway event, by event type. */
export type EventPayloads = Omit<Payloads, keyof Differences> & Differences;
