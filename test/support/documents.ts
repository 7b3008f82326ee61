// The documents as tests read them: their commands, their examples, their links.

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

/** What a command in a sentence or a table begins with. */
const inlineCommand =
	/^([A-Z_]+=\S+ )*(bun|npx|openssl|cd|curl|claude|docker|psql) \S/;

/** Each line of its blocks that are no JSON, and each piece of code in a sentence that is a command. */
export function commandsIn({ text }: Document): string[] {
	const found: string[] = [];
	let fence: string | undefined;
	for (const line of text.split("\n")) {
		const [, language] = /^ *```(\w*)$/.exec(line) ?? [];
		if (language !== undefined) {
			fence = fence === undefined ? language : undefined;
			continue;
		}
		// Sentences stand at most three blanks in: those of a list.
		const [, indented] = /^ {4,}(\S.*)$/.exec(line) ?? [];
		if (fence !== undefined) {
			if (fence !== "json") found.push(line.trim());
		} else if (indented !== undefined) found.push(indented);
		else
			for (const [, code = ""] of line.matchAll(/`([^`]+)`/g))
				if (inlineCommand.test(code)) found.push(code);
	}
	return found;
}

/** The files that it links to, from the project's directory, without anchors. */
export function linksIn({ path, text }: Document): string[] {
	return [...text.matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)]
		.map(([, target = ""]) => target)
		.filter((target) => !/^https?:/.test(target))
		.map((target) => join(dirname(path), target));
}

/** A command's words, as a shell takes it apart. */
export function wordsOf(command: string): string[] {
	const { stdout, success } = Bun.spawnSync([
		...["sh", "-c", `printf '%s\\n' ${command}`],
	]);
	if (!success) throw new Error(`no shell takes this: ${command}`);
	return stdout.toString().trimEnd().split("\n");
}
