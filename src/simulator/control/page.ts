// The simulator's page, for people on this machine.

import domScript from "../../pages/dom.js" with { type: "text" };
import actions from "../../pages/simulator/actions.js" with { type: "text" };
import components from "../../pages/simulator/components.js" with { type: "text" };
import composer from "../../pages/simulator/composer.js" with { type: "text" };
import embeds from "../../pages/simulator/embeds.js" with { type: "text" };
import events from "../../pages/simulator/events.js" with { type: "text" };
import guild from "../../pages/simulator/guild.js" with { type: "text" };
import main from "../../pages/simulator/main.js" with { type: "text" };
import markdown from "../../pages/simulator/markdown.js" with { type: "text" };
import members from "../../pages/simulator/members.js" with { type: "text" };
import messageState from "../../pages/simulator/message-state.js" with { type: "text" };
import messages from "../../pages/simulator/messages.js" with { type: "text" };
import modal from "../../pages/simulator/modal.js" with { type: "text" };
import notices from "../../pages/simulator/notices.js" with { type: "text" };
import options from "../../pages/simulator/options.js" with { type: "text" };
import html from "../../pages/simulator/page.html" with { type: "text" };
import server from "../../pages/simulator/server.js" with { type: "text" };
import guildStyle from "../../pages/simulator/styles/guild.css" with { type: "text" };
import markdownStyle from "../../pages/simulator/styles/markdown.css" with { type: "text" };
import messagesStyle from "../../pages/simulator/styles/messages.css" with { type: "text" };
import narrowStyle from "../../pages/simulator/styles/narrow.css" with { type: "text" };
import pageStyle from "../../pages/simulator/styles/page.css" with { type: "text" };
import panelStyle from "../../pages/simulator/styles/panel.css" with { type: "text" };
import world from "../../pages/simulator/world.js" with { type: "text" };
import { serveFiles } from "../../pages/static-files.ts";
import styleSheet from "../../pages/style.css" with { type: "text" };
import { refusalReason } from "./control.ts";

const own = {
	"actions.js": actions,
	"components.js": components,
	"composer.js": composer,
	"embeds.js": embeds,
	"events.js": events,
	"styles/guild.css": guildStyle,
	"guild.js": guild,
	"main.js": main,
	"styles/markdown.css": markdownStyle,
	"markdown.js": markdown,
	"members.js": members,
	"message-state.js": messageState,
	"modal.js": modal,
	"notices.js": notices,
	"options.js": options,
	"styles/messages.css": messagesStyle,
	"messages.js": messages,
	"styles/narrow.css": narrowStyle,
	"styles/page.css": pageStyle,
	"styles/panel.css": panelStyle,
	"server.js": server,
	"world.js": world,
};

const serve = serveFiles({
	"/": { name: "page.html", text: String(html) },
	"/pages/dom.js": { name: "dom.js", text: domScript },
	"/pages/style.css": { name: "style.css", text: styleSheet },
	...Object.fromEntries(Object.entries(own).map(([name, text]) => [`/pages/simulator/${name}`, { name, text }])),
});

/** Undefined for other paths. The host must be a loopback host, because the page uses the control routes. */
export function servePage(request: Request, url: URL): Response | undefined {
	const file = serve(request, url.pathname);
	const refused = file && refusalReason(request, url);
	return refused ? new Response(`${refused}\n`, { status: 403 }) : file;
}
