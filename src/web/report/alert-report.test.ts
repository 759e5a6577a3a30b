import fc from "fast-check";
import { marked, type Token } from "marked";
import { describe, expect, it } from "vitest";

import { openIncident } from "../../../test/support/firing-alert.ts";
import type { HealthcheckResult } from "../../contract/healthcheck.ts";
import { renderAlertReport, type ReportFacts } from "./alert-report.ts";

const atMs = Date.UTC(2026, 0, 15, 12);
const fragments = [
  "[a](https://evil.example)",
  "![a](https://evil.example/x.png)",
  "[a]: https://evil.example 'x'",
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "<https://evil.example>",
  "https://kim@evil.example/?q=1",
  "www.evil.example",
  "kim@evil.example",
  "mailto:kim@evil.example",
  "@here",
  "@channel",
  "<!channel>",
  "<@U123>",
  "#123",
  "`",
  "``",
  "```\n",
  "~~~",
  "\\",
  "\n\n",
  "\r\n",
  "\u2028",
  "\u0085",
  "\n# a",
  "\n---\n",
  "\n- ",
  "| a | b |\n|---|---|\n",
  "**a**",
  "~~a~~",
  "&lt;b&gt;",
  "&#x60;",
  "]]>",
  "<!--",
  "\u202e",
  "\u0000",
  "\u001b[31m",
  " ",
];
const hostile = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...fragments), fc.string({ maxLength: 6 })), { maxLength: 6 })
    .map((all) => all.join("")),
  fc.string({ unit: "binary", maxLength: 40 }),
);

/** An alert in which all text of others is `text`. */
function factsOf(text: string): ReportFacts {
  const said = { comment: text, by: text, note: text, atMs };
  const result: HealthcheckResult = {
    id: "dead-asset-spike",
    title: text,
    category: "assets",
    generatedAt: "2026-01-15T12:00:00.000Z",
    scope: { slug: text },
    ok: false,
    severity: "fail",
    observed: { likelyCause: text, likelyCauseReason: text, revivedCount: 33 },
    threshold: {},
    findings: [{ kind: "sentinel.asset", ref: text, severity: "fail", message: text }],
    suggestedAction: text,
    appUrl: text,
  };
  return {
    detail: {
      state: {
        id: text,
        check: "dead-asset-spike",
        slug: text,
        kind: "verdict",
        state: "firing",
        severity: "fail",
        startsAtMs: atMs,
        firingAtMs: atMs,
        okSinceMs: null,
        unknownRuns: 0,
        peak: { severity: "fail", currentCount: 5_119, atMs },
        acknowledgement: { ...said, severity: "fail" },
        judgement: { ...said, verdict: "checker" },
        onset: { atMs, marker: { text, atMs } },
        reason: "not_ok",
      },
      silenced: true,
      notifiedAtMs: atMs,
      lastResult: null,
      labels: { [text]: text },
      url: text,
      endsAtMs: null,
      judgements: [],
      comments: [{ alertId: text, slug: text, atMs, by: text, note: text, text, act: null }],
      history: [
        {
          alertId: text,
          check: "dead-asset-spike",
          slug: text,
          kind: "verdict",
          atMs,
          event: "firing",
          severity: "fail",
          reason: "not_ok",
        },
      ],
      worstResult: null,
    },
    result,
    resultAtMs: null,
    gate: {
      slug: text,
      decision: "hold",
      reason: "fail_firing",
      failure: null,
      sinceMs: atMs,
      suspectFromMs: null,
      message: text,
      opens: null,
      releases: [],
    },
    assets: {
      fromMs: atMs,
      toMs: atMs,
      count: 2,
      knownCount: 1,
      seenAliveCount: 0,
      revivedCount: 0,
      assets: [
        {
          slug: "acme",
          asset: text,
          assetType: text,
          deadAtMs: atMs,
          attributes: { [text]: text },
          revivedAtMs: null,
          answer: null,
        },
      ],
      next: null,
    },
    opinion: {
      incident: openIncident(atMs, {
        secondOpinion: {
          asked: 20,
          alive: 14,
          gone: 5,
          verdict: "refuted",
          controls: { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } },
          atMs,
          look: 1,
        },
      }),
      look: {
        isRunning: false,
        answers: [
          {
            slug: text,
            asset: text,
            assetType: text,
            role: "sample",
            answer: "answers",
            detail: text,
          },
        ],
      },
    },
    externalUrl: null,
    nowMs: atMs,
  };
}

/** Every token that the renderer makes of the text, in order, and what each code span holds. */
function read(markdown: string): {
  readonly tokens: readonly string[];
  readonly spans: readonly string[];
  readonly html: string;
} {
  const tokens: string[] = [];
  const spans: string[] = [];
  const list = marked.lexer(markdown, { gfm: true });
  void marked.walkTokens(list, (token: Token) => {
    tokens.push(token.type);
    if (token.type === "codespan") spans.push(String(token["text"]));
  });
  return { tokens, spans, html: marked.parser(list, { gfm: true }) };
}

const outsideCode = (html: string): string => html.replaceAll(/<code>[^<]*<\/code>/g, "");

describe("the report of an alert", () => {
  it("says what happened, in order, with evidence, assets and comments", () => {
    const text = renderAlertReport({ ...factsOf("acme"), externalUrl: "https://flatline.example/x/" });

    expect(text).toMatchInlineSnapshot(`
      "# fail: \`acme\`, dead-asset-spike

      - Alert: \`acme\`
      - Page: https://flatline.example/x/o/acme
      - Began: 2026-01-15T12:00:00Z, after the marker \`acme\` of 2026-01-15T12:00:00Z
      - Detected: 2026-01-15T12:00:00Z
      - Notified: 2026-01-15T12:00:00Z
      - Acknowledged: 2026-01-15T12:00:00Z by \`acme\`
      - Judged: checker, 2026-01-15T12:00:00Z by \`acme\`
      - Ended: not yet, it is firing, silenced
      - Peak: fail, 5,119 deaths, 2026-01-15T12:00:00Z
      - Gate: hold, \`acme\`
      - Labels: \`acme=acme\`

      ## Evidence

      - \`acme\`
      - Likely cause: \`acme\`: \`acme\`
      - Undone so far: 33
      - Do this first: \`acme\`

      ## Second opinion

      - refuted for incident 41, 2026-01-15T12:00:00Z: 14 of 20 still answer; of 20 known to be alive 19 do, of 20 long dead 1
      - dead asset, answers: \`acme\`, \`acme\`

      ## Dead assets

      - 2 deaths from 2026-01-15T12:00:00Z to 2026-01-15T12:00:00Z, 1 different assets with a name; the newest:
      - 2026-01-15T12:00:00Z \`acme\` \`acme\`, still dead

      ## What happened

      - 2026-01-15T12:00:00Z firing, fail

      ## Comments

      - 2026-01-15T12:00:00Z \`acme\`: \`acme\`

      As of 2026-01-15T12:00:00Z. Times are UTC; addresses are broken on purpose.
      "
    `);
  });

  it.each(["ended", "pending"])("of one that is %s says so", (state) => {
    const facts = factsOf("acme");
    const { detail } = facts;
    const bare = { ...detail, labels: {}, silenced: false, notifiedAtMs: null, comments: [], history: [] };
    const { onset: _onset, judgement: _judgement, ...rest } = detail.state;
    const pending = { ...rest, state: "pending", acknowledgement: null } as const;
    const changed = state === "ended" ? { ...bare, endsAtMs: atMs } : { ...bare, state: pending };

    const text = renderAlertReport({
      ...facts,
      detail: changed,
      result: null,
      gate: null,
      assets: null,
      opinion: null,
    });

    expect(text).toContain(
      state === "ended" ? "# ended, fail: `acme`, dead-asset-spike" : "- Ended: not yet, it is pending\n",
    );
    expect(text).toContain("- Notified: nobody yet\n");
    expect(text).not.toMatch(/^## /m);
  });

  it("renders the text of others as text: no link, image, HTML, mention, and nothing else either", () => {
    const plain = read(renderAlertReport(factsOf("acme")));

    fc.assert(
      fc.property(hostile, (text) => {
        const markdown = renderAlertReport(factsOf(text));
        const { tokens, spans, html } = read(markdown);
        const isEmpty = spans.length < plain.spans.length;

        expect(markdown.split("\n")).toHaveLength(renderAlertReport(factsOf("acme")).split("\n").length);
        expect(
          tokens.filter((type) =>
            ["link", "image", "html", "del", "em", "strong", "code", "hr", "table"].includes(type),
          ),
        ).toEqual([]);
        expect(html).not.toMatch(/<(?!\/?(?:h[12]|ul|li|p|code)>)/);
        expect(markdown).not.toMatch(/@|[a-z]:\/\/(?!\S*\[\.\])\S*\w\.\w/i);
        // Where nothing is seen of it there is no span; else the page is what it is with a plain name.
        if (!isEmpty) expect(outsideCode(html)).toBe(outsideCode(plain.html));
        // oxlint-disable-next-line no-control-regex -- they are what must not be there
        expect(markdown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
      }),
      { numRuns: 80 },
    );
  });

  it("keeps the last of what is long", () => {
    const facts = factsOf("acme");
    const [comment] = facts.detail.comments;
    if (comment === undefined) throw new Error("no comment");
    const comments = Array.from({ length: 130 }, (_, index) => ({ ...comment, text: `comment ${index}` }));

    const text = renderAlertReport({ ...facts, detail: { ...facts.detail, comments } });

    expect(text).toContain("- 30 earlier ones are on the alert's page\n");
    expect(text).not.toContain("`comment 29`");
    expect(text).toContain("`comment 30`");
  });
});
