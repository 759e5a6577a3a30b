import { describe, expect, it } from "vitest";

import { useWebs, basic, bearer } from "../../../test/support/web-harness.ts";

const start = useWebs();

describe("/api/v1/outbox/{id}", () => {
  it.each([
    ["POST", "/retry", 409],
    ["DELETE", "", 204],
  ])("%s%s needs the token, and a notification that is there: on its way %s", async (method, path, onItsWay) => {
    const web = await start();
    const entry = {
      receiver: "ops",
      recipient: null,
      state: "dead",
      attempts: 1,
      createdAtMs: 0,
      nextAttemptAtMs: 0,
    } as const;
    web.world.outbox = [
      { ...entry, id: "n1", lastError: "HTTP 410", incident: null },
      { ...entry, id: "n3", state: "leased", lastError: null, incident: null },
    ];
    const send = (id: string, headers: Record<string, string>) =>
      fetch(`${web.url}/api/v1/outbox/${id}${path}`, { method, headers });

    const statuses = [
      await send("n1", {}),
      await send("n1", basic),
      await send("n1", bearer),
      await send("n2", bearer),
      await send("n3", bearer),
    ];

    expect(statuses.map(({ status }) => status)).toEqual([401, 401, 204, 404, onItsWay]);
  });
});
