import { createSystemClock } from "../../../src/base/time.ts";
import { findKey } from "../../../src/service/api-keys.ts";
import { apiV2Routes, type ApiV2Options } from "../../../src/service/api/routes.ts";
import { importFixtures } from "../../../src/service/fixture/fixture.ts";
import { createLocalPlatformApi } from "../../../src/service/local-platform-api.ts";
import type { Store } from "../../../src/store/store.ts";
import { engineNamed } from "../store/engines.ts";
import { startWeb, type WebWorld } from "../web-harness.ts";

/** The keys of `platformFixture`, by what they may do. */
export const platformKeys = {
  acme: "acme-customer-key",
  acmeSecond: "acme-second-customer-key",
  staff: "acme-staff-key-000",
  globex: "globex-customer-key",
  both: "both-organizations-key",
} as const;

/** What `platformFixture` is evaluated and reviewed at. */
const platformNowMs = Date.UTC(2026, 10, 20, 12);

/** Proposal 3NN is about asset 5NN. Of acme: 301–320 queued, 330 not in the queue; of globex: 401. */
export function platformFixture(): object {
  const ids = [...Array.from({ length: 20 }, (_, index) => 301 + index), 330];
  const asset = (id: number): object => ({
    id: id + 200,
    type: "URL",
    content: `https://phish-${id}.test/login`,
    status: "UNKNOWN",
  });
  const report = (id: number, organization: string): object => ({
    id: id + 9_000,
    organization,
    createdAt: new Date(platformNowMs - (id - 300) * 60_000).toISOString(),
    title: `report of ${id}`,
    reporter: { kind: "human", name: "Kim", organization: null },
    proposals: [{ id, assetId: id + 200, queue: id === 330 ? "none" : "queued", resolved: false }],
  });
  return {
    organizations: [
      { slug: "acme", name: "Acme", brands: [{ id: 7, name: "Acme Pay" }] },
      { slug: "globex", name: "Globex", brands: [{ id: 8, name: "Globex" }] },
    ],
    keys: [
      { key: platformKeys.acme, role: "customer", organizations: ["acme"] },
      { key: platformKeys.acmeSecond, role: "customer", organizations: ["acme"] },
      { key: platformKeys.staff, role: "staff", organizations: ["acme"] },
      { key: platformKeys.globex, role: "customer", organizations: ["globex"] },
      { key: platformKeys.both, role: "customer", organizations: ["acme", "globex"] },
    ],
    assets: [...ids, 401].map(asset),
    legitimacyRules: [{ name: "popular", enabled: true, domains: ["protected.example", "example.org"] }],
    reports: [...ids.map((id) => report(id, "acme")), report(401, "globex")],
  };
}

/** The embedded service over a store on disk, listening on 127.0.0.1. */
export interface PlatformServer {
  /** Ends in /api/v2. */
  readonly baseUrl: string;
  readonly store: Store;
  readonly world: WebWorld;
  /** Every request that was answered, as `operation code`. */
  readonly counted: readonly string[];
  /** One request; the body is sent as it is, or as JSON. */
  call(method: string, path: string, request?: CallRequest): Promise<CallAnswer>;
  close(): Promise<void>;
}

export interface CallRequest {
  /** null: no key [platformKeys.acme]. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | object;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** What `text` says; undefined when it is empty. */
  readonly json: unknown;
}

type PlatformServerOptions = Partial<Pick<ApiV2Options, "apiFor" | "authenticate" | "bodies">>;

export async function startPlatformServer(options: PlatformServerOptions = {}): Promise<PlatformServer> {
  const clock = { ...createSystemClock(), nowMs: () => platformNowMs };
  const { store, close } = await engineNamed("SQLite").openTemporary(clock);
  await importFixtures({ store, clock, files: [{ name: "fixture.json", text: JSON.stringify(platformFixture()) }] });
  const counted: string[] = [];
  const logged: WebWorld["logged"] = [];
  const log = (fields: object, message: string): void => void logged.push({ fields, message });
  const logger = { debug: log, info: log, warn: log, error: log, child: () => logger };
  const service: Omit<ApiV2Options, "bodies"> = {
    authenticate: (apiKey) => findKey(store, apiKey),
    apiFor: (identity) => createLocalPlatformApi({ store, clock, appUrl: null, identity, isConfigured: () => false }),
    onRequest: (operation, code) => counted.push(`${operation} ${code}`),
    clock,
    logger,
    ...options,
  };
  const web = await startWeb({ plugins: (bodies) => [apiV2Routes({ bodies, ...service })], logger });
  return {
    baseUrl: `${web.url}/api/v2`,
    store,
    world: { ...web.world, logged },
    counted,
    call: async (method, target, { key = platformKeys.acme, headers = {}, body } = {}) => {
      const isPlain = typeof body === "string" || body instanceof Uint8Array;
      const response = await fetch(`${web.url}/api/v2${target}`, {
        method,
        headers: {
          ...(key === null ? {} : { "x-api-key": key }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isPlain ? Buffer.from(body as string) : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: text === "" ? undefined : (JSON.parse(text) as unknown),
      };
    },
    close: async () => {
      await web.close();
      await close();
    },
  };
}

/** A review of `proposalId` with the body that rejects it. */
export function rejection(proposalId: number, more: object = {}): [string, string, CallRequest] {
  const body = { assetId: proposalId + 200, decision: "REJECT", rejectReason: "irrelevant", ...more };
  return ["POST", `/organization/proposals/${proposalId}/review`, { body }];
}
