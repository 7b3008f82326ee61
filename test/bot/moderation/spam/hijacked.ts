// 40 or fewer hijacked accounts post pictures into 20 channels at once, while others chat.

import { createHash } from "node:crypto";
import type { SimulatorOptions } from "../../../../src/simulator/simulator.ts";
import type { User } from "../../../../src/simulator/world/state/entities.ts";
import { until } from "../../../support/until.ts";
import { quickTiming, startSpam } from "./spam-world.ts";

export const accounts = 40;
export const channels = 20;
const chatters = 20;

/** Bytes that look random, and are the same for the same seed. */
function bytesOf(seed: string, length: number): Uint8Array<ArrayBuffer> {
	const bytes = new Uint8Array(length);
	for (let at = 0; at < length; at += 32)
		bytes.set(
			createHash("sha256")
				.update(`${seed} ${at}`)
				.digest()
				.subarray(0, Math.min(32, length - at)),
			at,
		);
	return bytes;
}

/** Starts the bot, and returns what happens when the accounts post. `timing` replaces the short waits of tests. */
export async function startHijacking(simulator: SimulatorOptions, timing = quickTiming, count = accounts) {
	// At Discord's limit, deletions gather.
	const options = { channels, simulator, requestsPerSecond: 50, options: { timing } };
	const world = await startSpam({ channels: 4 }, options);
	const { guild } = world;
	const { users, members } = world.simulator.world;
	const join = (username: string): User => {
		const { user } = users.addPerson({ username });
		members.add(guild, user);
		return user;
	};
	const hijacked = Array.from({ length: count }, (_, n) => join(`bad${n}`));
	const innocent = Array.from({ length: chatters }, (_, n) => join(`good${n}`));
	const pictures = [1, 2, 3, 4].map((n) => ({
		filename: `${n}.png`,
		content: bytesOf(`picture ${n}`, 20_000 + n),
		content_type: "image/png",
	}));
	const say = (user: User, channel: number, text: string, files = pictures) =>
		world.simulator
			.user(user.username)
			.say(`The Cooks/c${channel}`, text, { attachments: files })
			.then(
				() => true,
				// People who are timed out cannot write.
				() => false,
			);
	return {
		world,
		hijacked,
		innocent,
		/** Posts everything. Resolves with the number of messages of the hijacked accounts that Discord took. */
		async post(): Promise<number> {
			let taken = 0;
			let wrote = 0;
			const spam = hijacked.map(async (user) => {
				for (let channel = 0; channel < channels; channel += 1) if (await say(user, channel, "")) taken += 1;
			});
			const chat = innocent.map(async (user, index) => {
				for (let n = 0; n < 5; n += 1) {
					const isTaken = await say(
						user,
						(index + n) % channels,
						n % 2 === 0 ? "lol" : `what is going on here, message ${n}?`,
						[],
					);
					if (isTaken) wrote += 1;
				}
			});
			await Promise.all([...spam, ...chat]);
			if (wrote !== chatters * 5) throw new Error("members could not write");
			return taken;
		},
		/** Number of messages of the hijacked accounts that are left. */
		left: () => hijacked.flatMap((user) => world.messagesOf(user)).length,
		timedOut: (users: readonly User[]) => users.filter(world.isTimedOut).length,
		allTimedOut: () => until("all accounts are timed out", () => hijacked.every((user) => world.isTimedOut(user))),
	};
}
