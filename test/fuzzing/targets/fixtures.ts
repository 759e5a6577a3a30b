import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import { parse } from "yaml";

import { asFlatlineError } from "../../../src/base/errors.ts";
import { createSystemClock } from "../../../src/base/time.ts";
import { importFixtures } from "../../../src/service/fixture/fixture.ts";
import { createEventWorld } from "../../support/store/event-store.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedText } from "../mutate.ts";
import { parsed } from "../plain-json.ts";
import { complaintsOfText } from "../promises.ts";
import { treeOf } from "../tree.ts";

const example = readFileSync(fileURLToPath(new URL("../../../examples/fixture.yaml", import.meta.url)), "utf8");
const small = {
  organizations: [{ slug: "acme", name: "Acme", brands: [{ id: 7, name: "Acme Pay" }] }],
  keys: [{ key: "test-key", role: "customer", organizations: ["acme"] }],
  assets: [{ id: 501, type: "URL", content: "https://acme-login.example", status: "UNKNOWN" }],
  legitimacyRules: [
    { name: "popular", enabled: true, domains: ["example.org", "bücher.example"] },
    { name: "owned", enabled: true, organization: "acme", pattern: "*.acme.example" },
  ],
  reports: [
    {
      id: 9001,
      organization: "acme",
      createdAt: "2026-11-01T10:00:00.000Z",
      status: "TODO",
      source: "API",
      country: "US",
      reporter: { kind: "human", name: "Kim", organization: null },
      sla: { dueAt: 1_793_500_000_000, breached: false },
      proposals: [{ id: 301, assetId: 501, decision: null, decidedBy: null, queue: "queued", resolved: false }],
      scans: [{ id: 1, assetId: 501, status: "DONE", at: "2026-11-01T10:01:00.000Z" }],
    },
  ],
};

/** Fixtures: all of one is stored, and again means the same; or nothing is. */
export const fixturesTarget: Target = { name: "fixtures", tries: 60, open };

async function open(): Promise<OpenTarget> {
  const world = await createEventWorld();
  const database = new DatabaseSync(join(world.folder, "flatline.db"), { readOnly: true });
  const clock = { ...createSystemClock(), nowMs: () => Date.UTC(2026, 10, 22) };
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' order by name")
    .all()
    .map(({ name }) => String(name));
  let accepted = 0;

  function stateHash(): string {
    const hash = createHash("sha256");
    for (const name of tables)
      for (const row of database.prepare(`select * from "${name}"`).iterate()) hash.update(JSON.stringify(row));
    return hash.digest("hex");
  }

  function storedReports(): ReadonlySet<number> {
    const rows = database.prepare("select report_id from reports").all();
    return new Set(rows.map((row) => Number(row["report_id"])));
  }

  const load = (bytes: Buffer): Promise<object> =>
    importFixtures({ store: world.store, clock, files: [{ name: "fixture.yaml", text: bytes.toString() }] });

  async function attempt(bytes: Buffer): Promise<readonly string[]> {
    const before = stateHash();
    const outcome = await load(bytes).catch((error: unknown) => asFlatlineError(error));
    if (outcome instanceof Error) {
      const complaints = complaintsOfText([outcome.message, ...outcome.issues].join("\n"));
      if (outcome.code !== "invalid_data" && outcome.code !== "too_large")
        complaints.push(`is refused as ${outcome.code}: ${outcome.stack ?? ""}`);
      if (outcome.issues.length > 21) complaints.push(`has ${outcome.issues.length} issues`);
      return stateHash() === before ? complaints : [...complaints, "is refused, and the store has changed"];
    }
    accepted++;
    const complaints: string[] = [];
    const stored = storedReports();
    for (const id of reportIds(bytes)) if (!stored.has(id)) complaints.push(`report ${id} is not stored`);
    // A proposal that is queued again is escalated again, which changes its report once.
    const again = await load(bytes);
    const twice = stateHash();
    await load(bytes);
    if (JSON.stringify(again) !== JSON.stringify(outcome)) complaints.push("a second import counts otherwise");
    if (stateHash() !== twice) complaints.push("a third import of the same at the same time changes the store");
    return complaints;
  }

  return untyped({
    inputs: mutatedText([treeOf(small), treeOf(parse(example))], [JSON.stringify(small, null, 1), example]),
    attempt,
    show: (bytes: Buffer) => bytes.toString(),
    accepted: () => accepted,
    [Symbol.asyncDispose]: async () => {
      database.close();
      await world[Symbol.asyncDispose]();
    },
  });
}

/** The numbers of the reports that a fixture which was taken must have. */
function reportIds(bytes: Buffer): readonly number[] {
  const text = bytes.toString();
  // The YAML parser takes seconds for megabytes of JSON, which would count as flatline's time.
  const value = parsed(text) ?? parse(text, { version: "1.2", maxAliasCount: -1, logLevel: "silent" }) ?? {};
  const { reports } = value as { readonly reports?: readonly { readonly id: number }[] };
  return (reports ?? []).map(({ id }) => id);
}
