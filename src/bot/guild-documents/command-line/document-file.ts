// Files with guild documents, and the pictures beside them: `guild.yaml` and `guild.pictures/<hash>.png`. A file is written
// under another name first, so that it is there completely or not at all.

import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
	type GuildDocument,
	InvalidDocument,
	type Part,
	partNames,
	readDocument,
	toYaml,
} from "../../../guild-document/format/document.ts";
import {
	pictureIn,
	pictureIssue,
	picturesDirectoryOf,
	pictureType,
	pictureTypes,
} from "../../../guild-document/read/picture.ts";
import { CheckFailed } from "../../../lib/program/check.ts";
import { bytesAtMost } from "../../../lib/program/listen.ts";
import { version } from "../../../lib/program/program.ts";
import { repository } from "../../../lib/program/releases.ts";
import { maxDocumentBytes } from "./requests.ts";

/** Stands for standard input or output on the command line. */
export const standardStream = "-";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Throws a CheckFailed, also if the file exists and `force` is false. */
export function requireWritable(file: string, force: boolean): void {
	if (file === standardStream) return;
	extensionOf(file);
	if (existsSync(file) && !force) throw alreadyExists(file);
	const directory = dirname(file);
	if (!existsSync(directory)) throw new CheckFailed(`${file} cannot be written: there is no directory ${directory}`);
}

function alreadyExists(file: string): CheckFailed {
	return new CheckFailed(`${file} already exists`, "Name another file, or pass --force to replace it.");
}

function extensionOf(file: string): "yaml" | "json" {
	const [, extension] = /\.(ya?ml|json)$/i.exec(file) ?? [];
	if (extension === undefined) throw new CheckFailed(`${file}: expected a name that ends with .yaml, .yml or .json`);
	return extension.toLowerCase() === "json" ? "json" : "yaml";
}

/** JSON or YAML by the extension of the file; YAML for standard output. */
export function formatDocument(file: string, document: GuildDocument): string {
	return file !== standardStream && extensionOf(file) === "json"
		? `${JSON.stringify(document, null, "\t")}\n`
		: schemaLine + toYaml(document);
}

/** For editors; none while the schema is published nowhere. https://github.com/redhat-developer/yaml-language-server */
const schemaLine = repository
	? `# yaml-language-server: $schema=https://raw.githubusercontent.com/${repository}/v${version}/src/guild-document/guild-document.schema.json\n`
	: "";

/** Undefined for standard input and output. */
export function picturesDirectory(file: string): string | undefined {
	return file === standardStream ? undefined : picturesDirectoryOf(file);
}

/** `pictures`: bytes by hash. On failure deletes what it wrote and throws a CheckFailed. Replaces only with `force`. */
export function writeDocument(
	file: string,
	text: string,
	pictures: ReadonlyMap<string, Uint8Array>,
	force: boolean,
): void {
	const made: string[] = [];
	const directory = picturesDirectory(file) ?? "";
	const isNew = pictures.size > 0 && !existsSync(directory);
	try {
		if (isNew) mkdirSync(directory);
		for (const [hash, bytes] of pictures) {
			const type = pictureType(bytes);
			const path = join(directory, `${hash}.${type ? pictureTypes[type] : "bin"}`);
			// The name is that of its content.
			if (existsSync(path) && !pictureIssue(readFileSync(path), hash)) continue;
			writeWhole(path, bytes);
			made.push(path);
		}
		if (!force && existsSync(file)) throw alreadyExists(file);
		writeWhole(file, text);
	} catch (error) {
		for (const path of made) rmSync(path, { force: true });
		if (isNew && existsSync(directory)) rmdirSync(directory);
		throw new CheckFailed(`${file} cannot be written: ${systemMessage(error)}. Nothing was written`);
	}
}

function writeWhole(path: string, content: string | Uint8Array): void {
	const temporary = join(dirname(path), `.${basename(path)}.${crypto.randomUUID().slice(0, 8)}.tmp`);
	try {
		// Some file systems report only at the flush that the disk is full.
		writeFileSync(temporary, content, { flag: "wx", flush: true });
		renameSync(temporary, path);
	} finally {
		rmSync(temporary, { force: true });
	}
}

/** The message of the system. Throws what is no error of a file. */
function systemMessage(error: unknown): string {
	const { code, message } = Object(error) as NodeJS.ErrnoException;
	if (code === undefined) throw error;
	return message;
}

/** JSON or YAML. With `parts`, only these sections. Throws a CheckFailed that lists the mistakes. */
export async function readDocumentFile(file: string, parts: readonly Part[] | undefined): Promise<GuildDocument> {
	const name = file === standardStream ? "standard input" : file;
	const text = decode(await readBytes(file, name), name);
	if (text.trim() === "") throw new CheckFailed(`${name} is empty`);
	const document = parse(text, name);
	const left = partNames.filter((part) => !(parts ?? partNames).includes(part));
	const absent = parts?.filter((part) => document[part] === undefined) ?? [];
	if (absent.length > 0)
		throw new CheckFailed(
			`the guild document in ${name} does not contain these sections, which --part asks for: ${absent.join(", ")}`,
		);
	return Object.fromEntries(
		Object.entries(document).filter(([key]) => !left.some((part) => part === key)),
	) as GuildDocument;
}

async function readBytes(file: string, name: string): Promise<Uint8Array> {
	const source = file === standardStream ? Bun.stdin : Bun.file(file);
	const bytes = await bytesAtMost(source.stream(), maxDocumentBytes).catch((error) => {
		throw new CheckFailed(`${name} cannot be read: ${systemMessage(error)}`);
	});
	if (bytes === "too long") throw new CheckFailed(`${name} is larger than ${maxDocumentBytes / 1024 / 1024} MiB`);
	return bytes;
}

function decode(bytes: Uint8Array, name: string): string {
	try {
		return utf8.decode(bytes);
	} catch {
		throw new CheckFailed(`${name} is not UTF-8 text`);
	}
}

function parse(text: string, name: string): GuildDocument {
	try {
		return readDocument(text);
	} catch (error) {
		if (!(error instanceof InvalidDocument)) throw error;
		throw new CheckFailed(`${name} is no valid document of a guild:\n${error.issues.join("\n")}`);
	}
}

/** Bytes, or why the picture cannot be used. */
export function readPicture(directory: string | undefined, hash: string): { bytes: Uint8Array } | { issue: string } {
	if (directory === undefined) return { issue: "standard input has no pictures beside it" };
	try {
		return pictureIn(directory, hash) ?? { issue: `it is not in ${directory}` };
	} catch (error) {
		return { issue: systemMessage(error) };
	}
}
