// Tokens: recognisable, random, and refused by their checksum when guessed.

import { expect, test } from "bun:test";
import { createToken, hashToken, kindOfToken, type TokenKind, tokenPrefixes } from "../../../src/gateway/keys/token.ts";

const kinds = Object.keys(tokenPrefixes) as TokenKind[];

test.each(kinds)("a token of the kind %s is recognised as this kind", (kind) => {
	for (let count = 0; count < 200; count++) {
		const token = createToken(kind);
		expect(token).toStartWith(tokenPrefixes[kind]);
		expect(token.slice(tokenPrefixes[kind].length)).toMatch(/^[0-9A-Za-z]{46}$/);
		expect(kindOfToken(token)).toBe(kind);
	}
});

test("tokens use all characters, and differ", () => {
	const tokens = Array.from({ length: 200 }, () => createToken("key"));
	expect(new Set(tokens).size).toBe(tokens.length);
	const characters = tokens.flatMap((token) => [...token.slice(tokenPrefixes.key.length, -6)]);
	expect(new Set(characters).size).toBe(62);
});

test("the checksum of an existing token stays as it is", () => {
	const token = `guildhall_${"0".repeat(39)}A0llG3u`;
	expect([kindOfToken(token), hashToken("x")]).toEqual([
		"key",
		"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
	]);
});

test("a token with one other character, another kind or another length is none", () => {
	const token = createToken("key");
	const start = tokenPrefixes.key.length;
	for (let at = start; at < token.length; at++) {
		const other = token[at] === "x" ? "y" : "x";
		const guess = token.slice(0, at) + other + token.slice(at + 1);
		expect(kindOfToken(guess)).toBeUndefined();
	}
	const random = token.slice(start);
	for (const guess of [
		`guildhall_at_${random}`,
		`guildhall_zz_${random}`,
		`Guildhall_${random}`,
		`${token}0`,
		token.slice(0, -1),
		random,
		"guildhall_",
		"",
	])
		expect(kindOfToken(guess)).toBeUndefined();
});
