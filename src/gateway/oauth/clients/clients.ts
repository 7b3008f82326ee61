// OAuth clients: programs that people connect. They register dynamically (RFC 7591), or their id is the URL of a metadata
// document. None has a secret: PKCE protects their codes, and those with a document may sign.

import * as v from "valibot";
import { parseJson } from "../../../lib/json.ts";
import type { Log } from "../../../lib/log.ts";
import type { RowOf } from "../../../lib/store/row.ts";
import type { Statements } from "../../../lib/store/store.ts";
import { SenderLimit } from "../../http/sender-limit.ts";
import { hashToken } from "../../keys/token.ts";
import type { tables } from "../../store/migrations.ts";
import { type Assertion, verifyAssertion } from "../protocol/assertion.ts";
import { type Clocks, systemClocks } from "../protocol/clocks.ts";
import { jsonResponse, OAuthError } from "../protocol/oauth-error.ts";
import { readText } from "../protocol/parameters.ts";
import { createClientDocuments, type DocumentOptions } from "./client-document.ts";
import { clientMetadata, clientName, isDocumentId, type OAuthClient, redirectUrisIssue } from "./client-metadata.ts";

export interface ClientsOptions extends Omit<DocumentOptions, "now"> {
	store: Statements;
	log: Log;
	/** In the database. Default: 10,000. */
	maxClients?: number;
	clocks?: Clocks;
}

const maxNameLength = 200;
const maxPerMinute = 60;
const maxPerNetwork = 20;
const dayMs = 86_400_000;
const unusedLifetimeMs = dayMs;
const idleLifetimeMs = 90 * dayMs;
const crowdedLifetimeMs = 600_000;
const pruneIntervalMs = 600_000;

type Row = RowOf<typeof tables, "oauth_clients">;

export type Clients = ReturnType<typeof createClients>;

export function createClients({
	store,
	log,
	maxClients = 10_000,
	clocks = systemClocks,
	...documents
}: ClientsOptions) {
	const { now, monotonicNow } = clocks;
	const byDocument = createClientDocuments({ log, now: monotonicNow, ...documents });
	const registrations = new SenderLimit({ perNetwork: maxPerNetwork, total: maxPerMinute, now: monotonicNow });
	let prunedAt = Number.NEGATIVE_INFINITY;

	async function findRegistered(id: string): Promise<OAuthClient | undefined> {
		if (!/^client_[\w-]{22}$/.test(id)) return undefined;
		const [row] = await store.sql<Row>`SELECT * FROM oauth_clients WHERE id = ${id}`;
		return row && { id: row.id, name: row.name, redirectUris: JSON.parse(row.redirect_uris) };
	}

	async function prune(unusedMs: number): Promise<void> {
		const time = now();
		prunedAt = monotonicNow();
		await store.sql`
			UPDATE oauth_clients SET used_at = ${time}
				WHERE EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.client_id = oauth_clients.id)`;
		await store.sql`
			DELETE FROM oauth_clients
				WHERE (used_at IS NULL AND created_at < ${time - unusedMs}) OR used_at < ${time - idleLifetimeMs}`;
	}

	async function add(client: OAuthClient): Promise<boolean> {
		if (monotonicNow() - prunedAt >= pruneIntervalMs) await prune(unusedLifetimeMs);
		if (await insert(client)) return true;
		await prune(crowdedLifetimeMs);
		return insert(client);
	}

	async function insert(client: OAuthClient): Promise<boolean> {
		const { id, name, redirectUris } = client;
		const inserted: unknown[] = await store.sql`
			INSERT INTO oauth_clients (id, name, redirect_uris, created_at)
				SELECT ${id}, ${name}, ${JSON.stringify(redirectUris)}, CAST(${now()} AS BIGINT)
				WHERE (SELECT COUNT(*) FROM oauth_clients) < ${maxClients} RETURNING id`;
		return inserted.length > 0;
	}

	/** RFC 7591. Rejects with StoreUnavailable or OAuthError. `address`: of the sender. */
	async function registerClient(request: Request, address = ""): Promise<Response> {
		if (registrations.waitMs(address) > 0) throw tooMany();
		const { client_name, redirect_uris, application_type } = await readMetadata(request);
		// Only now: requests that are refused do not keep clients from registering.
		if (!registrations.take(address)) throw tooMany();
		const client: OAuthClient = {
			id: `client_${crypto.getRandomValues(Buffer.alloc(16)).toString("base64url")}`,
			name: clientName(client_name, redirect_uris),
			redirectUris: redirect_uris,
		};
		if (!(await add(client))) {
			log.warn("refused to register an OAuth client: the limit of clients is reached");
			throw tooMany();
		}
		const { id, name, redirectUris } = client;
		log.info("registered a client", { client: id, name, redirectUris });
		const registered = {
			client_id: id,
			client_id_issued_at: Math.floor(now() / 1000),
			client_name: name,
			redirect_uris: redirectUris,
			...(application_type && { application_type }),
			grant_types: ["authorization_code", "refresh_token"],
			response_types: ["code"],
			// Whatever the client asked for. claude.ai asks for client_secret_post, and takes what it gets.
			token_endpoint_auth_method: "none",
		};
		return jsonResponse(registered, 201);
	}

	/** Undefined if unknown or invalid. Rejects with StoreUnavailable or OAuthError. `address`: of the sender. */
	const findClient = (id: string, address = "") =>
		isDocumentId(id) ? byDocument.find(id, address) : findRegistered(id);

	/** Rejects with an OAuthError if a request of the client is not signed as it should be, or was sent before. */
	async function authenticate({ id, signs }: Pick<OAuthClient, "id" | "signs">, given?: Assertion, address = "") {
		if (!given && !signs) return;
		const keys = (await findClient(id, address))?.keys;
		const rule = `The client must${given ? " not" : ""} send a client_assertion (private_key_jwt, RFC 7523).`;
		if (!given || !keys) throw new OAuthError("invalid_client", rule);
		await verifyAssertion(given, id, await byDocument.findKeys(keys, given.kid, address), now());
		const once = await store.sql`INSERT INTO oauth_assertions (id, expires_at)
			VALUES (${hashToken(`${id} ${given.jti}`)}, ${Math.ceil(given.exp * 1000)}) ON CONFLICT (id) DO NOTHING RETURNING id`;
		if (once.length === 0) throw new OAuthError("invalid_client", "The client_assertion was used before.");
	}

	return { findClient, authenticate, registerClient };
}

async function readMetadata(request: Request) {
	const given = parseJson(await readText(request, "application/json", "invalid_client_metadata"));
	const result = v.safeParse(clientMetadata, given);
	if (!result.success) {
		const [issue] = result.issues;
		const where = v.getDotPath(issue) ?? "the body";
		throw new OAuthError(
			where.startsWith("redirect_uris") ? "invalid_redirect_uri" : "invalid_client_metadata",
			`${where}: ${issue.message}.`,
		);
	}
	const { client_name = "", redirect_uris } = result.output;
	const issue = redirectUrisIssue(redirect_uris);
	if (issue) throw new OAuthError("invalid_redirect_uri", issue);
	if (client_name.length > maxNameLength)
		throw new OAuthError("invalid_client_metadata", `client_name has more than ${maxNameLength} characters.`);
	return result.output;
}

function tooMany(): OAuthError {
	return new OAuthError("temporarily_unavailable", "Too many clients have registered. Try again in a minute.", {
		status: 429,
		retryAfterSeconds: 60,
	});
}
