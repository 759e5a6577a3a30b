import { describe, expect, it } from "vitest";

import { bearer, useWebs } from "../../../test/support/web-harness.ts";

const start = useWebs();

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/api/v1/silences`, {
    method: "POST",
    headers: { ...bearer, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const good = { slug: "acme", endsAt: "2026-01-02T01:00:00+01:00", comment: "migration" };

describe("silences", () => {
  it("are made with the least, listed and ended", async () => {
    const { url } = await start();

    const made = await post(url, good);
    const listed = await fetch(`${url}/api/v1/silences`, { headers: bearer });
    const ended = await fetch(`${url}/api/v1/silences/s1`, { method: "DELETE", headers: bearer });
    const again = await fetch(`${url}/api/v1/silences/s1`, { method: "DELETE", headers: bearer });

    const silence = {
      id: "s1",
      origin: "runtime",
      state: "active",
      slug: "acme",
      check: null,
      labels: {},
      startsAt: "2026-01-01T00:00:00.000Z",
      endsAt: "2026-01-02T00:00:00.000Z",
      comment: "migration",
      createdBy: "token",
      note: null,
      createdAt: "2026-01-01T00:00:00.000Z",
      isActive: true,
      nextChangeAt: "2026-01-02T00:00:00.000Z",
    };
    expect([made.status, await made.json()]).toEqual([201, silence]);
    expect(await listed.json()).toEqual([silence]);
    expect([ended.status, await ended.text()]).toEqual([204, ""]);
    expect([again.status, await again.json()]).toMatchObject([404, { code: "NOT_FOUND" }]);
  });

  it("take patterns, a later start and who made them", async () => {
    const { url, world } = await start();

    const made = await post(url, {
      ...good,
      slug: "a*",
      check: "review-*",
      startsAt: "2026-01-01T06:00:00Z",
      createdBy: "Kim",
    });

    expect(await made.json()).toMatchObject({
      check: "review-*",
      createdBy: "token",
      note: "Kim",
      isActive: false,
      state: "pending",
      nextChangeAt: "2026-01-01T06:00:00.000Z",
    });
    expect(world.silences).toMatchObject([{ slug: "a*", startsAtMs: Date.parse("2026-01-01T06:00:00Z") }]);
  });

  it("of the configuration are listed with their schedule, and cannot be ended here", async () => {
    const { url, world } = await start();
    const rule = { slug: "acme", comment: "backup" };
    const window = {
      id: null,
      origin: "configuration",
      state: "pending",
      createdBy: null,
      note: null,
      createdAtMs: null,
      nextChangeAtMs: Date.parse("2026-01-03T02:00:00Z"),
    } as const;
    world.windows = [
      {
        ...window,
        rule: { ...rule, kind: "recurring", schedule: "0 2 * * 6", durationMs: 7_200_000, timezone: "UTC" },
      },
      {
        ...window,
        state: "expired",
        rule: { ...rule, kind: "fixed", startsAtMs: 0, endsAtMs: 1 },
        nextChangeAtMs: null,
      },
    ];
    await post(url, good);

    const listed = await fetch(`${url}/api/v1/silences`, { headers: bearer });
    const ended = await fetch(`${url}/api/v1/silences/null`, { method: "DELETE", headers: bearer });

    expect(await listed.json()).toMatchObject([
      {
        id: null,
        origin: "configuration",
        state: "pending",
        startsAt: null,
        endsAt: null,
        schedule: "0 2 * * 6",
        duration: "2h",
        timezone: "UTC",
        createdAt: null,
        isActive: false,
        nextChangeAt: "2026-01-03T02:00:00.000Z",
      },
      { id: null, state: "expired", startsAt: "1970-01-01T00:00:00.000Z", nextChangeAt: null },
      { id: "s1", origin: "runtime", state: "active" },
    ]);
    expect(ended.status).toBe(404);
  });

  it.each([
    ["another end", "s1", { endsAt: "2026-01-03T00:00:00Z" }, 200, { id: "s1", endsAt: "2026-01-03T00:00:00.000Z" }],
    ["another comment", "s1", { comment: "longer" }, 200, { comment: "longer", endsAt: "2026-01-02T00:00:00.000Z" }],
    ["nothing, which is 400", "s1", {}, 400, { code: "BAD_REQUEST" }],
    ["no body, which is 400", "s1", undefined, 400, { code: "BAD_REQUEST" }],
    ["a blank comment, which is 400", "s1", { comment: " " }, 400, { code: "BAD_REQUEST" }],
    ["an unknown key, which is 400", "s1", { slug: "globex" }, 400, { code: "BAD_REQUEST" }],
    ["an unknown id, which is 404", "s9", { comment: "longer" }, 404, { code: "NOT_FOUND" }],
    ["one of the configuration, which is 409", "null", { comment: "longer" }, 409, { code: "CONFLICT" }],
  ])("take %s", async (_name, id, body, status, answered) => {
    const { url } = await start();
    await post(url, good);

    const answer = await fetch(`${url}/api/v1/silences/${id}`, {
      method: "PATCH",
      headers: { ...bearer, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

    expect([answer.status, await answer.json()]).toMatchObject([status, answered]);
  });

  it.each([
    { name: "nothing", body: {}, fields: ["slug", "endsAt", "comment"] },
    { name: "no object", body: [], fields: [""] },
    { name: "an unknown key", body: { ...good, slugg: "acme" }, fields: ["slugg"] },
    { name: "no such check", body: { ...good, check: "dead-asset" }, fields: ["check"] },
    { name: "an empty slug", body: { ...good, slug: "" }, fields: ["slug"] },
    { name: "a blank comment", body: { ...good, comment: " " }, fields: ["comment"] },
    { name: "a time without an offset", body: { ...good, endsAt: "2026-01-02T00:00:00" }, fields: ["endsAt"] },
    {
      name: "an end that has passed",
      body: { ...good, startsAt: "2025-01-01T00:00:00Z", endsAt: "2025-01-02T00:00:00Z" },
      fields: ["endsAt"],
    },
    { name: "an end before its start", body: { ...good, startsAt: "2026-01-03T00:00:00Z" }, fields: ["endsAt"] },
    { name: "two mistakes", body: { ...good, slug: 7, comment: null }, fields: ["slug", "comment"] },
  ])("of $name are 400 with an issue for each problem", async ({ body, fields }) => {
    const { url, world } = await start();

    const answer = await post(url, body);

    expect(answer.status).toBe(400);
    const { code, issues } = (await answer.json()) as { code: string; issues: { message: string }[] };
    expect(code).toBe("BAD_REQUEST");
    expect(issues.length).toBe(fields.length);
    for (const [index, field] of fields.entries()) expect(issues[index]?.message).toContain(field);
    expect(world.silences).toEqual([]);
  });

  it("are taken for JSON when the request does not say what they are", async () => {
    const { url } = await start();
    const send = (text: string): Promise<Response> =>
      // fetch names a type for text, but not for bytes.
      fetch(`${url}/api/v1/silences`, { method: "POST", headers: bearer, body: Buffer.from(text) });

    expect((await send(JSON.stringify(good))).status).toBe(201);
    expect((await send("slug: acme")).status).toBe(400);
    expect((await send("")).status).toBe(400);
  });

  it.each([
    ["malformed JSON", 400, '{"slug":', {}, "BAD_REQUEST"],
    ["an empty body", 400, "", {}, "BAD_REQUEST"],
    ["a poisoned prototype", 400, '{"__proto__":{"a":1}}', {}, "BAD_REQUEST"],
    ["another type", 415, "slug: acme", { "content-type": "text/yaml" }, "UNSUPPORTED_MEDIA_TYPE"],
    ["more than 1 MiB", 413, JSON.stringify({ ...good, comment: "x".repeat(2 ** 20) }), {}, "PAYLOAD_TOO_LARGE"],
  ])("of %s are %s", async (_name, status, body, headers, code) => {
    const { url } = await start();

    const answer = await post(url, body, headers);

    expect(answer.status).toBe(status);
    const issues = status === 400 ? { issues: expect.any(Array) } : {};
    expect(await answer.json()).toEqual({ code, message: expect.any(String), ...issues });
  });
});

describe("what only an operator sees", () => {
  it("is the outbox without what is in it", async () => {
    const { url, world } = await start();
    const entry = {
      id: "n1",
      receiver: "ops",
      recipient: null,
      state: "queued",
      attempts: 2,
      createdAtMs: 0,
      nextAttemptAtMs: 60_000,
      lastError: "503",
      incident: 41,
    } as const;
    world.outbox = [entry, { ...entry, id: "n2", state: "dead" }];

    const answer = await fetch(`${url}/api/v1/outbox`, { headers: bearer });

    const shown = {
      id: "n1",
      receiver: "ops",
      recipient: null,
      state: "queued",
      attempts: 2,
      createdAt: "1970-01-01T00:00:00.000Z",
      nextAttemptAt: "1970-01-01T00:01:00.000Z",
      lastError: "503",
      incident: 41,
    };
    expect(await answer.json()).toEqual([shown, { ...shown, id: "n2", state: "dead", nextAttemptAt: null }]);
  });

  it("is each receiver without its address", async () => {
    const { url } = await start();

    const answer = await fetch(`${url}/api/v1/receivers`, { headers: bearer });

    expect(await answer.json()).toEqual([
      {
        name: "ops",
        type: "log",
        minSeverity: "warn",
        sendResolved: true,
        pending: 0,
        deadLetters: 0,
        pausedUntil: null,
      },
    ]);
  });
});
