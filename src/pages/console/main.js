// Entry point of the console's page: signing in, the sections, and the connection to the gateway.

import { byId, element } from "../dom.js";
import { createAccess } from "./access.js";
import { createBackOff, followEvents, getSession, messageOf, onSignedOut, post, signIn } from "./api.js";
import { createApprovals } from "./approvals.js";
import { createConnect } from "./connect.js";
import { createHistory } from "./history.js";
import { createLive } from "./live.js";
import { named, say, timeOf } from "./parts.js";
import { createRouter, setTitle } from "./router.js";
import { createSettings } from "./settings.js";
import { createSignIn } from "./sign-in.js";
import { createSince, createVisit } from "./since.js";
import { createTry } from "./try.js";

/** @import { Session } from "./types.ts" */

const backOff = createBackOff();
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
/** Ends the timers and connections of the view that is shown. */
let leave = () => {};
/** The sections of who was last signed in, with what is typed in them. @type {ReturnType<typeof createSections> | undefined} */
let kept;

function end() {
	leave();
	leave = () => {};
}

/** Shows why the page waits, or nothing. @param {string} [text] */
function setWaiting(text = "") {
	byId("waiting").hidden = text === "";
	byId("waiting-text").textContent = text;
}

/**
 * @param {null | string} discord The origin at which people sign in with Discord.
 * @param {string} [problem] Why the person has to sign in again.
 */
function showSignIn(discord, problem = "") {
	end();
	onSignedOut(() => {});
	setTitle("Sign in");
	setWaiting();
	for (const id of ["sections", "connection", "session"]) byId(id).hidden = true;
	const content = createSignIn(discord, problem, (session) => showConsole(session, discord, true));
	byId("main").replaceChildren(content);
	content.querySelector("input")?.focus();
}

/** @param {Session} session @param {null | string} discord The origin at which people sign in with Discord. */
function showConsole(session, discord, focus = false) {
	leave();
	const who = session.person?.id ?? "";
	if (kept?.who !== who) kept = createSections(who);
	const { live, since, approvals, sections } = kept;
	const router = createRouter(sections, { focus });
	showSession(session);

	/** @param {boolean} connected */
	function onConnection(connected) {
		const light = byId("connection");
		light.hidden = false;
		light.className = `state ${connected ? "good" : "bad"}`;
		light.textContent = connected ? "connected" : "waiting for the gateway";
		setWaiting(
			connected ? "" : "The gateway does not answer; it may be restarting. This page reconnects automatically.",
		);
		if (!connected) return;
		void approvals.refresh();
		router.reopen();
	}
	const stop = followEvents(
		{
			state: live.setState,
			calls(some) {
				live.calls.addCalls(some);
				since.refreshSoon();
			},
			approvals: () => void approvals.refresh(),
			connected: onConnection,
		},
		backOff,
	);
	leave = () => {
		stop();
		router.stop();
	};
	onSignedOut(() => {
		say("");
		showSignIn(discord, "Your session has ended. Sign in again.");
	});
}

/** @param {string} who The id of the person; "" for the holder of the token. */
function createSections(who) {
	const isRoot = who === "";
	const visit = createVisit(who);
	const since = createSince(visit, (kind) => history.show(kind));
	const live = createLive(isRoot, since);
	const history = createHistory(live.state, visit);
	const approvals = createApprovals();
	const sections = [
		{ id: "live", name: "Live", content: live.content, open: since.refresh },
		{ id: "history", name: "History", ...history },
		{ id: "approvals", name: "Approvals", ...approvals },
		{ id: "settings", name: "Settings", ...createSettings(live.state, who) },
		{ id: "access", name: "Access", ...createAccess(isRoot) },
		{ id: "connect", name: "Connect", ...createConnect(isRoot, live.state) },
		{ id: "try", name: "Try", ...createTry(live.state) },
	];
	return { who, live, since, approvals, sections };
}

/** @param {Session} session */
function showSession({ person, expiresAt }) {
	const line = byId("session");
	line.hidden = false;
	const who = person ? named(person.name, 40) : "with the token";
	const text = element("span.quiet", "Signed in ", who, " until ", timeOf(expiresAt), `, ${timeZone} time`);
	async function onclick() {
		end();
		byId("main").replaceChildren();
		sessionStorage.clear();
		kept = undefined;
		await post("/sign-out").catch((error) => say(messageOf(error), "bad"));
		await start();
	}
	line.replaceChildren(text, element("button.small", { onclick }, "Sign out"));
}

/** @param {{ discord: true } | { ticket: string }} [proof] From Discord, or from a terminal's link. */
async function start(proof) {
	for (;;) {
		try {
			const { session, discord } = await getSession();
			backOff.reset();
			setWaiting();
			if (session) return showConsole(session, discord);
			if (!proof) return showSignIn(discord);
			return await signIn(proof)
				.then((made) => showConsole(made, discord))
				.catch((error) => showSignIn(discord, messageOf(error)));
		} catch (error) {
			setWaiting(messageOf(error));
			await backOff.wait();
		}
	}
}

byId("try-now").addEventListener("click", backOff.reset);
const { search, pathname, hash } = location;
const ticket = /^#in=([\w.-]+)$/.exec(hash)?.[1];
// Neither stays in the URL.
if (search || ticket)
	history.replaceState(null, "", pathname + (ticket ? "" : hash || (sessionStorage.getItem("section") ?? "")));
sessionStorage.removeItem("section");
const isFromDiscord = new URLSearchParams(search).get("from") === "discord";
await start(ticket ? { ticket } : isFromDiscord ? { discord: true } : undefined);
