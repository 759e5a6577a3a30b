import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { beforeAll, describe, expect, it } from "vitest";

import { rights, type Right } from "../../../src/contract/rights.ts";
import { listAlerts, useDaemonFolder } from "../../support/program/daemon.ts";
import { eventually } from "../../support/program/program.ts";

/** A line of docs/http.md: a route, and what it asks for. */
interface Route {
  readonly method: string;
  readonly path: string;
  readonly access: string;
}

const page = readFileSync(fileURLToPath(new URL("../../../docs/http.md", import.meta.url)), "utf8");
// There something else lets in: the signature of a hook (e2e/pagerduty-in) or link, or the form of a sign-in (e2e/sign-in).
const isSigned = (path: string): boolean => /^\/(?:(?:api\/v1\/hooks|act)\/|sign-(?:in|out)$)/.test(path);
const routes = page.split("\n").flatMap((line): Route[] => {
  const [, names = "", access = ""] = /^- (.*?) \(([^)]*)\): /.exec(line) ?? [];
  const found = [...names.matchAll(/`(GET|POST|PATCH|DELETE) (\/[^`]*)`/g)];
  return found.map(([, method = "", path = ""]) => ({ method, path, access })).filter(({ path }) => !isSigned(path));
});

const tokenOf = (right: Right): string => `${right}-secret`;

const folder = useDaemonFolder();
let ids: Record<string, string>;

beforeAll(async () => {
  await configure(true);
  await folder.addDeaths("zeta", { lastHour: 90, perDay: 3 });
  await folder.addDeaths("globex", { lastHour: 1, perDay: 3 });
  await folder.start();
  ids = await eventually(async () => {
    const [alert] = await listAlerts(folder.url, "root");
    return alert === undefined || alert.incidentId === null ? null : { alerts: alert.id, incidents: alert.incidentId };
  });
});

function configure(publicRead: boolean): Promise<void> {
  const tokens = rights.map((right) => `    - { name: ${right}, token: ${tokenOf(right)}, may: [${right}] }`);
  return folder.configure(`
defaults: { schedule: "@yearly" }
organizations: [{ slug: zeta, receivers: [] }, { slug: globex, receivers: [] }]
alerting: { groupWait: 0s, fleet: false }
receivers: [{ name: console, type: log }]
silences: [{ schedule: "0 2 * * 6", duration: 2h, slug: zeta, comment: backup }]
server:
  listen: "${folder.listen}"
  publicRead: ${publicRead}
  token: root
  tokens:
${tokens.join("\n")}
    - { name: own, token: own-secret, may: [ingest], slugs: ["zet*"] }
`);
}

const bodies: Readonly<Record<string, object>> = {
  // One that opens no gate, for which the right `gate` is needed.
  "POST /api/v1/alerts/{id}/judgement": { verdict: "checker" },
  "POST /api/v1/alerts/{id}/comments": { comment: "of the matrix" },
  "PATCH /api/v1/silences/{id}": { comment: "of the matrix, changed" },
  "POST /api/v1/silences": {
    slug: "zeta",
    startsAt: "2089-12-31T00:00:00Z",
    endsAt: "2090-01-01T00:00:00Z",
    comment: "of the matrix",
  },
  "POST /api/v1/markers": { slug: "zeta", text: "of the matrix" },
  "POST /api/v1/keys": { organizations: ["zeta"] },
  "POST /api/v1/events": [{ slug: "zeta", at: 1_700_000_000_000, id: "of the matrix" }],
  "POST /api/v1/incidents/{id}/judgement": { verdict: "checker" },
  "POST /api/v1/incidents/{id}/release": { comment: "of the matrix" },
  "POST /api/v1/incidents/{id}/silence": { duration: "1h", comment: "of the matrix" },
  "POST /api/v1/incidents/{id}/comments": { comment: "of the matrix" },
  "POST /api/v1/gate/{slug}/release": { comment: "of the matrix" },
};

function ask(method: string, path: string, token: string | null, body?: object): Promise<Response> {
  return fetch(folder.url + path, {
    method,
    redirect: "manual",
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function make(what: "silences" | "markers"): Promise<string> {
  const made = await ask("POST", `/api/v1/${what}`, "root", bodies[`POST /api/v1/${what}`]);
  return ((await made.json()) as { id: string }).id;
}

/** Asks as the row says, of what is zeta's. */
async function askRoute({ method, path }: Route, token: string | null): Promise<{ status: number; text: string }> {
  const [, kind = ""] = /(\w+)\/\{id\}/.exec(path) ?? [];
  const real = path
    .replace("{check}", "dead-asset-spike")
    .replace("{slug}", "zeta")
    .replace("{id}", ids[kind] ?? "none")
    .replace("*", "none");
  const answer = await ask(method, path === "/probe" ? "/probe?slug=zeta" : real, token, bodies[`${method} ${path}`]);
  // A page asks who it is by leading to the sign-in.
  const isLed = answer.status === 303 && answer.headers.get("location")?.startsWith("/sign-in") === true;
  return { status: isLed ? 401 : answer.status, text: await answer.text() };
}

describe.each([true, false])("with publicRead %s", (publicRead) => {
  beforeAll(async () => {
    await configure(publicRead);
    expect((await ask("POST", "/-/reload", "root")).status).toBe(200);
    ids = { ...ids, silences: await make("silences"), markers: await make("markers") };
  });

  const isFree = ({ access }: Route): boolean => access === "open" || (access === "public" && publicRead);
  const needed = ({ access }: Route): string => (access === "public" ? "read" : access);

  const isLetIn = (route: Route, right: Right): boolean =>
    isFree(route) || needed(route) === right || (needed(route) === "read" && right !== "ingest");

  const cells = routes.flatMap((route) => rights.map((right) => ({ route, right, isIn: isLetIn(route, right) })));

  it("finds the routes of docs/http.md", () => {
    expect(routes.length).toBeGreaterThan(30);
  });

  it.each(routes)("$method $path asks who it is, for $access", async (route) => {
    const [nobody, wrong] = [await askRoute(route, null), await askRoute(route, "wrong")];

    expect(wrong.status === 401).toBe(route.access !== "open");
    expect(nobody.status === 401).toBe(!isFree(route));
    expect(nobody.status).not.toBe(403);
  });

  // What is refused first: it changes nothing, so that all else is there still.
  it.each(cells.filter(({ isIn }) => !isIn))(
    "$route.method $route.path is forbidden to $right",
    async ({ route, right }) => {
      const { status, text } = await askRoute(route, tokenOf(right));

      expect([status, JSON.parse(text)]).toMatchObject([403, { code: "FORBIDDEN" }]);
    },
  );

  it.each(cells.filter(({ isIn }) => isIn))("$route.method $route.path lets $right in", async ({ route, right }) => {
    const { status } = await askRoute(route, tokenOf(right));

    expect([401, 403]).not.toContain(status);
  });

  // The one token of before there were several.
  it.each(routes)("$method $path lets server.token in", async (route) => {
    const { status } = await askRoute(route, "root");

    expect([401, 403]).not.toContain(status);
  });
});

describe("a token with slugs", () => {
  it("sends events of theirs only: a body with one of another stores none", async () => {
    const events = ["zeta", "globex"].map((slug) => ({ slug, at: 1_700_000_000_000, id: "together" }));

    const refused = await ask("POST", "/api/v1/events", "own-secret", events);
    const own = await ask("POST", "/api/v1/events", "own-secret", events.slice(0, 1));
    const taken = await ask("POST", "/api/v1/events", tokenOf("ingest"), events);

    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('\\"globex\\"')]);
    expect(await own.json()).toEqual({ received: 1, stored: 1, duplicates: 0, conflicts: 0 });
    expect(await taken.json()).toEqual({ received: 2, stored: 1, duplicates: 1, conflicts: 0 });
  });
});
