// The migrations of the gateway's database, in the order of their numbers.

import type { Migration } from "../../lib/store/migrations.ts";

export const tables = `
	CREATE TABLE keys (
		name TEXT NOT NULL PRIMARY KEY,
		hash TEXT NOT NULL UNIQUE,
		access TEXT NOT NULL,
		instances TEXT,
		guilds TEXT,
		person TEXT,
		created_at BIGINT NOT NULL,
		expires_at BIGINT,
		last_used_at BIGINT
	);
	CREATE TABLE oauth_attempts (
		state_hash TEXT NOT NULL PRIMARY KEY,
		browser_hash TEXT NOT NULL,
		request TEXT,
		person_id TEXT,
		person_name TEXT,
		guilds TEXT,
		returned_at BIGINT,
		expires_at BIGINT NOT NULL
	);
	CREATE INDEX oauth_attempts_browser ON oauth_attempts (browser_hash);
	CREATE TABLE oauth_grants (
		id TEXT NOT NULL PRIMARY KEY,
		client_id TEXT NOT NULL,
		client_name TEXT NOT NULL,
		client_signs INTEGER,
		redirect_uri TEXT NOT NULL,
		person_id TEXT NOT NULL,
		person_name TEXT NOT NULL,
		access TEXT NOT NULL,
		resource TEXT NOT NULL,
		generation BIGINT NOT NULL,
		rotated_at BIGINT NOT NULL,
		created_at BIGINT NOT NULL,
		used_at BIGINT,
		expires_at BIGINT NOT NULL
	);
	CREATE INDEX oauth_grants_person ON oauth_grants (person_id);
	CREATE INDEX oauth_grants_client ON oauth_grants (client_id);
	CREATE TABLE oauth_codes (
		code_hash TEXT NOT NULL PRIMARY KEY,
		grant_id TEXT NOT NULL,
		code_challenge TEXT NOT NULL,
		consent TEXT NOT NULL,
		used_at BIGINT,
		expires_at BIGINT NOT NULL
	);
	CREATE TABLE oauth_tokens (
		token_hash TEXT NOT NULL PRIMARY KEY,
		kind TEXT NOT NULL,
		grant_id TEXT NOT NULL,
		access TEXT NOT NULL,
		generation BIGINT NOT NULL,
		expires_at BIGINT NOT NULL
	);
	CREATE INDEX oauth_tokens_grant ON oauth_tokens (grant_id);
	CREATE TABLE oauth_clients (
		id TEXT NOT NULL PRIMARY KEY,
		name TEXT NOT NULL,
		redirect_uris TEXT NOT NULL,
		created_at BIGINT NOT NULL,
		used_at BIGINT
	);
	CREATE TABLE oauth_assertions (
		id TEXT NOT NULL PRIMARY KEY,
		expires_at BIGINT NOT NULL
	);
	CREATE TABLE console_ended_sessions (
		id TEXT NOT NULL PRIMARY KEY,
		expires_at BIGINT NOT NULL
	)`;

export const migrations: readonly Migration[] = [{ number: 1, name: "tables of the gateway", text: tables }];
