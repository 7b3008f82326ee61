// Wires reports into the feature `moderation`: the commands of members, the buttons of staff, tools and background work.

import { combineFeatures, type FeatureOptions } from "../../commands/feature.ts";
import type { Cases } from "../cases/cases.ts";
import { createEntryButtons } from "./entry-buttons.ts";
import { createReportTools } from "./report-tools.ts";
import { Reporting } from "./reporting.ts";
import { Reports } from "./reports.ts";

export function createReportsFeature({ settings, connection, store, log, callAs }: FeatureOptions, cases: Cases) {
	const reports = new Reports({ settings, connection, store, log, callAs });
	const reporting = new Reporting({ settings, connection, reports });
	return combineFeatures([
		reports,
		{
			tools: createReportTools({ settings, reports, cases }),
			components: [reporting.form, createEntryButtons({ reports, callAs })],
			menus: reporting.menus,
		},
	]);
}
