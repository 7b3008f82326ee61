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
 * An API type as it is sent: read-only, with the values of string enums in place of their members, and with numbers for
 * flags, whose enums have no 0. Components are any values, since the simulator stores select menus and everything that needs
 * IS_COMPONENTS_V2 unchecked.
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

/** Required by GuildResponse in Discord's OpenAPI document; discord-api-types has neither. */
export type SentGuild = Sent<APIGuild> & {
	readonly home_header: string | null;
	readonly nsfw: boolean;
};

/** Required by GuildInviteResponse in Discord's OpenAPI document; discord-api-types has neither. */
export type SentInvite = Sent<APIInvite> & {
	readonly guild_id: string;
	readonly guild: { readonly nsfw: boolean };
};

/** An embed as Discord sends it: `type` and `inline` are required (OpenAPI's MessageEmbedResponse, not discord-api-types). */
export type SentEmbed = Omit<Sent<APIEmbed>, "type" | "fields"> & {
	readonly type: `${EmbedType}`;
	readonly fields?: readonly Required<Sent<APIEmbedField>>[];
};

/** discord-api-types lacks `presence`, which Thread Members Update documents. */
export type SentThreadMember = Sent<APIThreadMember> & {
	readonly presence?: null;
};

/** Required by the responses in Discord's OpenAPI document; discord-api-types has no exceptions. */
export type SentScheduledEvent = Sent<APIGuildScheduledEvent> & {
	readonly guild_scheduled_event_exceptions: readonly [];
};

/** `guild_scheduled_event_id` is null without an event, as documented; discord-api-types has it optional. */
export type SentStage = Omit<
	Sent<APIStageInstance>,
	"guild_scheduled_event_id"
> & { readonly guild_scheduled_event_id: string | null };

/** The changes are computed from entities, so that neither their keys nor their values have a type. */
type SentAuditLogEntry = Omit<Sent<APIAuditLogEntry>, "changes"> & {
	readonly changes?: readonly AuditLogChange[];
};

/** The event payloads that differ from discord-api-types. */
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

/** The payload of each event of Discord's Gateway. */
export type EventPayloads = Omit<Payloads, keyof Differences> & Differences;
