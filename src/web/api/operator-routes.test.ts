import { describe, expect, it } from "vitest";

import { FlatlineError } from "../../base/errors.ts";
import { useWebs, bearer } from "../../../test/support/web-harness.ts";

const start = useWebs();

const entry = {
  receiver: "ops",
  recipient: null,
  attempts: 2,
  createdAtMs: 0,
  nextAttemptAtMs: 0,
  lastError: "410",
  state: "dead",
  incident: 41,
} as const;
const tryAll = (url: string) => {
  const body = new URLSearchParams({ receiver: "ops" });
  const headers = { ...bearer, accept: "text/html" };
  return fetch(`${url}/receivers/retry`, { method: "POST", headers, body, redirect: "manual" });
};

describe("/receivers", () => {
  it("says that the store cannot be written, and counts that as no refusal", async () => {
    const web = await start();
    Object.defineProperty(web.world, "outbox", {
      get: () => {
        web.world.storeError = new FlatlineError("store_busy", "the database is locked");
        return [{ ...entry, id: "n1" }];
      },
    });

    expect((await tryAll(web.url)).status).toBe(503);
  });

  it("has acts for all that a receiver gave up, and says of each that was refused", async () => {
    const web = await start();
    web.world.outbox = ["n1", "n2"].map((id) => ({ ...entry, id }));

    const page = await (await fetch(`${web.url}/receivers`, { headers: bearer })).text();
    const tried = await tryAll(web.url);

    expect(page).toMatch(/Try all 2 again<span class="sr"> to ops/);
    expect(page).toContain("Discard all 2&hellip;");
    expect(decodeURIComponent(tried.headers.get("location") ?? "")).toBe(
      "/receivers?did=0 tried again, 2 not: no notification that waits or gave up has this id.",
    );
  });
});
