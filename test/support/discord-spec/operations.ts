// Discord's published operations, read from the `Paths` types of discord-api-spec (generated from Discord's OpenAPI document):
// which schema belongs to the request and to each documented response. The schemas of named components come from the package;
// inline types are turned into schemas here.

import { readFileSync } from "node:fs";
// @ts-expect-error: the package has no types of its schemas
import * as components from "discord-api-spec/zod";
import * as z from "zod/mini";

/** A type as it is written in the document. */
export type SpecType =
	| { readonly kind: "name"; readonly name: string }
	| { readonly kind: "literal"; readonly value: string | number }
	| { readonly kind: "array"; readonly element: SpecType }
	| { readonly kind: "union"; readonly options: readonly SpecType[] }
	| { readonly kind: "map"; readonly value: SpecType }
	| { readonly kind: "object"; readonly fields: ReadonlyMap<string, Field> };

interface Field {
	readonly type: SpecType;
	readonly optional: boolean;
}

export interface Operation {
	/** "POST /channels/{channel_id}/messages" */
	readonly name: string;
	readonly query: ReadonlyMap<string, Field>;
	/** undefined: the operation takes no body. */
	readonly request: SpecType | undefined;
	/** By status: "200", "204", "4XX", "429". undefined: no body. */
	readonly responses: ReadonlyMap<string, SpecType | undefined>;
}

/** All operations, by method and path. Each path parameter is written as {}. */
export function readOperations(): ReadonlyMap<string, Operation> {
	const source = readFileSync(
		new URL(import.meta.resolve("discord-api-spec/package.json")).pathname.replace(
			"package.json",
			"build/discord-api-spec.ts",
		),
		"utf8",
	);
	const start = source.indexOf("export interface Paths {");
	const paths = new Parser(source.slice(source.indexOf("{", start))).object();
	const operations = new Map<string, Operation>();
	for (const [path, methods] of paths)
		for (const [method, { type }] of fieldsOf(methods.type)) {
			const fields = fieldsOf(type);
			const parameters = fieldsOf(fields.get("parameters")?.type);
			const responses = [...fieldsOf(fields.get("responses")?.type)].map(
				([status, response]) => [status, bodyOf(response.type)] as const,
			);
			const name = `${method.toUpperCase()} ${path}`;
			operations.set(operationKey(method, path), {
				name,
				query: fieldsOf(parameters.get("query")?.type),
				request: bodyOf(fields.get("requestBody")?.type),
				responses: new Map(responses),
			});
		}
	return operations;
}

/** The key of an operation, from a path with parameters as {name} or :name. */
export function operationKey(method: string, path: string): string {
	const anonymous = path.replace(/\{\w+\}|:\w+/g, "{}");
	return `${method.toUpperCase()} ${anonymous}`;
}

const schemas = new Map<string, z.ZodMiniType>(Object.entries(components));

const primitives: Readonly<Record<string, () => z.ZodMiniType>> = {
	string: z.string,
	number: z.number,
	boolean: z.boolean,
	null: z.null,
	undefined: z.undefined,
	unknown: z.unknown,
	never: z.never,
};

/** The schema of a type. Fails for a component that the package has no schema of. */
export function schemaOf(type: SpecType): z.ZodMiniType {
	switch (type.kind) {
		case "name": {
			const primitive = primitives[type.name];
			if (primitive) return primitive();
			const schema = schemas.get(`${type.name}Schema`);
			if (!schema) throw new Error(`no schema of ${type.name}`);
			return schema;
		}
		case "literal":
			return z.literal(type.value);
		case "array":
			return z.array(schemaOf(type.element));
		case "union":
			return z.union(type.options.map(schemaOf));
		case "map":
			return z.record(z.string(), schemaOf(type.value));
		case "object":
			return z.object(
				Object.fromEntries(
					[...type.fields].map(([name, field]) => [
						name,
						field.optional ? z.optional(schemaOf(field.type)) : schemaOf(field.type),
					]),
				),
			);
	}
}

const none = new Set(["never", "undefined", "unknown"]);

function bodyOf(type: SpecType | undefined): SpecType | undefined {
	return type?.kind === "name" && none.has(type.name) ? undefined : type;
}

function fieldsOf(type: SpecType | undefined): ReadonlyMap<string, Field> {
	return type?.kind === "object" ? type.fields : new Map();
}

/** Parses the part of TypeScript's type syntax that the document uses. */
class Parser {
	readonly #tokens: readonly string[];
	#at = 0;

	constructor(source: string) {
		const comments = /\/\*[\s\S]*?\*\//g;
		const token = /"(?:[^"\\]|\\.)*"|-?[\w.]+|\S/g;
		this.#tokens = source.replace(comments, "").match(token) ?? [];
	}

	/** The fields of an object type. */
	object(): Map<string, Field> {
		const fields = new Map<string, Field>();
		this.#expect("{");
		while (!this.#accept("}")) {
			const key = this.#next();
			const name = key.startsWith('"') ? String(JSON.parse(key)) : key;
			const optional = this.#accept("?");
			this.#expect(":");
			fields.set(name, { type: this.#type(), optional });
			this.#accept(";");
		}
		return fields;
	}

	#type(): SpecType {
		this.#accept("|");
		const options = [this.#member()];
		while (this.#accept("|")) options.push(this.#member());
		const [only] = options;
		return options.length === 1 && only ? only : { kind: "union", options };
	}

	#member(): SpecType {
		let type = this.#single();
		while (this.#tokens[this.#at] === "[" && this.#tokens[this.#at + 1] === "]") {
			this.#at += 2;
			type = { kind: "array", element: type };
		}
		return type;
	}

	#single(): SpecType {
		const token = this.#tokens[this.#at] ?? "";
		if (token === "{" && this.#tokens[this.#at + 1] === "[") return this.#map();
		if (token === "{") return { kind: "object", fields: this.object() };
		this.#at++;
		if (token === "(") {
			const inner = this.#type();
			this.#expect(")");
			return inner;
		}
		if (token === "[") return this.#tuple();
		if (token.startsWith('"')) return { kind: "literal", value: String(JSON.parse(token)) };
		if (/^-?\d/.test(token)) return { kind: "literal", value: Number(token) };
		return { kind: "name", name: token };
	}

	/** `{ [key: string]: T; }` */
	#map(): SpecType {
		for (const token of ["{", "[", "key", ":", "string", "]", ":"]) this.#expect(token);
		const value = this.#type();
		this.#accept(";");
		this.#expect("}");
		return { kind: "map", value };
	}

	/** Only in `security`, which is not read. */
	#tuple(): SpecType {
		const options: SpecType[] = [];
		while (!this.#accept("]")) {
			options.push(this.#type());
			this.#accept(",");
		}
		return { kind: "union", options };
	}

	#next(): string {
		const token = this.#tokens[this.#at++];
		if (token === undefined) throw new Error("the types end too early");
		return token;
	}

	#accept(token: string): boolean {
		if (this.#tokens[this.#at] !== token) return false;
		this.#at++;
		return true;
	}

	#expect(token: string): void {
		const found = this.#next();
		if (found !== token) throw new Error(`expected ${token} but found ${found} at ${this.#at}`);
	}
}
