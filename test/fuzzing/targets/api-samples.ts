import type { FuzzedDaemon } from "../fuzzed-daemon.ts";

/** A valid request of a route; each part of it may be changed. */
export interface ApiSample {
  readonly method: string;
  /** Segments of the path. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const key = { "x-api-key": "example-key-ads" };
const own = "/api/v1";

/** At least one request for each route of docs/http.md that reads or acts. */
export function apiSamples({ alertIds }: FuzzedDaemon): readonly ApiSample[] {
  const [acme = "", globex = ""] = [alertIds.get("acme"), alertIds.get("globex")];
  const get = (path: string, query = {}): ApiSample => ({ method: "GET", path: path.slice(1).split("/"), query });
  const act = (method: string, path: string, body?: unknown): ApiSample => ({ ...get(path), method, body });
  return [
    get("/metrics"),
    get("/probe", { slug: "acme", check: "dead-asset-spike" }),
    get("/-/ready"),
    act("POST", "/-/reload"),
    get(`${own}/checks`),
    get(`${own}/checks/dead-asset-spike/acme`),
    act("POST", `${own}/checks/dead-asset-spike/initech/run`),
    get(`${own}/alerts`),
    get(`${own}/alerts/${acme}`),
    get(`${own}/alerts/${acme}/assets`, { stillDead: "true", assetType: "URL", limit: "10", cursor: "abc" }),
    get(`${own}/alerts/${acme}/assets`, { format: "csv", limit: "2" }),
    get(`${own}/incidents/1/assets`, { toRestore: "true", limit: "2" }),
    get(`${own}/alerts/${acme}/report`),
    act("POST", `${own}/alerts/${acme}/ack`, { by: "kim", comment: "on it" }),
    act("DELETE", `${own}/alerts/${acme}/ack`),
    act("POST", `${own}/alerts/${acme}/comments`, { comment: "seen", by: "kim" }),
    act("POST", `${own}/alerts/${globex}/judgement`, { verdict: "checker", comment: "captcha", by: "kim" }),
    act("DELETE", `${own}/alerts/${globex}/judgement`),
    get(`${own}/gate`),
    get(`${own}/gate/acme`),
    act("POST", `${own}/gate/acme/release`, { comment: "checked by hand", by: "kim" }),
    get(`${own}/markers`, { from: "2026-01-01T00:00:00Z", to: "2026-12-01T00:00:00+01:00", slug: "acme" }),
    act("POST", `${own}/markers`, { text: "rollout 7", at: "2026-01-02T00:00:00Z", slug: "acme", createdBy: "ci" }),
    act("DELETE", `${own}/markers/none`),
    get(`${own}/silences`),
    act("POST", `${own}/silences`, {
      slug: "acme",
      check: "dead-asset-spike",
      startsAt: "2026-01-01T00:00:00Z",
      endsAt: "2100-01-01T00:00:00Z",
      comment: "migration",
      createdBy: "kim",
    }),
    act("PATCH", `${own}/silences/none`, { endsAt: "2100-01-01T00:00:00Z", comment: "longer" }),
    act("DELETE", `${own}/silences/none`),
    act("POST", `${own}/events`, [{ at: "2026-11-20T00:00:00Z", slug: "globex", id: "e-1", assetType: "URL" }]),
    get(`${own}/unwatched`),
    get(`${own}/outbox`),
    act("POST", `${own}/outbox/none/retry`),
    act("DELETE", `${own}/outbox/none`),
    get(`${own}/receivers`),
    act("POST", `${own}/receivers/console/test`),
    get(`${own}/config`),
    get(`${own}/status`),
    get(`${own}/audit`, {
      since: "2026-01-01T00:00:00Z",
      until: "2100-01-01T00:00:00Z",
      actor: "token",
      limit: "10",
      cursor: "abc",
    }),
    get("/", {
      q: "acme severity:fail",
      severity: "fail",
      sort: "count",
      dir: "desc",
      group: "team",
      open: "a",
      page: "2",
    }),
    get("/o/acme", { range: "7d", from: "1767225600000", to: "1767312000000", check: "dead-asset-spike", past: "1" }),
    get("/alerts", { q: "acme", state: "firing", page: "2" }),
    get(`/alerts/${acme}`),
    get("/silences"),
    get("/receivers"),
    get("/config"),
    get("/assets/page.css"),
    get("/act/acknowledge/none", { receiver: "console", until: "1", signature: "x" }),
  ];
}

/** The three operations of API v2. */
export const platformSamples: readonly ApiSample[] = [
  {
    method: "POST",
    path: ["api", "v2", "healthchecks", "assets", "dead-asset-spike"],
    headers: key,
    body: {
      slug: "ads-hosts",
      windowHours: 24,
      baselineDays: 7,
      warnMultiplier: 2,
      failMultiplier: 4.5,
      minSpikeCount: 10,
    },
  },
  {
    method: "GET",
    path: ["api", "v2", "organization", "reports"],
    headers: key,
    query: {
      slug: "ads-hosts",
      limit: "20",
      startDate: "2026-01-01T00:00:00.000Z",
      endDate: "2026-12-31T23:59:59.999Z",
      onlyRejected: "false",
      needsCustomerReview: "false",
    },
  },
  {
    method: "GET",
    path: ["api", "v2", "organization", "reports"],
    headers: key,
    query: {
      status: "TODO",
      decision: "APPROVE",
      assetType: "URL",
      source: "API",
      reportedBy: "human",
      reviewedBy: "automation",
      country: "US",
    },
  },
  ...[
    { assetId: 501, decision: "APPROVE", label: "Brand Impersonation", brandId: 7, note: "seen" },
    { assetId: 501, decision: "REJECT", rejectReason: "irrelevant", slug: "ads-hosts" },
    { assetId: 501, decision: "WATCHLIST", watchlistReason: "OTHER", note: "later" },
  ].map((body) => ({
    method: "POST",
    path: ["api", "v2", "organization", "proposals", "301", "review"],
    headers: key,
    body,
  })),
];
