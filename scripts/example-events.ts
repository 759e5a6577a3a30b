// Writes examples/shared-checker.csv.gz, what `npm start` replays, and examples/recorded-answers.json.gz: `node scripts/example-events.ts`. The deaths, their number and
// their order are those of examples/records; examples/README.md says what is made up here.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

import { dayMs, secondMs } from "../src/base/time.ts";

interface List {
  readonly slug: string;
  readonly record: "lightswitch" | "riskhosts";
  /** The assets whose hash begins with one of these digits: one recorded list, dealt to three organizations. */
  readonly digits: RegExp;
  /** The last stretch of the record that is told, and the seconds of the example that it takes. */
  readonly night: readonly [from: string, until: string];
  readonly seconds: readonly [from: number, until: number];
  /** Whether its checker is broken in this stretch. */
  readonly isBroken: boolean;
}

const lists: readonly List[] = [
  {
    slug: "risk-hosts",
    record: "riskhosts",
    digits: /^/,
    night: ["2019-10-18T10:25:02.000Z", "2019-10-18T11:01:26.000Z"],
    seconds: [2, 4],
    isBroken: true,
  },
  {
    slug: "adware-hosts",
    record: "lightswitch",
    digits: /^[0-3]/,
    night: ["2019-10-17T23:20:16.000Z", "2019-10-18T02:53:25.000Z"],
    seconds: [1, 4],
    isBroken: true,
  },
  {
    slug: "ads-hosts",
    record: "lightswitch",
    digits: /^[4-b]/,
    night: ["2019-10-17T23:20:16.000Z", "2019-10-18T13:08:26.000Z"],
    seconds: [12, 32],
    isBroken: true,
  },
  {
    slug: "popup-hosts",
    record: "lightswitch",
    digits: /^[c-f]/,
    night: ["2019-10-17T23:20:16.000Z", "2019-10-18T13:08:26.000Z"],
    seconds: [20, 40],
    isBroken: true,
  },
  {
    slug: "tracker-hosts",
    record: "lightswitch",
    digits: /^/,
    night: ["2019-02-16T06:00:00.000Z", "2019-02-16T12:00:00.000Z"],
    seconds: [-21_600, 0],
    isBroken: false,
  },
];
// Before the week that the page shows lies the week that its first day is compared with.
const daysBefore = 16;
const startsAtMs = Date.parse("2026-01-15T12:00:00Z");
const kinds = [
  "ads",
  "banner",
  "cdn",
  "click",
  "count",
  "feed",
  "img",
  "js",
  "go",
  "pixel",
  "pop",
  "promo",
  "sync",
  "tag",
  "track",
  "win",
];
const colours = [
  "amber",
  "azure",
  "black",
  "coral",
  "green",
  "grey",
  "indigo",
  "ivory",
  "lemon",
  "lilac",
  "olive",
  "pearl",
  "red",
  "silver",
  "teal",
  "white",
];
const usualReasons = [
  "dns_nxdomain",
  "dns_nxdomain",
  "dns_nxdomain",
  "connection_timeout",
  "connection_refused",
  "http_404",
] as const;

const folder = fileURLToPath(new URL("../examples/", import.meta.url));
const recordOf = (name: string) =>
  gunzipSync(readFileSync(`${folder}records/${name}.csv.gz`))
    .toString()
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",") as [at: string, slug: string, assetType: string, asset: string, status: string]);
const records = { lightswitch: recordOf("lightswitch"), riskhosts: recordOf("riskhosts") };

/** A name that can be read, for a hash; the same in each list. */
function nameOf(hash: string): string {
  const kind = kinds[Number.parseInt(hash.slice(-1), 16)];
  const colour = colours[Number.parseInt(hash.slice(-2, -1), 16)];
  return `${kind}.${colour}-${hash.slice(0, 6)}.example`;
}

function reasonOf(hash: string, isBrokenNow: boolean): string {
  const chance = Number.parseInt(hash.slice(4, 8), 16);
  if (chance % 40 === 0 || (isBrokenNow && chance % 10 > 0)) return "captcha_page";
  return usualReasons[chance % usualReasons.length] ?? usualReasons[0];
}

const rows = lists.flatMap(({ slug, record, digits, night, seconds, isBroken }) => {
  const [fromMs, untilMs] = [Date.parse(night[0]), Date.parse(night[1])];
  const [beginMs, endMs] = [startsAtMs + seconds[0] * secondMs, startsAtMs + seconds[1] * secondMs];
  const pace = (endMs - beginMs) / (untilMs - fromMs);
  return records[record].flatMap(([at, , assetType, hash, status]) => {
    const recordedMs = Date.parse(at);
    if (recordedMs < fromMs - daysBefore * dayMs || recordedMs > untilMs || !digits.test(hash)) return [];
    const isNight = recordedMs >= fromMs;
    const atMs = isNight ? beginMs + Math.round((recordedMs - fromMs) * pace) : beginMs - (fromMs - recordedMs);
    const reason = status === "DETECTED_AS_DEAD" ? reasonOf(hash, isNight && isBroken) : "";
    return [[new Date(atMs).toISOString(), slug, assetType, nameOf(hash), status, reason].join(",")];
  });
});
/** The dead of the night that the records have as alive again: what a look would have found, as far as it is known. */
const answers = lists.flatMap(({ record, digits, night, isBroken }) => {
  const dead = new Set<string>();
  const alive = new Set<string>();
  for (const [at, , , hash, status] of isBroken ? records[record] : []) {
    if (status === "DETECTED_AS_DEAD" && at >= night[0] && at <= night[1] && digits.test(hash)) dead.add(hash);
    if (status === "DETECTED_AS_ALIVE" && at > night[1] && dead.has(hash)) alive.add(hash);
  }
  return [...alive].map((hash) => ({ asset: nameOf(hash), answer: "answers" }));
});
writeFileSync(
  `${folder}recorded-answers.json.gz`,
  gzipSync(
    `{"results":[\n${answers
      .map((one) => JSON.stringify(one))
      .toSorted()
      .join(",\n")}\n]}\n`,
    { level: 9 },
  ),
);
const text = `at,slug,assetType,asset,status,attr.reason\n${rows.toSorted().join("\n")}\n`;
writeFileSync(`${folder}shared-checker.csv.gz`, gzipSync(text, { level: 9 }));
