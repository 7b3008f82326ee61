// Finds the person and the client that an access token was issued for, for the authentication of requests.

import type { FindToken, TokenOwner } from "../../keys/authenticator.ts";
import type { Grants, StoredToken } from "./grants.ts";

/**
 * Returns a function that finds the owner of an OAuth access token by the token's hash, and records that the token's
 * grant was used.
 */
export function createFindAccessToken(grants: Pick<Grants, "findToken" | "recordUse">): FindToken {
	return async (hash) => {
		const token = await grants.findToken(hash);
		if (token?.kind !== "access") return undefined;
		// Calls go on when this fails; the store logs why.
		grants.recordUse(token.grant).catch(() => {});
		return ownerOf(token);
	};
}

function ownerOf({ access, expiresAt, grant }: StoredToken): TokenOwner {
	const { id, client, person, resource } = grant;
	return {
		principal: {
			id: `grant:${id}`,
			name: client.name,
			client: client.name,
			person: { ...person, signedIn: true },
			access,
		},
		audience: resource,
		expiresAt,
	};
}
