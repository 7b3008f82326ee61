// The rows of chargebacks; what becomes of them is tested with the worker.

import { expect, test } from "bun:test";
import * as chargebacks from "../../../../src/bot/store/tables/chargebacks.ts";

const refuse = () => Promise.reject(new Error("refused"));

test.each([
	["saveRoles", () => chargebacks.saveRoles(refuse, "1", ["2"], "3")],
	["decide", () => chargebacks.decide(refuse, { id: "1", guild_id: "7" }, "ban", "9")],
	["setError", () => chargebacks.setError(refuse, "1", "restriction", "why")],
	["updateChargebacks", () => chargebacks.updateChargebacks(refuse, ["1"], { closed: 1 })],
])("%s rejects when the database does", async (_, write) => {
	await expect(write()).rejects.toThrow("refused");
});
