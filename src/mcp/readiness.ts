// How a bot says to its gateway that it runs, but is not ready, and why: in the answer to a GET of its MCP endpoint.

/** The reason, percent-encoded. Sent only to those who have the token. */
const notReadyHeader = "X-Guildhall-Not-Ready";

export function readinessResponse(word: string, reason: string | undefined): Response {
	return new Response(word, reason === undefined ? {} : { headers: { [notReadyHeader]: encodeURIComponent(reason) } });
}

/** Undefined if the server is ready, or says nothing of it. */
export function readNotReady(headers: { get(name: string): string | null }): string | undefined {
	const value = headers.get(notReadyHeader);
	return value === null ? undefined : decodeURIComponent(value);
}
