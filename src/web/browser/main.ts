// Scripts only add to the pages: live refresh, dialogs over the page, ticked rows, and local times.
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

/** Sets each time's title to the local time. */
function titleTimes(): void {
  for (const time of document.querySelectorAll("time")) time.title = local.format(Date.parse(time.dateTime));
}

// htmx starts a turn later by itself: until then a click would follow a dialog's link.
htmx.process(document.body);
startLive();
startDialogs();
startTicks();
document.addEventListener("htmx:after:swap", titleTimes);
titleTimes();
