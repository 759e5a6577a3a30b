import { join } from "node:path";

import { loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/config.ts";
import type { ProgramFolder } from "../support/program/program-folder.ts";

/** Where verdicts come from. */
export type SourceKind = "remote" | "embedded";

export const apiKey = "platform-key-that-nobody-may-see";
export const token = "operator-token-that-nobody-may-see";
/** Of somebody who may not open gates. */
export const danaToken = "dana-token-that-nobody-may-see";
export const signingSecret = `whsec_${Buffer.from("signing-secret-that-nobody-may-see").toString("base64")}`;
export const slugs = Array.from({ length: 20 }, (_, index) => `org-${String(index + 1).padStart(2, "0")}`) as [
  string,
  ...string[],
];
export const people = ["token", "dana"] as const;
/** By the name of their token. */
export type Person = (typeof people)[number];

export const receiverNames = ["ops", "pager", "lead"] as const;

/** Minutes between two runs: half of the organizations are checked every five minutes, the others less often. */
export function intervalMinutesOf(slug: string): 5 | 15 | 60 {
  const index = slugs.indexOf(slug);
  return index % 2 === 0 ? 5 : index % 4 === 1 ? 15 : 60;
}

/** The configurations that reloads apply, by kind of source; the first one has all organizations. */
export async function loadConfigurations(folder: ProgramFolder, source: SourceKind): Promise<[Config, ...Config[]]> {
  const [first, ...others] = configurationTexts(source);
  const configurations: [Config, ...Config[]] = [await load(folder, first)];
  for (const text of others) configurations.push(await load(folder, text));
  return configurations;
}

async function load(folder: ProgramFolder, text: string): Promise<Config> {
  await folder.write("flatline.yaml", text);
  return loadConfig({ path: join(folder.path, "flatline.yaml"), cwd: folder.path, env: {} });
}

interface Organization {
  readonly slug: string;
  readonly index: number;
  readonly routes: string;
}

const sources: Readonly<Record<SourceKind, string>> = {
  remote: `{ type: remote, baseUrl: "https://platform.test/api/v2", apiKey: "${apiKey}", timeout: 20s, concurrency: 8 }`,
  embedded: `{ type: embedded }`,
};
const gates = ["[judged]", "[judged, resolved]", "[resolved]", "[]"];
// Short ones, so that spikes end, and few events fill a baseline.
const thresholds = [
  "windowHours: 1, baselineDays: 1",
  "windowHours: 2, baselineDays: 2",
  "windowHours: 6, baselineDays: 1, minSpikeCount: 15",
];

function configurationTexts(source: SourceKind): [string, ...string[]] {
  const all = slugs.map((slug, index) => ({ slug, routes: index % 5 === 4 ? "[lead]" : "[ops, pager]", index }));
  const of = (organizations: readonly Organization[]): string => `
source: ${sources[source]}
defaults: { alert: { unknownAfter: 3, repeatInterval: 4h }, thresholds: { ${thresholds[0]} } }
organizations:
${organizations.map((one) => `  - { ${organizationText(one, source)} }`).join("\n")}
receivers:
  - { name: ops, type: webhook, url: "https://ops.test/hook", secret: "${signingSecret}", sendActs: true }
  - { name: pager, type: webhook, url: "https://pager.test/hook", minSeverity: fail }
  - { name: lead, type: webhook, url: "https://lead.test/hook" }
server:
  listen: "127.0.0.1:9640"
  token: "${token}"
  tokens: [{ name: dana, token: "${danaToken}", may: [operate] }]
storage: { path: flatline.db, eventRetention: ${source === "embedded" ? "4d" : "0s"} }
`;
  return [
    of(all),
    of(all.filter(({ index }) => index !== 3)),
    of(all.filter(({ index }) => index % 7 !== 5)),
    of(all.map((one) => (one.index === 1 ? { ...one, routes: "[ops, pager, lead]" } : one))),
  ];
}

/** Some wait for long enough to be restarted meanwhile. */
function forOf(index: number): string {
  return index % 6 === 0 ? "30m" : index % 3 === 0 ? "10m" : "0s";
}

function organizationText({ slug, index, routes }: Organization, source: SourceKind): string {
  const minutes = intervalMinutesOf(slug);
  return [
    `slug: ${slug}`,
    `schedule: "${minutes === 60 ? `${index} * * * *` : `*/${minutes} * * * *`}"`,
    // Summer time ends on the second day: every hour of the day has its runs all the same.
    ...(index % 3 === 1 ? ["timezone: Europe/Berlin"] : []),
    `receivers: ${routes}`,
    `alert: { for: ${forOf(index)}, keepFiringFor: ${index % 4 === 0 ? "15m" : "0s"} }`,
    `gate: { releaseOn: ${gates[index % gates.length]} }`,
    ...(source === "embedded" ? [`thresholds: { ${thresholds[index % thresholds.length]} }`] : []),
  ].join(", ");
}
