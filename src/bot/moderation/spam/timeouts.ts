// Times people out for spam, in the order of detection and a few at a time, because Discord limits changes of members
// per guild.

import { type APIGuildMember, PermissionFlagsBits, RESTJSONErrorCodes, Routes } from "discord.js";
import { absentIf } from "../../../discord/find.ts";
import { describeBits, missingForBot } from "../../../discord/permissions.ts";
import { auditReason } from "../../../discord/text.ts";
import { Semaphore } from "../../../lib/semaphore.ts";
import { said } from "../../../texts/texts.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import { isSameEnd } from "../cases/decide.ts";
import {
	Impossible,
	type PersistentOptions,
	persistently,
	type RequestEnd,
	requireGuild,
} from "./persistent-request.ts";

const maxConcurrent = 5;
const sameSpamMs = 10_000;

const { UnknownMember } = RESTJSONErrorCodes;

type TimeoutsOptions = PersistentOptions & Pick<FeatureOptions, "connection" | "mutex">;

interface TimeoutRequest {
	guildId: string;
	userId: string;
	until: number;
	reason: string;
	/** Not if somebody had set it before, or the person has left. */
	onSet?(): void;
}

export function createTimeouts({ connection, mutex, ...options }: TimeoutsOptions) {
	const semaphore = new Semaphore({ max: maxConcurrent });

	async function change(userId: string, work: () => Promise<unknown>): Promise<RequestEnd> {
		try {
			await semaphore.acquire(options.closing);
		} catch {
			return "stopped";
		}
		try {
			// The lock is held per attempt only, so that a ban does not wait while timeouts are rate-limited.
			const run = () => mutex.withLock(userId, work);
			return await persistently(run, [UnknownMember], options);
		} finally {
			semaphore.release();
		}
	}

	async function send(request: TimeoutRequest): Promise<void> {
		const { guildId, userId, until, reason } = request;
		const guild = requireGuild(connection, guildId);
		const member = guild.members.cache.get(userId);
		const known = member?.communicationDisabledUntilTimestamp ?? 0;
		// Keeps a longer timeout that a moderator has set, and the one that another bot has just set.
		if (known > until - sameSpamMs) return;
		const { ModerateMembers } = PermissionFlagsBits;
		const missing = missingForBot(guild, undefined, ModerateMembers);
		if (missing !== 0n) throw new Impossible(said("why.lacks", { permissions: describeBits(missing) }));
		await guild.client.rest.patch(Routes.guildMember(guildId, userId), {
			body: { communication_disabled_until: new Date(until).toISOString() },
			reason: auditReason(reason),
		});
		request.onSet?.();
	}

	return {
		/** "done" also if the person has left. Never rejects. */
		timeOut: (request: TimeoutRequest) => change(request.userId, () => send(request)),
		timeOutUnlessDone: (request: TimeoutRequest) =>
			change(request.userId, async () => {
				const { guildId, userId, until } = request;
				const { client } = requireGuild(connection, guildId);
				const member = await absentIf(
					[UnknownMember],
					() => client.rest.get(Routes.guildMember(guildId, userId)) as Promise<APIGuildMember>,
				);
				const end = Date.parse(member?.communication_disabled_until ?? "");
				if (!member || isSameEnd(end, until)) return;
				await send(request);
			}),
	};
}
