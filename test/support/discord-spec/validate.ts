// Validates REST exchanges with the simulator against Discord's published OpenAPI document.

import * as z from "zod/mini";
import type { Exchange } from "../../../src/simulator/rest/router.ts";
import { type Operation, operationKey, readOperations, type SpecType, schemaOf } from "./operations.ts";
import { exemptFaults, isQuirk, undocumentedRoutes } from "./quirks.ts";

const operations = readOperations();

/**
 * What is wrong with an exchange by Discord's document, except for the listed quirks.
 *
 * Requests count if they were executed, or if a Discord library sent them: what the bot sends must be right even if Discord
 * refuses it, but tests send invalid requests without a library to try the simulator's refusals. With `onlyResponses` no
 * request counts. Responses count unless a fault of an exempt kind replaced them, or the simulator says that it does not
 * simulate something.
 */
export function violationsOf(exchange: Exchange, { onlyResponses = false } = {}): string[] {
	const { method, route, status, byLibrary } = exchange;
	if (undocumentedRoutes.has(`${method} ${route}`)) return [];
	const operation = operations.get(operationKey(method, route));
	if (!operation) return [`${method} ${route}: not a documented operation`];
	const found: string[] = [];
	if (!onlyResponses && (status < 400 || byLibrary)) {
		found.push(...queryProblems(operation, exchange.query));
		found.push(...bodyProblems(operation, exchange));
	}
	if (!exemptFaults.has(exchange.fault) && !isNotSimulated(exchange))
		found.push(...responseProblems(operation, exchange));
	return found.map((problem) => `${operation.name}: ${problem}`).filter((problem) => !isQuirk(problem));
}

/** 501 with the simulator's own text: Discord has no such status. */
function isNotSimulated({ status, response = "" }: Exchange): boolean {
	return status === 501 && response.includes("The simulator does not simulate ");
}

function queryProblems(operation: Operation, query: URLSearchParams): string[] {
	return [...query].flatMap(([name, text]) => {
		const field = operation.query.get(name);
		if (!field) return [`query.${name}: unknown parameter`];
		const accepted = valuesOf(field.type, text);
		return accepted ? [] : [`query.${name}: ${text} has the wrong type`];
	});
}

/** True if the text of a query parameter can be read as the type. */
function valuesOf(type: SpecType, text: string): boolean {
	if (type.kind === "array") return text.split(",").every((part) => valuesOf(type.element, part));
	if (type.kind === "union") return type.options.some((one) => valuesOf(one, text));
	const schema = schemaOf(type);
	const candidates: unknown[] = [text];
	// https://discord.com/developers/docs/reference#boolean-query-strings
	if (/^([Tt]rue|[Ff]alse|1|0)$/.test(text)) candidates.push(true);
	if (/^-?\d+$/.test(text)) candidates.push(Number(text));
	return candidates.some((one) => schema.safeParse(one).success);
}

function bodyProblems({ name, request }: Operation, { body, files }: Exchange): string[] {
	// Refused before the body was read, such as by a rate limit.
	if (body === undefined) return [];
	const isEmpty = isRecord(body) && Object.keys(body).length === 0;
	if (!request) return isEmpty ? [] : ["request: the operation takes no body"];
	// A request with files alone has no JSON.
	if (isEmpty && files.length > 0) return [];
	const found = problems(schemaFor(request), body, "request", { operation: name, strict: true });
	return found.map(textOf);
}

function responseProblems({ name, responses }: Operation, { status, response, headers }: Exchange): string[] {
	const key = responses.has(String(status)) ? String(status) : `${String(status)[0]}XX`;
	if (!responses.has(key)) return [`status ${status} is not documented`];
	const type = responses.get(key);
	if (!type) return response === undefined ? [] : [`response ${status}: has a body`];
	if (response === undefined) return [`response ${status}: has no body`];
	let parsed: unknown;
	try {
		parsed = JSON.parse(response);
	} catch {
		return [`response ${status}: is not JSON`];
	}
	const schema = schemaFor(type);
	const path = status < 400 ? "response" : `response ${status}`;
	const found = schema.safeParse(parsed).success
		? []
		: problems(schema, parsed, path, { operation: name, strict: false });
	return [...found.map(textOf), ...(status === 429 ? headerProblems(parsed, headers) : [])];
}

/** The headers of a 429. https://discord.com/developers/docs/topics/rate-limits#exceeding-a-rate-limit */
function headerProblems(body: unknown, headers: Readonly<Record<string, string>>): string[] {
	const { retry_after, global } = isRecord(body) ? body : {};
	const expected: Record<string, RegExp> = {
		"retry-after": new RegExp(`^${Math.ceil(Number(retry_after))}$`),
		"x-ratelimit-scope": global ? /^global$/ : /^(user|shared)$/,
		"x-ratelimit-global": global ? /^true$/ : /^$/,
	};
	return Object.entries(expected)
		.filter(([name, pattern]) => !pattern.test(headers[name] ?? ""))
		.map(([name]) => `response header ${name}: ${headers[name] ?? "missing"}`);
}

const cache = new Map<SpecType, z.ZodMiniType>();

function schemaFor(type: SpecType): z.ZodMiniType {
	const known = cache.get(type) ?? schemaOf(type);
	cache.set(type, known);
	return known;
}

/** The parts of zod's definitions that are read here. */
type Definition =
	| { type: "lazy"; getter(): Schema }
	| { type: "optional" | "nullable"; innerType: Schema }
	| { type: "object"; shape: Readonly<Record<string, Schema>> }
	| { type: "array"; element: Schema; checks?: z.core.$ZodCheck<unknown[]>[] }
	| { type: "union"; options: readonly Schema[] }
	| { type: "intersection"; left: Schema; right: Schema }
	| { type: "record"; valueType: Schema }
	| { type: "literal" | "leaf"; format?: string };

type Schema = z.ZodMiniType;

interface Problem {
	readonly path: string;
	readonly text: string;
	readonly isLiteral: boolean;
}

interface Check {
	readonly operation: string;
	/** Unknown keys are wrong. */
	readonly strict: boolean;
}

/** What is wrong with a value, except for quirks. */
function problems(schema: Schema, value: unknown, path: string, check: Check): Problem[] {
	const definition = schema._zod.def as unknown as Definition;
	const { type } = definition;
	const problem = (text: string, at = path): Problem[] =>
		isQuirk(`${check.operation}: ${at}: ${text}`) ? [] : [{ path: at, text, isLiteral: type === "literal" }];
	const wrong = (expected: string): Problem[] =>
		problem(value === undefined ? "missing" : `expected ${expected}, given ${show(value)}`);
	switch (definition.type) {
		case "lazy":
			return problems(definition.getter(), value, path, check);
		case "optional":
			if (value === undefined) return [];
			return problems(definition.innerType, value, path, check);
		case "nullable":
			if (value === null) return [];
			return problems(definition.innerType, value, path, check);
		case "object": {
			if (!isRecord(value)) return wrong("an object");
			const { shape } = definition;
			return [
				...Object.entries(shape).flatMap(([key, field]) => problems(field, value[key], `${path}.${key}`, check)),
				...Object.keys(value)
					.filter((key) => check.strict && !Object.hasOwn(shape, key))
					.flatMap((key) => problem("unknown key", `${path}.${key}`)),
			];
		}
		case "array": {
			if (!Array.isArray(value)) return wrong("an array");
			const { element, checks = [] } = definition;
			const length = z.array(z.unknown()).check(...checks);
			return [
				...value.flatMap((item) => problems(element, item, `${path}[]`, check)),
				...(length.safeParse(value).success ? [] : problem(`has ${value.length} items`)),
			];
		}
		case "union":
			return definition.options
				.map((option) => problems(option, value, path, check))
				.reduce((best, one) => (weigh(one, path) < weigh(best, path) ? one : best));
		case "intersection":
			return [definition.left, definition.right].flatMap((side) =>
				problems(side, value, path, { ...check, strict: false }),
			);
		case "record":
			if (!isRecord(value)) return wrong("an object");
			return Object.values(value).flatMap((item) => problems(definition.valueType, item, `${path}.*`, check));
		default:
			return schema.safeParse(value).success ? [] : wrong(definition.format ?? type);
	}
}

/** How unlikely it is that the value at a path was meant for the option of a union with these problems. */
function weigh(found: readonly Problem[], path: string): number {
	const weights = found.map((one) => {
		if (one.path === path) return 10_000;
		const isDiscriminator = one.isLiteral && one.path.lastIndexOf(".") === path.length;
		return isDiscriminator ? 100 : 1;
	});
	return weights.reduce((sum, weight) => sum + weight, 0);
}

const textOf = ({ path, text }: Problem) => `${path}: ${text}`;

function show(value: unknown): string {
	return JSON.stringify(value)?.slice(0, 60) ?? String(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
