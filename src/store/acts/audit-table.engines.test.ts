import { describe, expect, it } from "vitest";

import { storeEngines } from "../../../test/support/store/engines.ts";
import { createSystemClock } from "../../base/time.ts";
import { actor } from "../../contract/actor.ts";
import type { AuditAct } from "./audit.ts";

const nowMs = Date.UTC(2026, 5, 1);
const kim: AuditAct = {
  atMs: nowMs,
  actor: { name: "ops", via: "token", user: "kim", note: "for Lee" },
  action: "silence.create",
  slug: "eu-*",
  subject: "s1",
  detail: { comment: "migration" },
};

describe.each(storeEngines)("the audit, on $engine,", ({ useStore }) => {
  const opened = useStore(createSystemClock);

  it("keeps who did what, with what nobody has proved among the details", async () => {
    const { audit } = opened.store;
    await audit.append(kim);
    await audit.append({ atMs: nowMs, actor: actor("file", "config"), action: "reload", slug: null, subject: null });

    expect(await audit.list({ limit: 9 })).toEqual([
      {
        id: expect.any(Number),
        atMs: nowMs,
        actor: "file",
        via: "config",
        action: "reload",
        slug: null,
        subject: null,
        detail: {},
      },
      {
        id: expect.any(Number),
        atMs: nowMs,
        actor: "ops",
        via: "token",
        action: "silence.create",
        slug: "eu-*",
        subject: "s1",
        detail: { comment: "migration", user: "kim", note: "for Lee" },
      },
    ]);
  });

  it("is read page by page, newest first, by time and by author", async () => {
    const { audit } = opened.store;
    for (const offset of [3, 0, 1, 1, 2])
      await audit.append({ ...kim, atMs: nowMs + offset, actor: actor(offset === 2 ? "lee" : "kim", "cli") });
    const ages = async (query: Omit<Parameters<typeof audit.list>[0], "limit">, limit = 9): Promise<number[]> =>
      (await audit.list({ ...query, limit })).map(({ atMs }) => atMs - nowMs);

    expect(await ages({})).toEqual([3, 2, 1, 1, 0]);
    expect(await ages({ sinceMs: nowMs + 1, untilMs: nowMs + 2 })).toEqual([2, 1, 1]);
    expect(await ages({ actor: "lee" })).toEqual([2]);
    const first = await audit.list({ limit: 3 });
    const after = first.at(-1);
    expect(await ages(after === undefined ? {} : { after })).toEqual([1, 0]);
  });

  it("forgets what is older than its retention", async () => {
    const { audit } = opened.store;
    for (const offset of [0, 1, 2]) await audit.append({ ...kim, atMs: nowMs + offset });

    expect(await audit.prune({ beforeMs: nowMs + 2, maxRows: 1 })).toEqual({ hasMore: true });
    expect(await audit.prune({ beforeMs: nowMs + 2, maxRows: 9 })).toEqual({ hasMore: false });
    expect((await audit.list({ limit: 9 })).map(({ atMs }) => atMs - nowMs)).toEqual([2]);
  });
});
