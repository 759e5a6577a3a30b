// What the browser adds to pages that work without it: they stay live, dialogs open on the page, rows can be ticked together, and
// charts have a cursor.
import "htmx.org";

import { startCharts } from "./chart.ts";
import { startDialogs } from "./dialogs.ts";
import { startLive } from "./live.ts";
import { startTicks } from "./ticks.ts";

startLive();
startDialogs();
startTicks();
startCharts();
