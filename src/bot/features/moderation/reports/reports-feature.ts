// Wires reports into the feature `moderation`: the commands of members, the buttons of staff, tools and background work.

import type { Feature, FeatureOptions } from "../../../commands/feature.ts";
import type { Cases } from "../cases/cases.ts";
import { createEntryButtons } from "./entry-buttons.ts";
import type { EntryWorkerOptions } from "./entry-worker.ts";
import { createReportTools } from "./report-tools.ts";
import { createReporting } from "./reporting.ts";
import { createReports } from "./reports.ts";

export type ReportsTiming = Pick<EntryWorkerOptions, "now" | "backOffMs" | "updateIntervalMs">;

/** Creates the reports of the feature `moderation`. Returns undefined if there is no channel for them. */
export function createReportsFeature(
	{ config, connection, store, log, callAs }: FeatureOptions,
	cases: Cases,
	timing: ReportsTiming = {},
) {
	const channelId = config.toml.moderation?.reports;
	if (channelId === undefined) return undefined;
	const reports = createReports({
		channelId,
		connection,
		store,
		log,
		callAs,
		...timing,
	});
	const reporting = createReporting({ channelId, connection, reports });
	return {
		tools: createReportTools({ channelId, reports, cases }),
		components: [reporting.form, createEntryButtons({ reports, callAs })],
		menus: reporting.menus,
		attach: reports.attach,
		start: reports.start,
		close: reports.close,
	} satisfies Feature;
}
