// Documents and pictures as files: complete or not at all, and never over another file.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
	formatDocument,
	picturesDirectory,
	readDocumentFile,
	readPicture,
	requireWritable,
	writeDocument,
} from "../../../../src/bot/guild-documents/command-line/document-file.ts";
import { readDocument } from "../../../../src/guild-document/format/document.ts";
import { pictureHash } from "../../../../src/guild-document/read/picture.ts";
import { openPlace, type Place } from "../../../support/place.ts";

let place: Place;
beforeEach(() => {
	place = openPlace();
});
afterEach(() => place[Symbol.dispose]());

const at = (name: string) => place.at(name);
const gif = Buffer.from("GIF89a and more");
const png = Buffer.from("\x89PNG\r\n\x1a\n and more", "latin1");
const document = readDocument({ version: 1, roles: [{ name: "Müller: #1" }], channels: [] });

test.each(["guild.yaml", "guild.yml", "guild.JSON"])("%s is written and read", async (name) => {
	writeDocument(at(name), formatDocument(name, document), new Map(), false);
	expect(await readDocumentFile(at(name), undefined)).toEqual(document);
	expect(await readDocumentFile(at(name), ["roles"])).toEqual({ version: 1, roles: [{ name: "Müller: #1" }] });
	expect(place.read(name).startsWith("{")).toBe(name.endsWith("JSON"));
	expect(readdirSync(place.path)).toEqual([name]);
});

test("pictures are written beside the document, and read by their hashes", () => {
	const pictures = new Map([gif, png].map((one) => [pictureHash(one), one]));
	writeDocument(at("a.yaml"), "x", pictures, false);
	expect(readdirSync(place.path).toSorted()).toEqual(["a.pictures", "a.yaml"]);
	const beside = picturesDirectory(at("a.yaml"));
	expect(readdirSync(String(beside)).toSorted()).toEqual(
		[`${pictureHash(gif)}.gif`, `${pictureHash(png)}.png`].toSorted(),
	);
	expect(readPicture(beside, pictureHash(gif))).toEqual({ bytes: gif });
});

test("a picture that was changed, is missing or is none is not used", () => {
	const beside = at("a.pictures");
	expect(readPicture(beside, pictureHash(gif))).toEqual({ issue: expect.stringContaining("ENOENT") });
	mkdirSync(beside);
	expect(readPicture(beside, pictureHash(gif))).toEqual({ issue: `it is not in ${beside}` });
	place.write(`a.pictures/${pictureHash(gif)}.gif`, png);
	expect(readPicture(beside, pictureHash(gif))).toMatchObject({ issue: expect.stringContaining("another hash") });
	const text = Buffer.from("text");
	place.write(`a.pictures/${pictureHash(text)}.png`, text);
	expect(readPicture(beside, pictureHash(text))).toMatchObject({ issue: expect.stringContaining("no PNG") });
	const endless = pictureHash(Buffer.from("endless"));
	symlinkSync("/dev/zero", join(beside, `${endless}.png`));
	expect(readPicture(beside, endless)).toMatchObject({
		issue: expect.stringContaining("is no file of at most 10 MiB"),
	});
	expect(readPicture(undefined, pictureHash(gif))).toMatchObject({ issue: expect.stringContaining("standard input") });
});

test("a file that exists is replaced only with force", () => {
	place.write("a.yaml", "old");
	expect(() => requireWritable(at("a.yaml"), false)).toThrow("already exists");
	// It may also appear while the guild is read.
	expect(() => writeDocument(at("a.yaml"), "new", new Map([[pictureHash(gif), gif]]), false)).toThrow("already exists");
	expect(place.read("a.yaml")).toBe("old");
	expect(readdirSync(place.path)).toEqual(["a.yaml"]);
	requireWritable(at("a.yaml"), true);
	writeDocument(at("a.yaml"), "new", new Map(), true);
	expect(place.read("a.yaml")).toBe("new");
});

test("a document that cannot be written leaves no pictures either", () => {
	const pictures = new Map([[pictureHash(gif), gif]]);
	// With the suffix of a temporary file, its name is too long, and that of its pictures is not.
	const name = `${"a".repeat(240)}.yaml`;
	expect(() => writeDocument(at(name), "x", pictures, false)).toThrow("cannot be written: ENAMETOOLONG");
	expect(readdirSync(place.path)).toEqual([]);
	// Pictures that were there before stay.
	const other = `${"a".repeat(240)}.pictures/other.gif`;
	place.write(other, gif);
	expect(() => writeDocument(at(name), "x", pictures, false)).toThrow("cannot be written");
	expect(existsSync(at(other))).toBe(true);
	expect(readdirSync(at(`${"a".repeat(240)}.pictures`))).toEqual(["other.gif"]);
});

test.each([
	["guild", "ends with .yaml"],
	["no/guild.yaml", "there is no directory"],
	[".", "expected a name"],
	["d.yaml", "already exists"],
])("%s is refused before the guild is read", (name, message) => {
	mkdirSync(at("d.yaml"));
	expect(() => requireWritable(at(name), false)).toThrow(message);
});

test.each([
	["", "is empty"],
	["version: 2", "no valid document of a guild:\nversion: expected 1"],
	["version: 1\nrols: []", "did you mean roles?"],
	['{"version": 1,', "neither JSON nor YAML"],
	["a: b: c", "no valid document of a guild"],
	["version: 1", "does not contain these sections, which --part asks for: roles"],
])("%j is refused", async (text, message) => {
	place.write("a.yaml", text);
	await expect(readDocumentFile(at("a.yaml"), ["roles"])).rejects.toThrow(message);
});

test("a file that is missing, too large or not text is refused", async () => {
	await expect(readDocumentFile(at("a.yaml"), undefined)).rejects.toThrow("cannot be read: ENOENT");
	await expect(readDocumentFile(place.path, undefined)).rejects.toThrow("cannot be read: EISDIR");
	place.write("a.yaml", Buffer.alloc(8 * 1024 * 1024 + 1, " "));
	await expect(readDocumentFile(at("a.yaml"), undefined)).rejects.toThrow("is larger than 8 MiB");
	place.write("b.yaml", Buffer.from([0xff, 0xfe, 0x00]));
	await expect(readDocumentFile(at("b.yaml"), undefined)).rejects.toThrow("is not UTF-8 text");
});
