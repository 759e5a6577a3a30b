import { describe, expect, it } from "vitest";

import { importFixtures } from "../../src/service/fixture/fixture.ts";
import {
  platformFixture,
  platformKeys,
  platformNowMs,
  startPlatformServer,
  type PlatformServer,
} from "../support/platform-server.ts";

interface Page {
  readonly reports: readonly { readonly id: number }[];
  readonly cursor?: string;
}

async function pageOf(server: PlatformServer, query: Record<string, string>): Promise<Page> {
  const answer = await server.call("GET", `/organization/reports?${new URLSearchParams(query).toString()}`);
  expect(answer.status).toBe(200);
  return answer.json as Page;
}

/** Imports more reports of acme, all created at `platformNowMs`. */
async function addReports({ store }: PlatformServer, ids: readonly number[]): Promise<void> {
  const createdAt = new Date(platformNowMs).toISOString();
  const reports = ids.map((id) => ({ id, organization: "acme", createdAt, proposals: [] }));
  await importFixtures({
    store,
    clock: { nowMs: () => platformNowMs },
    files: [{ name: "more.json", text: JSON.stringify({ reports }) }],
  });
}

describe("the cursor", () => {
  it("with any one character changed is 400, and so is one that is shorter or longer", async () => {
    const server = await startPlatformServer();
    const { cursor = "" } = await pageOf(server, { limit: "2" });
    const altered = Array.from(cursor, (character, index) =>
      ["A", "B", "_", "é"]
        .filter((other) => other !== character)
        .map((other) => cursor.slice(0, index) + other + cursor.slice(index + 1)),
    ).flat();

    const statuses = new Set<number>();
    for (const text of [...altered, cursor.slice(1), cursor.slice(0, -1), `${cursor}A`, `${cursor}=`]) {
      const answer = await server.call("GET", `/organization/reports?cursor=${encodeURIComponent(text)}`);
      statuses.add(answer.status);
    }
    const untouched = await server.call("GET", `/organization/reports?cursor=${cursor}`);
    await server.close();

    expect(altered.length).toBeGreaterThan(100);
    expect([...statuses, untouched.status]).toEqual([400, 200]);
  });

  it("neither repeats nor skips among equal timestamps while reports are added", async () => {
    const server = await startPlatformServer({ seed: (store) => importEqual(store) });
    const before = Array.from({ length: 25 }, (_, index) => 100 + 2 * index);
    await addReports(server, before);

    const seen: number[] = [];
    let cursor: string | undefined;
    let odd = 99;
    do {
      const page = await pageOf(server, { limit: "3", ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.reports.map(({ id }) => id));
      cursor = page.cursor;
      // One between those that were listed and those that are yet to come, at every step.
      await addReports(server, [odd, odd + 50, odd + 300]);
      odd += 4;
    } while (cursor !== undefined);
    await server.close();

    expect(seen.filter((id) => before.includes(id))).toEqual(before.toReversed());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it("of another organization never shows its reports", async () => {
    const server = await startPlatformServer();
    const { cursor = "" } = await pageOf(server, { limit: "2" });

    const others = await Promise.all([
      server.call("GET", `/organization/reports?cursor=${cursor}`, { key: platformKeys.globex }),
      server.call("GET", `/organization/reports?slug=globex&cursor=${cursor}`, { key: platformKeys.both }),
      server.call("GET", `/organization/reports?slug=acme&cursor=${cursor}`, { key: platformKeys.both }),
    ]);
    await server.close();

    expect(others.map(({ status }) => status)).toEqual([400, 400, 200]);
  });
});

/** The organizations and keys of the fixture, without its reports. */
function importEqual(store: PlatformServer["store"]): Promise<unknown> {
  const text = JSON.stringify({ ...platformFixture(), reports: [] });
  return importFixtures({ store, clock: { nowMs: () => platformNowMs }, files: [{ name: "keys.json", text }] });
}
