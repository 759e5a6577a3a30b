import { gzipSync } from "node:zlib";

import * as fc from "fast-check";

import { asFlatlineError } from "../../../src/base/errors.ts";
import { latestInstantMs } from "../../../src/base/instant.ts";
import { countsOf, createEventWorld, death, toCsv, toNdjson } from "../../support/store/event-store.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedBytes, mutatedTree } from "../mutate.ts";
import { PlainStore, readPlainFile } from "../plain-events.ts";
import { complaintsOfText } from "../promises.ts";
import { textOf, treeOf, type Tree } from "../tree.ts";

const startMs = Date.UTC(2026, 0, 15, 9);
export const eventSamples = [
  death(startMs, "acme"),
  death(startMs + 999, "globex", { id: "e-1", assetType: "URL", asset: "https://a.example/?x=1,2", count: 3 }),
  death(startMs + 86_400_000, "acme", { id: "é-2", status: "DETECTED_AS_ALIVE", asset: 'with "quotes"\r\nand lines' }),
];
export const eventLines = [
  toNdjson(eventSamples),
  '{"at":1768467600000,"slug":"acme","attributes":{"checker":"eu-2","reason":"tls"}}\r\n\r\n{"at":"2026-01-15T10:00:00+01:00","slug":"a","id":null}',
];
const tables = [
  toCsv(eventSamples),
  'slug,at,attr.checker,attr.reason\r\nacme,2026-01-15T09:41:07Z,eu-2,"tls, handshake"\r\n\r\n"a ""b""",2026-01-15 09:41:07.123456-0330,,',
  "at,slug,count\n0,acme,0\n253402300799999,acme,1000000000\n",
];

const trees = [
  treeOf(eventLines.flatMap((text) => text.split(/\r?\n/).flatMap((line) => (line === "" ? [] : JSON.parse(line))))),
];

const packings = ["plain", "plain", "plain", "gzip", "two members", "cut"] as const;
interface EventFile {
  readonly content: Buffer;
  readonly packing: (typeof packings)[number];
}

/** Files of events: stored as a plain reader reads them, or refused with nothing stored, as it would. */
export const eventFilesTarget: Target = { name: "event-files", tries: 60, open };

async function open(): Promise<OpenTarget> {
  const world = await createEventWorld();
  const plain = new PlainStore();
  let accepted = 0;

  async function deaths(slug: string): Promise<number> {
    const query = { slug, baselineStartMs: -1, windowStartMs: -1, endMs: latestInstantMs };
    const counts = await countsOf(world.store, query);
    return counts.reduce((sum, { currentCount }) => sum + currentCount, 0);
  }

  async function attempt({ content, packing }: EventFile): Promise<readonly string[]> {
    const file = await world.write("events", packed(content, packing));
    const expected = packing === "cut" ? null : readPlainFile(content);
    const outcome = await world.import([file], { again: true }).catch((error: unknown) => asFlatlineError(error));
    if (outcome instanceof Error) {
      const complaints = complaintsOfText([outcome.message, ...outcome.issues].join("\n"));
      if (!["invalid_data", "too_large"].includes(outcome.code))
        complaints.push(`is refused as ${outcome.code}: ${outcome.stack ?? ""}`);
      if (expected !== null) complaints.push(`is refused, and a plain reader reads it: ${outcome.issues.join("; ")}`);
      return [...complaints, ...(await compared())];
    }
    if (expected === null) return [`${outcome.received} events are taken, and a plain reader refuses them`];
    accepted++;
    const stored = plain.add(expected);
    if (outcome.received !== expected.length || outcome.stored !== stored)
      return [`${outcome.received} received and ${outcome.stored} stored, not ${expected.length} and ${stored}`];
    return compared();
  }

  async function compared(): Promise<string[]> {
    const complaints: string[] = [];
    for (const slug of plain.slugs()) {
      const found = await deaths(slug);
      if (found !== plain.deaths(slug))
        complaints.push(`${JSON.stringify(slug)} has ${found} deaths, not ${plain.deaths(slug)}`);
    }
    return complaints;
  }

  return untyped({
    inputs: fc.record({
      content: fc.oneof(
        mutatedBytes([...tables, ...eventLines]),
        mutatedTree(trees).map((tree) => Buffer.from(linesOf(tree))),
        mutatedTree(trees).map((tree) => Buffer.from(tableOf(tree))),
      ),
      packing: fc.constantFrom(...packings),
    }),
    attempt,
    show: ({ content, packing }: EventFile) => `${packing} ${JSON.stringify(content.toString("latin1"))}`,
    accepted: () => accepted,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  });
}

/** NDJSON of a list of events. */
function linesOf(tree: Tree): string {
  return tree.kind === "list" ? tree.items.map((item) => `${textOf(item)}\n`).join("") : textOf(tree);
}

/** CSV of a list of events, under the keys of the first of them. */
function tableOf(tree: Tree): string {
  const items = tree.kind === "list" ? tree.items : [tree];
  const rows = items.map((item) => (item.kind === "object" ? item.entries : []));
  const header = (rows[1] ?? []).map(({ key }) => key);
  const cells = rows.map((row) =>
    header.map((name) => cellOf(row.find(({ key }) => key === name)?.value ?? null)).join(","),
  );
  return [header.map((name) => cellOf(treeOf(name))).join(","), ...cells, ""].join("\n");
}

function cellOf(tree: Tree | null): string {
  if (tree === null) return "";
  const text = textOf(tree);
  return text.startsWith('"') ? `"${text.slice(1, -1).replaceAll('"', '""')}"` : text;
}

function packed(content: Buffer, packing: EventFile["packing"]): Buffer {
  switch (packing) {
    case "plain":
      return content;
    case "gzip":
      return gzipSync(content);
    case "two members": {
      const middle = content.length >> 1;
      return Buffer.concat([gzipSync(content.subarray(0, middle)), gzipSync(content.subarray(middle))]);
    }
    case "cut":
      return gzipSync(content).subarray(0, -5);
    default:
      return packing satisfies never;
  }
}
