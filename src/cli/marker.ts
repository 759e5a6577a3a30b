import { z } from "zod";

import { breakAddresses } from "../base/broken-address.ts";
import { describeAuthor } from "../contract/actor.ts";
import { markerSchema } from "../contract/v1/operator.ts";
import { actingOnEach, asking } from "./ask.ts";
import { group, value } from "./command.ts";
import { renderTable } from "./table.ts";
import { parseTime } from "./values.ts";

const path = "/api/v1/markers";

const add = asking({
  description: "mark what was done, and when",
  words: [["<text>", "what was done, in a few words"]],
  flags: {
    at: value("<time>", "when (ISO 8601 or epoch ms) [now]", parseTime),
    slug: value("<slug>", "the organization that it is about [all]"),
  },
  acts: true,
  json: "print the marker as JSON",
  help: `
An alert whose deaths began within a day after it says so: "began 40 min after «captcha rollout»".

Examples:
  flatline marker add "captcha rollout"
  flatline marker add "checker 4.2 deployed" --at 2026-01-02T06:00:00Z --slug acme
`,
  ask: ({ api, flags: { at, slug, by: createdBy }, words: [text] }) =>
    api.send("POST", path, { text, at, slug, createdBy }, markerSchema),
  say: ({ id, text, at }) => `${id}: «${text}» at ${at}\n`,
});

const list = asking({
  description: "list markers of the last 30 days, oldest first",
  flags: { from: value("<time>", "from when on (ISO 8601 or epoch ms)", parseTime) },
  json: "print an array of {id, at, text, slug, createdBy, createdAt}",
  help: "\nExample:\n  flatline marker list --json | jq -r '.[].text'\n",
  ask: ({ api, flags: { from } }) => api.read(path, z.array(markerSchema), { from }),
  say: (listed, { context }) =>
    renderTable(
      listed,
      {
        AT: ({ at }) => at,
        ORGANIZATION: ({ slug }) => slug ?? "(all)",
        WHAT: ({ text }) => breakAddresses(text),
        BY: ({ createdBy, note }) => describeAuthor(createdBy ?? null, note),
        ID: ({ id }) => id,
      },
      { empty: "there are no markers", context },
    ),
});

export const marker = group("mark rollouts and deployments, which alerts then name", {
  add,
  list,
  remove: actingOnEach("delete markers", { example: "marker remove", path, shownBy: "marker list", done: "deleted" }),
});
