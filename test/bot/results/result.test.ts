// The two renderings of a tool's result.

import { expect, test } from "bun:test";
import {
	asking,
	at,
	duration,
	errorForPeople,
	forModels,
	forPeople,
	mentions,
	parts,
	reasonOf,
	result,
} from "../../../src/bot/results/result.ts";
import { ToolError } from "../../../src/lib/tool-error.ts";
import { SaidError } from "../../../src/texts/said-error.ts";
import { render, said, type Text } from "../../../src/texts/texts.ts";

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(100 + index));
const until = at(1_795_481_313_999);

test.each<[ReturnType<typeof said>, string, string]>([
	[said("result.kick", { who: mentions(["1", "2"]) }), "Kicked <@1>, <@2>.", "<@1>, <@2> gekickt."],
	[
		said("result.timeout", { who: mentions(["1"]), until }),
		"Timed out <@1> until <t:1795481313:f>.",
		"Timeout für <@1> bis <t:1795481313:f>.",
	],
	[said("result.ban.ask", { who: mentions(["1"]) }), "Ban <@1> for good?", "<@1> dauerhaft bannen?"],
	[said("result.warn", { who: mentions(["1"]) }), "Warned <@1>.", "<@1> verwarnt."],
	[
		said("result.deleting_hours", { count: 1 }),
		"Discord deletes their messages of the last hour.",
		"Discord löscht ihre Nachrichten der letzten Stunde.",
	],
	[
		said("result.slow_mode", { where: "<#1>", interval: duration(90_000) }),
		"Slow mode is now on in <#1>: members wait 90 seconds between two messages.",
		"Der Slow-Modus ist in <#1> jetzt an: Mitglieder warten zwischen zwei Nachrichten 90 Sekunden.",
	],
	[
		said("result.purge", { messages: said("count.messages", { count: 1 }), where: "<#1>" }),
		"Deleted 1 message in <#1>.",
		"1 Nachricht in <#1> gelöscht.",
	],
	[
		said("refusal.nothing_done", { why: said("refusal.not_banned", { who: "<@1>" }) }),
		"Not banned: <@1>. Nothing was done.",
		"Nicht gebannt: <@1>. Es ist nichts passiert.",
	],
])("people read %j in their language", (message, english, german) => {
	expect(forPeople(result("for models", message), "en")).toBe(english);
	expect(forPeople(result("for models", message), "de")).toBe(german);
});

test("models read the lines alone, in order", () => {
	const output = parts("one", false, result(["two", false, "three"], said("result.done")), ["four"]);
	expect(forModels(output)).toEqual(["one", "two", "three", "four"]);
	expect(forPeople(output, "en")).toBe("one\nDone.\nfour");
});

test("of many people the first are named, and the rest counted", () => {
	const output = asking("Would kick 25.", said("result.kick.ask", { who: mentions(ids(25)) }));
	expect(output.asks).toBe(true);
	expect(forPeople(output, "en")).toMatch(/^Kick (<@\d+>(, )?){20} and 5 more\?$/);
	expect(forPeople(output, "de")).toMatch(/^(<@\d+>(, )?){20} und 5 weitere kicken\?$/);
});

test("an error has a text for models, and one for people", () => {
	const error = new SaidError(said("refusal.not_in_voice", { who: "<@1>" }), { models: "Zoe is not in voice." });
	expect(error.message).toBe("Zoe is not in voice.");
	expect(errorForPeople(error, "de")).toBe("<@1> ist in keinem Sprachkanal.");
	expect(errorForPeople(new ToolError("The guild 1 has no *such* thing."), "de")).toContain("\\*such\\*");
});

test("as part of a message, an error does not say that nothing was done", () => {
	const why = said("refusal.not_banned", { who: "<@1>" });
	const english = (error: ToolError) => render(reasonOf(error) as Text, "en");
	expect(english(new SaidError(said("refusal.nothing_done", { why })))).toBe("Not banned: <@1>.");
	expect(english(new ToolError("It is too long. Nothing was done."))).toBe("It is too long.");
	expect(english(new SaidError(why))).toBe("Not banned: <@1>.");
});
