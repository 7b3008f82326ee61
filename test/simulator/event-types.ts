// Wrong payloads of Discord's events do not compile. Nothing here runs: the compiler reports an @ts-expect-error without an
// error.

import type { Session } from "../../src/simulator/socket/session.ts";
import type { EventPayloads } from "../../src/simulator/world/state/api-types.ts";
import type { Guild, GuildChannel } from "../../src/simulator/world/state/entities.ts";
import { placeOf, type State } from "../../src/simulator/world/state/state.ts";

export function dispatchWrongly(state: State, session: Session, guild: Guild, channel: GuildChannel): void {
	const guild_id = guild.id;
	const ids = { guild_id, role_id: "1" };
	const toGuild = state.dispatchToGuild.bind(state);
	const toChannel = state.dispatchToChannel.bind(state);

	state.dispatchToGuild("GUILD_ROLE_DELETE", guild, ids);
	// @ts-expect-error: role_id is missing
	state.dispatchToGuild("GUILD_ROLE_DELETE", guild, { guild_id });
	// @ts-expect-error: an id is a string
	toGuild("GUILD_ROLE_DELETE", guild, { guild_id, role_id: 1 });
	// @ts-expect-error: no such field
	toGuild("GUILD_ROLE_DELETE", guild, { ...ids, role_name: "" });
	// @ts-expect-error: the payload of another event
	toGuild("GUILD_ROLE_CREATE", guild, ids);
	// @ts-expect-error: no such event
	toGuild("GUILD_ROLE_REMOVE", guild, ids);

	toChannel("MESSAGE_DELETE", channel, { ...placeOf(channel), id: "1" });
	// @ts-expect-error: channel_id is missing
	toChannel("MESSAGE_DELETE", channel, { id: "1" });
	// @ts-expect-error: author, content and others are missing
	toChannel("MESSAGE_CREATE", channel, { ...placeOf(channel), id: "1" });

	session.dispatch("RESUMED", { _trace: [] });
	// @ts-expect-error: session_id, resume_gateway_url and others are missing
	session.dispatch("READY", { v: 10 });
}

/** A field that Discord documents is in the type, and one with a wrong value is not accepted. */
export function changeWrongly(payloads: EventPayloads): void {
	const { GUILD_CREATE: guild, INTERACTION_CREATE: interaction } = payloads;
	const { VOICE_STATE_UPDATE: voice, CHANNEL_CREATE: channel } = payloads;
	const right = { ...guild, threads: [], verification_level: 1 };
	right satisfies EventPayloads["GUILD_CREATE"];
	const { threads: _, ...rest } = guild;
	// @ts-expect-error: threads are missing
	rest satisfies EventPayloads["GUILD_CREATE"];
	const wrong = { ...guild, features: ["COMUNITY"] };
	// @ts-expect-error: no such feature
	wrong satisfies EventPayloads["GUILD_CREATE"];
	const noStream = { ...voice, self_stream: null };
	// @ts-expect-error: self_stream is a boolean
	noStream satisfies EventPayloads["VOICE_STATE_UPDATE"];
	const noToken = { ...interaction, token: undefined };
	// @ts-expect-error: an interaction has a token
	noToken satisfies EventPayloads["INTERACTION_CREATE"];
	const thread = { ...channel, type: 11 } as const;
	// @ts-expect-error: a thread has events of its own
	thread satisfies EventPayloads["CHANNEL_CREATE"];
}
