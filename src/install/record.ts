// The installation record, /var/lib/guildhall/install.json: what install made on a system. With it, a later run can
// tell its own files from files that the operator changed, and uninstall finds all changes.

import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { writeAtomically } from "./atomic.ts";
import { InstallError } from "./step.ts";
import { readText, type System } from "./system.ts";

/** On the system. */
export const recordPath = "/var/lib/guildhall/install.json";

export type Pending = "restart" | "reload-caddy";

export interface Content {
	/** SHA-256 (hexadecimal) by path; while a file is being replaced, of both versions, the new one first. */
	files: Record<string, string[]>;
	pending: Pending[];
	domain?: string;
	/** Install created the system user. */
	madeUser?: boolean;
	/** net.ipv4.tcp_migrate_req before the installation. */
	migrateReq?: string;
}

/** Written before the change that it describes, so that a kill leaves no unrecorded change. */
export class InstallRecord {
	readonly #path: string;
	content: Readonly<Content>;
	exists: boolean;

	constructor(system: System) {
		this.#path = system.at(recordPath);
		const text = readText(this.#path);
		this.exists = text !== "";
		this.content = this.exists ? parse(text, this.#path) : { files: {}, pending: [] };
	}

	/** Writes the record if it has changed. A value of undefined removes the field. */
	set(fields: { [Field in keyof Content]?: Content[Field] | undefined } = {}): void {
		const before = JSON.stringify(this.content);
		this.content = Object.assign(this.content, fields);
		if (this.exists && JSON.stringify(this.content) === before) return;
		mkdirSync(dirname(this.#path), { recursive: true, mode: 0o755 });
		writeAtomically(this.#path, `${JSON.stringify(this.content, null, "\t")}\n`, 0o644);
		this.exists = true;
	}

	/** Undefined forgets the file. */
	setFile(path: string, hashes: string[] | undefined): void {
		const { [path]: _, ...others } = this.content.files;
		this.set({ files: hashes ? { ...others, [path]: hashes } : others });
	}

	setPending(what: Pending, isPending: boolean): void {
		const others = this.content.pending.filter((one) => one !== what);
		this.set({ pending: isPending ? [...others, what] : others });
	}

	remove(): void {
		rmSync(this.#path, { force: true });
		this.exists = false;
	}
}

function parse(text: string, path: string): Content {
	try {
		const content: Content = JSON.parse(text);
		if (content.files && Array.isArray(content.pending)) return content;
	} catch {
		// The error below is thrown.
	}
	throw new InstallError(
		`${path} is damaged. Move it away and run guildhall install again: it then keeps a copy of each file that it replaces.`,
	);
}
