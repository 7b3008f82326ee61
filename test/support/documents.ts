// Reads commands and links from the documents.

import { dirname, join } from "node:path";

export const project = join(import.meta.dir, "../..");

export interface Document {
	/** From the project's directory. */
	path: string;
	text: string;
}

export async function readDocument(path: string): Promise<Document> {
	return { path, text: await Bun.file(join(project, path)).text() };
}

/** The start of a command in a sentence or table. */
const inlineCommand = /^([A-Z_]+=\S+ )*(bun|npx|openssl|cd|curl|claude|docker|psql) \S/;

/** The lines of its code blocks other than JSON and TOML, and the commands in its sentences. */
export function commandsIn({ text }: Document): string[] {
	const found: string[] = [];
	let fence: string | undefined;
	for (const line of text.split("\n")) {
		const [, language] = /^ *```(\w*)$/.exec(line) ?? [];
		if (language !== undefined) {
			fence = fence === undefined ? language : undefined;
			continue;
		}
		// Sentences in lists are indented by at most three spaces.
		const [, indented] = /^ {4,}(\S.*)$/.exec(line) ?? [];
		if (fence !== undefined) {
			if (!/^(json|toml)$/.test(fence)) found.push(line.trim());
		} else if (indented !== undefined) found.push(indented);
		else for (const [, code = ""] of line.matchAll(/`([^`]+)`/g)) if (inlineCommand.test(code)) found.push(code);
	}
	return found;
}

/** The linked files, relative to the project's directory, with the heading behind "#". */
export function anchorsIn({ path, text }: Document): { file: string; anchor?: string }[] {
	return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)].map(([, target, anchor]) => ({
		file: target ? join(dirname(path), target) : path,
		...(anchor && { anchor }),
	}));
}

/** The linked files without anchors. */
export function linksIn(document: Document): string[] {
	return anchorsIn(document).map(({ file }) => file);
}

/** The anchors of a document's headings, as GitHub and the site make them. */
export function headingsOf({ text }: Document): string[] {
	return [...text.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
		heading
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N} _-]/gu, "")
			.replaceAll(" ", "-"),
	);
}

/** The words of a command, split by a shell. */
export function wordsOf(command: string): string[] {
	const print = `printf '%s\\n' ${command}`;
	const { stdout, success } = Bun.spawnSync(["sh", "-c", print]);
	if (!success) throw new Error(`not a shell command: ${command}`);
	return stdout.toString().trimEnd().split("\n");
}
