import { describe, expect, it } from "vitest";

import type { AccessSettings } from "./admission.ts";
import { ask, useWebs, basic, bearer, nobody, oneToken, token } from "../../../test/support/web-harness.ts";

const start = useWebs();

const proxy: AccessSettings["trustedProxy"] = {
  from: ["10.0.0.1/32"],
  userHeader: "x-forwarded-user",
  groupsHeader: "x-forwarded-groups",
  may: {},
};

// e2e/api/rights-matrix asks every route.
describe("who gets in", () => {
  it("a closed route needs the token, as Bearer or as the password of Basic", async () => {
    const web = await start();
    const route = "GET /api/v1/silences";

    const refused = await ask(web, route);

    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toBe(
      'Bearer realm="flatline", Basic realm="flatline", charset="UTF-8"',
    );
    expect(await refused.json()).toEqual({ message: "the token is missing or wrong", code: "UNAUTHORIZED" });
    expect((await ask(web, route, bearer)).status).toBe(200);
    expect((await ask(web, route, basic)).status).toBe(200);
  });

  it.each([
    ["with tokens", [oneToken(token)], null, "the token is missing or wrong"],
    ["with a proxy", [oneToken(token)], proxy, "the token or the proxy's user is missing or wrong"],
  ])("names what is accepted, %s, whether it is missing or wrong", async (_rule, tokens, trustedProxy, message) => {
    const web = await start();
    web.world.access = { ...nobody, tokens, trustedProxy };

    for (const headers of [{}, { authorization: "Bearer other" }])
      expect(await (await ask(web, "POST /-/reload", headers)).json()).toEqual({ message, code: "UNAUTHORIZED" });
  });

  it.each(["POST /-/reload", "POST /api/v1/silences", "DELETE /api/v1/silences/s1", "POST /api/v1/events"])(
    "%s needs the token as Bearer",
    async (route) => {
      const web = await start();

      const refused = await ask(web, route);

      expect(refused.status).toBe(401);
      expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="flatline"');
      expect((await ask(web, route, basic)).status).toBe(401);
      expect((await ask(web, route, bearer)).status).not.toBeOneOf([401, 403]);
    },
  );

  it.each([
    { name: "a wrong one", authorization: "Bearer wrong" },
    { name: "one with something before it", authorization: `Bearer x${token}` },
    { name: "one with something behind it", authorization: `Bearer ${token}x` },
    { name: "the plain one without its scheme", authorization: token },
    { name: "an empty one", authorization: "Bearer " },
    { name: "Basic without a colon", authorization: `Basic ${Buffer.from(token).toString("base64")}` },
    { name: "Basic with the token as the user", authorization: `Basic ${Buffer.from(`${token}:`).toString("base64")}` },
    { name: "another scheme", authorization: `Digest ${token}` },
  ])("a token is refused: $name", async ({ authorization }) => {
    const web = await start();

    expect((await ask(web, "GET /api/v1/silences", { authorization })).status).toBe(401);
  });

  it.each(["GET /-/healthy", "GET /-/ready"])("%s stays open without publicRead", async (route) => {
    const web = await start();
    web.world.access = { ...nobody, tokens: [], publicRead: false };

    expect((await ask(web, route)).status).toBe(200);
    expect((await ask(web, "GET /metrics")).status).toBe(403);
    expect((await ask(web, "GET /-/nowhere")).status).toBe(404);
  });

  it("the token is asked for before the body is looked at", async () => {
    const web = await start();

    const answer = await fetch(`${web.url}/api/v1/silences`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{",
    });

    expect(answer.status).toBe(401);
  });
});
