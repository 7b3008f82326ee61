// The rows of chargebacks; what becomes of them is tested with the worker.

import { expect, test } from "bun:test";
import * as chargebacks from "../../../src/bot/store/chargebacks.ts";

const refuse = () => Promise.reject(new Error("refused"));

test.each([
	["saveRoles", () => chargebacks.saveRoles(refuse, "1", ["2"], "3")],
	["setAbsent", () => chargebacks.setAbsent(refuse, "1")],
	["setRestricted", () => chargebacks.setRestricted(refuse, "1", "3")],
	["decide", () => chargebacks.decide(refuse, "1", "ban", "9")],
	["setDiscordBan", () => chargebacks.setDiscordBan(refuse, "1", "done")],
	["setGameBan", () => chargebacks.setGameBan(refuse, "1", "done")],
	[
		"setRestoration",
		() => chargebacks.setRestoration(refuse, ["1"], "restored"),
	],
	["setError", () => chargebacks.setError(refuse, "1", "restriction", "why")],
	[
		"setAlert",
		() =>
			chargebacks.setAlert(refuse, "1", {
				...{ channelId: "4", messageId: "5", shown: null },
			}),
	],
	["doubtAlerts", () => chargebacks.doubtAlerts(refuse, ["1"])],
	["loseAlert", () => chargebacks.loseAlert(refuse, "1")],
	["closeChargeback", () => chargebacks.closeChargeback(refuse, "1")],
])("%s rejects when the database does", async (_, write) => {
	await expect(write()).rejects.toThrow("refused");
});
