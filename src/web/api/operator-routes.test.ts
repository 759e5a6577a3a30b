import { describe, expect, it } from "vitest";

import { useWebs, basic, bearer } from "../../../test/support/web-harness.ts";

const start = useWebs();

describe("/api/v1/outbox/{id}", () => {
  it.each([
    ["POST", "/retry"],
    ["DELETE", ""],
  ])("%s%s needs the token, and a notification that is there", async (method, path) => {
    const web = await start();
    const send = (headers: Record<string, string>) => fetch(`${web.url}/api/v1/outbox/n1${path}`, { method, headers });

    const statuses = [await send({}), await send(basic), await send(bearer)];

    expect(statuses.map(({ status }) => status)).toEqual([401, 401, 404]);
  });
});
