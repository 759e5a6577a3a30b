import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { customerApi } from "../../test/support/platform-fixture.ts";
import { storeEngines, type OpenedStore } from "../../test/support/store-engines.ts";
import { createVirtualClock, type VirtualClock } from "../../test/support/virtual-clock.ts";
import { asFlatlineError } from "../base/errors.ts";
import type { Store } from "../store/store.ts";
import { findKey } from "./api-keys.ts";
import { importFixtures } from "./fixture.ts";

const example = `organizations: [{ slug: acme, name: Acme, brands: [{ id: 7, name: Acme Pay }] }]
keys: [{ key: "test-key", role: customer, organizations: [acme] }]
assets: [{ id: 501, type: URL, content: "https://acme-login.example", status: UNKNOWN }]
legitimacyRules: [{ name: popular, enabled: true, domains: [example.org] }, { name: owned, enabled: true, organization: acme, pattern: "*.acme.example" }]
reports:
  - id: 9001
    organization: acme
    createdAt: 2026-11-01T10:00:00.000Z
    status: TODO
    source: API
    country: US
    reporter: { kind: human, name: Kim, organization: null }
    proposals: [{ id: 301, assetId: 501, decision: null, decidedBy: null, queue: queued, resolved: false }]
    scans: [{ id: 1, assetId: 501, status: DONE, at: 2026-11-01T10:01:00.000Z }]
`;

let clock: VirtualClock;
let opened: OpenedStore;
let store: Store;

describe.each(storeEngines)("on $engine,", ({ openTemporary }) => {
  beforeEach(async () => {
    clock = createVirtualClock({ startMs: Date.UTC(2026, 10, 20) });
    opened = await openTemporary(clock);
    store = opened.store;
  });

  afterEach(() => opened.close());

  function importTexts(...texts: readonly string[]): ReturnType<typeof importFixtures> {
    const files = texts.map((text, index) => ({ name: `f${index + 1}.yaml`, text }));
    return importFixtures({ store, clock, files, configured: ["configured"] });
  }

  /** The problems that an import was refused with. */
  async function problemsOf(...texts: readonly string[]): Promise<readonly string[]> {
    const refused = asFlatlineError(await importTexts(...texts).catch((error: unknown) => error));
    expect(refused.code).toBe("invalid_data");
    expect(refused.message).toMatch(/^nothing was imported: the fixture has (?:a problem|\d+ problems)$/);
    return refused.issues;
  }

  describe("importing a fixture", () => {
    it("takes YAML, and the same as JSON", async () => {
      const counts = { organizations: 1, keys: 1, assets: 1, legitimacyRules: 2, reports: 1, proposals: 1 };
      expect(await importTexts(example)).toEqual(counts);
      const listed = await customerApi(store, clock, "key_1", "acme").listReports({});

      const json = JSON.stringify({
        organizations: [{ slug: "acme", name: "Acme", brands: [{ id: 7, name: "Acme Pay" }] }],
        reports: listed.reports.map((report) => ({
          id: report["id"],
          organization: "acme",
          createdAt: report["createdAt"],
          updatedAt: report["updatedAt"],
          country: "us",
          reporter: report["reporter"],
          proposals: [{ id: 301, assetId: 501, queue: "queued" }],
        })),
      });
      await importTexts(json);

      expect(await customerApi(store, clock, "key_1", "acme").listReports({})).toEqual(listed);
    });

    it("keeps the key's hash only", async () => {
      await importTexts(example);

      const [key] = await store.platform.keys.list();
      expect(key).toMatchObject({ role: "customer", organizations: ["acme"], revokedAtMs: null });
      expect(JSON.stringify(key)).not.toContain("test-key");
      expect(await findKey(store, "test-key")).toEqual({ role: "customer", organizations: ["acme"], keyId: key?.id });
    });

    it("escalates a proposal again that comes again as queued", async () => {
      await importTexts(example);
      const api = customerApi(store, clock, "key_1", "acme");
      const review = { proposalId: 301, assetId: 501, decision: "REJECT", rejectReason: "decayed" } as const;
      await api.reviewProposal(review);

      await importTexts(example);

      const { reports } = await api.listReports({ needsCustomerReview: true });
      expect(reports).toMatchObject([{ updatedAt: new Date(clock.nowMs()).toISOString() }]);
      expect(await api.reviewProposal(review)).toMatchObject({ watchlisted: false });
    });

    it("takes an empty file for an empty fixture", async () => {
      expect(await importTexts("# nothing yet\n", "{}")).toMatchObject({ reports: 0, organizations: 0 });
    });

    it("lets one file refer to what another states", async () => {
      const organizations = "organizations: [{ slug: acme }]\n";
      const report =
        "reports: [{ id: 1, organization: acme, createdAt: 2026-11-01T10:00:00Z, proposals: [{ id: 1, assetId: 2 }] }]\n";
      const assets = 'assets: [{ id: 2, type: URL, content: "https://x.example" }]\n';

      expect(await importTexts(report, assets, organizations)).toMatchObject({ reports: 1, assets: 1 });
    });

    it.each([
      { rule: "an organization of the configuration", slug: "configured" },
      { rule: "one that has events", slug: "with-events" },
    ])("lets keys, rules and reports be of $rule that no fixture states", async ({ slug }) => {
      const death = {
        atMs: clock.nowMs(),
        assetType: null,
        asset: null,
        status: "DETECTED_AS_DEAD",
        id: null,
        count: 1,
      };
      await store.events.add([{ ...death, slug: "with-events" }]);
      const text = JSON.stringify({
        keys: [{ key: "k", role: "customer", organizations: [slug] }],
        legitimacyRules: [{ name: "owned", organization: slug, domains: ["owned.example"] }],
        reports: [{ id: 1, organization: slug, createdAt: "2026-11-01T10:00:00Z" }],
      });

      await importTexts(text);

      const { reports } = await customerApi(store, clock, "key_1", slug).listReports({});
      expect(reports).toMatchObject([{ id: 1, organization: { slug } }]);
    });

    it("allows references with aliases", async () => {
      const text = `organizations: [{ slug: &acme acme }]\nkeys: [{ key: k, role: staff, organizations: [*acme] }]\n`;

      expect(await importTexts(text)).toMatchObject({ keys: 1 });
    });

    it("imports all files or none", async () => {
      await problemsOf(example, "reports: [{ id: 1, organization: nobody, createdAt: 2026-11-01T10:00:00Z }]");

      expect(await store.platform.organizations.slugs()).toEqual([]);
      expect(await store.platform.keys.list()).toEqual([]);
      expect(await store.platform.assets.byId(501)).toBeNull();
    });
  });

  const change = (from: string, to: string): string => {
    expect(example).toContain(from);
    return example.replace(from, to);
  };

  describe("a fixture's problems", () => {
    it.each([
      {
        rule: "queued and resolved at once",
        from: "resolved: false",
        to: "resolved: true",
        problem: "f1.yaml:13:100: reports[0].proposals[0].resolved: a proposal can't be queued and resolved at once",
      },
      {
        rule: "an unknown key",
        from: "country:",
        to: "cuontry:",
        problem: /^f1\.yaml:11:5: reports\[0\]\.cuontry: unknown key$/,
      },
      {
        rule: "a value that is none of those allowed",
        from: "status: TODO",
        to: "status: TO_DO",
        problem: "f1.yaml:9:13: reports[0].status: must be one of TODO, IN_PROGRESS, CLOSED",
      },
      {
        rule: "a date that is none",
        from: "createdAt: 2026-11-01T10",
        to: "createdAt: 2026-11-31T10",
        problem: 'f1.yaml:8:16: reports[0].createdAt: "2026-11-31T10:00:00.000Z" is not a real date',
      },
      {
        rule: "a name that is left out",
        from: "createdAt:",
        to: "creatdAt:",
        problem: "f1.yaml:6:5: reports[0].createdAt: is required",
      },
      {
        rule: "a wrong type",
        from: "id: 9001",
        to: 'id: "9001"',
        problem: "f1.yaml:6:9: reports[0].id: must be a number, not a string",
      },
      {
        rule: "an organization that nobody states",
        from: "organization: acme\n",
        to: "organization: acmee\n",
        problem: 'f1.yaml:7:19: reports[0].organization: there is no organization "acmee"',
      },
      {
        rule: "an asset that nobody states",
        from: "assetId: 501, decision",
        to: "assetId: 502, decision",
        problem: "f1.yaml:13:37: reports[0].proposals[0].assetId: there is no asset 502",
      },
      {
        rule: "a scan of an asset that nobody states",
        from: "assetId: 501, status",
        to: "assetId: 503, status",
        problem: "f1.yaml:14:31: reports[0].scans[0].assetId: there is no asset 503",
      },
      {
        rule: "a key for an organization that nobody states",
        from: "role: customer, organizations: [acme]",
        to: "role: customer, organizations: [acme, globex]",
        problem: 'f1.yaml:2:65: keys[0].organizations[1]: there is no organization "globex"',
      },
      {
        rule: "a pattern without a star",
        from: "*.acme.example",
        to: "acme.example",
        problem: /^f1\.yaml:4:\d+: legitimacyRules\[1\]\.pattern: must be "\*\." and a domain name/,
      },
      {
        rule: "a domain that is none",
        from: "[example.org]",
        to: '["https://example.org"]',
        problem: /legitimacyRules\[0\]\.domains\[0\]: is not a domain name$/,
      },
      {
        rule: "an asset type in lower case",
        from: "type: URL",
        to: "type: url",
        problem: /^f1\.yaml:3:\d+: assets\[0\]\.type: must be upper-case/,
      },
      { rule: "what is no YAML", from: "organizations: [{", to: "organizations: [[{", problem: /^f1\.yaml:\d+:\d+: / },
      {
        rule: "a key stated twice",
        from: "status: TODO",
        to: "status: TODO\n    status: TODO",
        problem: /^f1\.yaml:\d+:\d+: Map keys must be unique/,
      },
    ])("$rule: its file, line, path and reason", async ({ from, to, problem }) => {
      const problems = await problemsOf(change(from, to));

      const expected = typeof problem === "string" ? problem : (expect.stringMatching(problem) as string);
      expect(problems).toContainEqual(expected);
    });

    it.each([
      {
        rule: "a report",
        text: "reports: [{ id: 1, organization: a, createdAt: 0 }, { id: 1, organization: a, createdAt: 0 }]",
      },
      { rule: "an asset", text: "assets: [{ id: 1, type: URL, content: a }, { id: 1, type: URL, content: b }]" },
      {
        rule: "an asset's type and content",
        text: "assets: [{ id: 1, type: URL, content: a }, { id: 2, type: URL, content: a }]",
      },
      { rule: "an organization", text: "organizations: [{ slug: a }, { slug: a }]" },
      {
        rule: "a proposal, in two reports",
        text: `reports:
  - { id: 1, organization: a, createdAt: 0, proposals: [{ id: 5, assetId: 1 }] }
  - { id: 2, organization: a, createdAt: 0, proposals: [{ id: 5, assetId: 1 }] }`,
      },
    ])("$rule stated twice in a file", async ({ text }) => {
      expect(await problemsOf(text)).toEqual([expect.stringMatching(/^f1\.yaml:\d+:\d+: .* is already stated above$/)]);
    });

    it("never show a key", async () => {
      const secret = "very-secret-key";
      const twice = `keys: [{ key: ${secret}, role: staff, organizations: [a] }, { key: ${secret}, role: staff, organizations: [a] }]`;
      const bad = `keys: [{ key: "${secret}\\u0007", role: staff, organizations: [a] }]`;

      for (const text of [twice, bad]) expect((await problemsOf(text)).join()).not.toContain(secret);
    });

    it("are told all at once, from every file", async () => {
      const problems = await problemsOf(
        "reports: [{ id: 1, organization: x, createdAt: 0 }]",
        "keys: [{ key: a, role: staff, organizations: [y] }]",
      );

      expect(problems).toEqual([
        'f2.yaml:1:47: keys[0].organizations[0]: there is no organization "y"',
        'f1.yaml:1:34: reports[0].organization: there is no organization "x"',
      ]);
    });

    it("name what a stored report or asset stands in the way of", async () => {
      await importTexts(example);

      const problems = await problemsOf(`organizations: [{ slug: globex }]
assets: [{ id: 502, type: URL, content: "https://acme-login.example" }]
reports:
  - { id: 9001, organization: globex, createdAt: 0 }
  - { id: 9002, organization: globex, createdAt: 0, proposals: [{ id: 301, assetId: 501 }] }
`);

      expect(problems).toEqual([
        "f1.yaml:2:41: assets[0].content: asset 501 has this type and content already",
        'f1.yaml:4:31: reports[0].organization: report 9001 is stored as one of "acme"',
        "f1.yaml:5:71: reports[1].proposals[0].id: proposal 301 is stored in report 9001",
      ]);
    });

    it("end a bomb of aliases", async () => {
      const levels = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
      for (const [from, to] of ["ab", "bc", "cd", "de", "ef", "fg"].map((pair) => [pair[0], pair[1]]))
        levels.push(`${to}: &${to} [${Array.from({ length: 10 }, () => `*${from}`).join(", ")}]`);

      expect(await problemsOf(levels.join("\n"))).toEqual([expect.stringContaining("f1.yaml")]);
    });

    it("end with a bound on what is read", async () => {
      const text = `# ${"x".repeat(17 * 1_024 * 1_024)}\norganizations: []\n`;

      await expect(importTexts(text)).rejects.toMatchObject({ code: "too_large" });
    });
  });
});
