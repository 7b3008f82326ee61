// The simulator's page, for people on this machine.

import { serveFiles } from "../../pages/static-files.ts";
import { refusalReason } from "./control.ts";
import { pageFiles } from "./page-files.ts" with { type: "macro" };

const html = "simulator/page.html";
const serve = serveFiles(
	Object.fromEntries(
		Object.entries(pageFiles()).map(([name, text]) => [name === html ? "/" : `/pages/${name}`, { name, text }]),
	),
);

/** Undefined for other paths. The host must be a loopback host, because the page uses the control routes. */
export function servePage(request: Request, url: URL): Response | undefined {
	const file = serve(request, url.pathname);
	const refused = file && refusalReason(request, url);
	return refused ? new Response(`${refused}\n`, { status: 403 }) : file;
}
