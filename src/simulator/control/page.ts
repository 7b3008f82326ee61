// The simulator's page, for people on this machine.

import { pageFiles } from "../../pages/page-files.ts" with { type: "macro" };
import { serveFiles } from "../../pages/static-files.ts";
import { refusalReason } from "./control.ts";

const serve = serveFiles(pageFiles("simulator"), "/", "/pages");

/** Undefined for other paths. The host must be a loopback host, because the page uses the control routes. */
export function servePage(request: Request, url: URL): Response | undefined {
	const file = serve(request, url.pathname);
	const refused = file && refusalReason(request, url);
	return refused ? new Response(`${refused}\n`, { status: 403 }) : file;
}
