// The types of what Discord sends: those of discord-api-types, and where Discord differs from them.
// https://discord.com/developers/docs/events/gateway-events

import type {
	APIAuditLogEntry,
	APIAuditLogOptions,
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

/** For data that the simulator sends as JSON: string enums are strings, flags numbers, message components unknown. */
export type Sent<T> = T extends string
	? `${T}`
	: {
			readonly [K in keyof T]: K extends "components"
				? readonly unknown[]
				: K extends `${string}flags`
					? number
					: Sent<T[K]> | (undefined extends T[K] ? undefined : never);
		};

type Payloads = {
	[P in GatewayDispatchPayload as `${P["t"]}`]: Sent<P["d"]>;
};

/** Discord's OpenAPI document (GuildResponse) requires `home_header` and `nsfw`, which discord-api-types lacks. */
export type SentGuild = Sent<APIGuild> & { home_header: string | null; nsfw: boolean };

/** Discord's OpenAPI document (GuildInviteResponse) requires these fields, which discord-api-types lacks. */
export type SentInvite = Sent<APIInvite> & { guild_id: string; guild: { nsfw: boolean } };

/** Discord's OpenAPI document (MessageEmbedResponse) requires these fields, optional in discord-api-types. */
export type SentEmbed = Omit<Sent<APIEmbed>, "type" | "fields"> & {
	type: `${EmbedType}`;
	fields?: readonly Required<Sent<APIEmbedField>>[];
};

/** `presence` is documented for Thread Members Update and missing in discord-api-types. */
export type SentThreadMember = Sent<APIThreadMember> & { presence?: null };

/** Discord's OpenAPI document requires `guild_scheduled_event_exceptions`, which discord-api-types lacks. */
export type SentScheduledEvent = Sent<APIGuildScheduledEvent> & { guild_scheduled_event_exceptions: readonly [] };

/** `guild_scheduled_event_id` is documented as null without an event, but optional in discord-api-types. */
export type SentStage = Omit<Sent<APIStageInstance>, "guild_scheduled_event_id"> & {
	guild_scheduled_event_id: string | null;
};

export interface AuditLogChange {
	key: string;
	old_value?: unknown;
	new_value?: unknown;
}

/** `changes` has untyped keys and values, because they are computed by comparing arbitrary objects. */
export type SentAuditLogEntry = Omit<Sent<APIAuditLogEntry>, "changes" | "options" | "reason"> & {
	changes?: readonly AuditLogChange[] | undefined;
	options?: Sent<APIAuditLogOptions> | undefined;
	reason?: string | undefined;
};

/** The payloads of Gateway events for which discord-api-types differs from what Discord sends. */
interface Differences {
	// Undocumented. Eris needs private_channels (lib/gateway/Shard.js), which discord-userdoccers describes (Ready).
	READY: Sent<GatewayReadyDispatchData> & { private_channels: readonly [] };
	// Undocumented; with a trace, as discord-userdoccers describes (Resumed).
	RESUMED: { _trace: readonly string[] };
	GUILD_CREATE: Omit<Payloads["GUILD_CREATE"], "stage_instances"> & { stage_instances: readonly SentStage[] };
	STAGE_INSTANCE_CREATE: SentStage;
	STAGE_INSTANCE_UPDATE: SentStage;
	STAGE_INSTANCE_DELETE: SentStage;
	GUILD_AUDIT_LOG_ENTRY_CREATE: SentAuditLogEntry & { guild_id: string };
}

/** The data (`d`) of each Gateway event, by event type. */
export type EventPayloads = Omit<Payloads, keyof Differences> & Differences;
