// How the bot's socket follows Discord's Gateway protocol when a session is lost or refused.

import { expect, test } from "bun:test";
import { Connection } from "../../../src/bot/discord/connection.ts";
import { startSimulator } from "../../../src/simulator/simulator.ts";
import { recordLog } from "../../support/log.ts";
import { until } from "../../support/until.ts";

const back = "back on Discord's Gateway";

/** A connection of alpha's that comes back at once. */
async function openConnection() {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(await startSimulator());
	const recorded = recordLog("info");
	const { id, token } = simulator.bot("alpha");
	const connection = new Connection({
		...{ token, api: simulator.api, log: recorded.log },
		onAnswer() {},
		timing: { backOffMs: [1, 4], identifyMs: 0 },
	});
	stack.defer(() => connection.close());
	await connection.open();
	const account = simulator.world.accounts.get(token);
	if (!account) throw new Error("alpha has an account");
	const owned = stack.move();
	return {
		...{ simulator, recorded, connection, account },
		logins: () => simulator.world.sessionStarts.used.get(id),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

test.concurrent.each([
	["its token was reset", { token: "another" }, true, "DISCORD_TOKEN"],
	[
		"an intent was switched off",
		{ privilegedIntents: [] },
		false,
		"Server Members Intent",
	],
])(
	"a running bot that Discord refuses to have back, since %s, ends and says why",
	async (_, change, resumable, reason) => {
		await using alpha = await openConnection();
		Object.assign(alpha.account, change);
		alpha.simulator.sockets.disconnect({ resumable });
		expect((await alpha.connection.failed).message).toContain(reason);
	},
	30_000,
);

test.concurrent.each([
	[1000, "new", 2],
	[1001, "resumed", 1],
	[1006, "resumed", 1],
	[4000, "resumed", 1],
	[4001, "resumed", 1],
	[4002, "resumed", 1],
	[4003, "new", 2],
	[4005, "resumed", 1],
	[4007, "new", 2],
	[4008, "resumed", 1],
	[4009, "new", 2],
	[4999, "resumed", 1],
])(
	"after close code %d the session is %s",
	async (code, session, logins) => {
		await using alpha = await openConnection();
		alpha.simulator.sockets.disconnect({ code });
		await until("it is back", () => alpha.recorded.entries(back).length === 1);
		expect(alpha.recorded.entries(back)).toMatchObject([{ session }]);
		expect(alpha.logins()).toBe(logins);
	},
	30_000,
);
