// The files of the console's page. Their URL paths below /console equal their paths below src/pages.

import api from "../../pages/console/api.js" with { type: "text" };
import approvals from "../../pages/console/approvals.js" with { type: "text" };
import callDetails from "../../pages/console/call-details.js" with { type: "text" };
import calls from "../../pages/console/calls.js" with { type: "text" };
import chart from "../../pages/console/chart.js" with { type: "text" };
import clients from "../../pages/console/clients.js" with { type: "text" };
import connect from "../../pages/console/connect.js" with { type: "text" };
import connections from "../../pages/console/connections.js" with { type: "text" };
import css from "../../pages/console/console.css" with { type: "text" };
import html from "../../pages/console/console.html" with { type: "text" };
import control from "../../pages/console/control.js" with { type: "text" };
import controls from "../../pages/console/controls.css" with { type: "text" };
import filters from "../../pages/console/filters.js" with { type: "text" };
import form from "../../pages/console/form.js" with { type: "text" };
import history from "../../pages/console/history.js" with { type: "text" };
import keys from "../../pages/console/keys.js" with { type: "text" };
import live from "../../pages/console/live.js" with { type: "text" };
import main from "../../pages/console/main.js" with { type: "text" };
import parts from "../../pages/console/parts.js" with { type: "text" };
import roleMenu from "../../pages/console/role-menu.js" with { type: "text" };
import router from "../../pages/console/router.js" with { type: "text" };
import settingFields from "../../pages/console/setting-fields.js" with { type: "text" };
import settings from "../../pages/console/settings.js" with { type: "text" };
import settingsHistory from "../../pages/console/settings-history.js" with { type: "text" };
import signIn from "../../pages/console/sign-in.js" with { type: "text" };
import tryTool from "../../pages/console/try.js" with { type: "text" };
import dom from "../../pages/dom.js" with { type: "text" };
import icon from "../../pages/icon.svg" with { type: "text" };
import { serveFiles } from "../../pages/static-files.ts";
import style from "../../pages/style.css" with { type: "text" };
import { paths } from "../oauth/protocol/metadata.ts";

export const consolePath = paths.console;

const files = {
	"dom.js": dom,
	"icon.svg": icon,
	"style.css": style,
	"console/api.js": api,
	"console/approvals.js": approvals,
	"console/call-details.js": callDetails,
	"console/calls.js": calls,
	"console/chart.js": chart,
	"console/clients.js": clients,
	"console/connect.js": connect,
	"console/connections.js": connections,
	"console/console.css": css,
	"console/control.js": control,
	"console/controls.css": controls,
	"console/filters.js": filters,
	"console/form.js": form,
	"console/history.js": history,
	"console/keys.js": keys,
	"console/live.js": live,
	"console/main.js": main,
	"console/parts.js": parts,
	"console/role-menu.js": roleMenu,
	"console/router.js": router,
	"console/setting-fields.js": settingFields,
	"console/settings.js": settings,
	"console/settings-history.js": settingsHistory,
	"console/sign-in.js": signIn,
	"console/try.js": tryTool,
};

/** Undefined for other paths. */
export const servePage = serveFiles({
	[consolePath]: { name: "console.html", text: String(html) },
	...Object.fromEntries(Object.entries(files).map(([path, text]) => [`${consolePath}/${path}`, { name: path, text }])),
});
