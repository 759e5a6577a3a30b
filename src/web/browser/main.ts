// What the browser adds to pages that work without it: they stay live, dialogs open on the page, and rows can be ticked together.
import "htmx.org";

import { startDialogs } from "./dialogs.ts";
import { startLive } from "./live.ts";
import { startTicks } from "./ticks.ts";

startLive();
startDialogs();
startTicks();
