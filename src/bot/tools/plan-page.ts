// The page of an MCP App that shows a plan: one file, as clients require, of the console's own parts.

import { pageFiles } from "../../pages/page-files.ts" with { type: "macro" };

export const planPageUri = "ui://plan";

const files = pageFiles("plan");
const joined = (...names: string[]) => names.map((name) => files[name]).join("\n");
const script = joined("dom.js", "untrusted.js", "plan/plan.js")
	.replace(/^import .*\n/gm, "")
	.replace(/^export /gm, "");

export const planPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Plan</title>
<style>${joined("style.css", "plan/plan.css")}</style><body><script type="module">${script}</script></body></html>`;
