const local = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

/** Gives each time of the page, which is in UTC, the time of this browser's zone as its title. */
export function startTimes(): void {
  document.addEventListener("htmx:after:swap", write);
  write();
}

function write(): void {
  for (const time of document.querySelectorAll("time")) time.title = local.format(Date.parse(time.dateTime));
}
