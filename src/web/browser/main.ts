// What the browser adds to pages that work without it: they stay live, dialogs open on the page, rows can be ticked
// together, and times have the reader's own beside them.
import htmx from "htmx.org";

import { startDialogs } from "./dialogs.ts";
import { startLive } from "./live.ts";
import { startTicks } from "./ticks.ts";

const local = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

/** Gives each time of the page, which is in UTC, the time of this browser's zone as its title. */
function titleTimes(): void {
  for (const time of document.querySelectorAll("time")) time.title = local.format(Date.parse(time.dateTime));
}

// By itself htmx begins a turn later; a key or click in that turn would follow the link in place of opening its dialog.
htmx.process(document.body);
startLive();
startDialogs();
startTicks();
document.addEventListener("htmx:after:swap", titleTimes);
titleTimes();
