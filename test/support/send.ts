import type { Dispatch, HttpRequest, HttpResponse } from "../../src/lib/http.ts";
import type { Signal } from "../../src/lib/signal.ts";

/** Resolves with status and headers. */
export function sendBy(dispatch: Dispatch) {
	return (request: HttpRequest, signal: Signal) =>
		new Promise<HttpResponse>((responded, failed) => dispatch(request, signal, { responded, failed }));
}
