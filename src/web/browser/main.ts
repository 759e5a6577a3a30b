// What the browser adds to pages that work without it: they stay live, dialogs open on the page, rows can be ticked together, and
// times have the reader's own beside them.
import htmx from "htmx.org";

import { startDialogs } from "./dialogs.ts";
import { startLive } from "./live.ts";
import { startTicks } from "./ticks.ts";
import { startTimes } from "./times.ts";

// By itself htmx begins a turn later; a key or click in that turn would follow the link in place of opening its dialog.
htmx.process(document.body);
startLive();
startDialogs();
startTicks();
startTimes();
