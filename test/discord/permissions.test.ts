import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { bitOf, bitsIn, describeBits, permissionNames, withTitles } from "../../src/discord/permissions.ts";
import { render, said } from "../../src/texts/texts.ts";

const { ManageMessages, SendMessages, SendMessagesInThreads } = PermissionFlagsBits;

test("sending in a thread needs SEND_MESSAGES_IN_THREADS, and other permissions stay the same", () => {
	const needed = ["SendMessages", "ManageMessages"] as const;
	const place = (thread: boolean) => ({ isThread: () => thread }) as never;
	const inChannel = SendMessages | ManageMessages;
	expect(bitsIn(place(false), needed)).toBe(inChannel);
	expect(bitsIn(undefined, needed)).toBe(inChannel);
	expect(bitsIn(place(true), needed)).toBe(SendMessagesInThreads | ManageMessages);
});

test.each([
	[PermissionFlagsBits.SendTTSMessages, "SEND_TTS_MESSAGES"],
	[PermissionFlagsBits.UseVAD, "USE_VAD"],
	[PermissionFlagsBits.ViewChannel, "VIEW_CHANNEL"],
	[PermissionFlagsBits.ManageGuildExpressions, "MANAGE_GUILD_EXPRESSIONS"],
	[PermissionFlagsBits.PinMessages, "PIN_MESSAGES"],
	[PermissionFlagsBits.BypassSlowmode, "BYPASS_SLOWMODE"],
])("the bit %d is named %s, and parsed from that name", (bit, name) => {
	expect(permissionNames(bit)).toEqual([name]);
	expect(bitOf(name)).toBe(bit);
});

test("people read permissions as Discord's settings show them, models and logs by Discord's names", () => {
	const { ModerateMembers, SendTTSMessages } = PermissionFlagsBits;
	const models = said("log.lacks", { permissions: describeBits(SendTTSMessages | ModerateMembers) });
	expect(render(models, "en")).toBe("The bot lacks SEND_TTS_MESSAGES, MODERATE_MEMBERS.");
	expect(render(withTitles(models), "en")).toBe("The bot lacks Send Text-to-Speech Messages, Timeout Members.");
	expect(render(withTitles(models), "de")).toBe(
		"Dem Bot fehlt „Text-zu-Sprache-Nachrichten senden, Mitglieder im Timeout“.",
	);
});
