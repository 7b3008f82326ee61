// The viewer of the console: the holder of MCP_AUTH_TOKEN, who sees everything, or a person, who sees only what belongs
// to them.

import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import type { Session } from "./sessions.ts";

const clientName = "Guildhall console";

/** A signed-in viewer of the console. */
export interface Viewer {
	session: Session;
	/**
	 * The person as a principal that may only read; undefined for the holder of MCP_AUTH_TOKEN, who has no limits.
	 */
	person: (Principal & { person: { id: string } }) | undefined;
	/** The principal of the tool calls that the viewer makes in the console, which may only read. */
	reader: Principal;
}

/** Returns the viewer of a session. */
export function viewerOf(session: Session): Viewer {
	const { person } = session;
	if (!person)
		return {
			session,
			person: undefined,
			reader: { ...rootPrincipal, client: clientName, access: "read" },
		};
	const principal = {
		id: `console:${person.id}`,
		name: clientName,
		client: clientName,
		person: { ...person, signedIn: true },
		access: "read" as const,
	};
	return { session, person: principal, reader: principal };
}
