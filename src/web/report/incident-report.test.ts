import fc from "fast-check";
import { marked, type Token } from "marked";
import { describe, expect, it } from "vitest";

import { quietSettings } from "../../../test/support/quiet-settings.ts";
import { firingAlert, openIncident } from "../../../test/support/firing-alert.ts";
import { secondMs } from "../../base/time.ts";
import { headlineFacts } from "../../alerting/headline-facts.ts";
import { summarizeIncident } from "../../alerting/incident-summary.ts";
import { forReader, type IncidentDetail } from "../read/incidents.ts";
import { renderIncidentReport } from "./incident-report.ts";

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

const cost = { deaths: 2, knownCount: 2, revived: 1, stillDead: 1, medianClosedSeconds: 60, closedSeconds: 60 };

const reportOf = (facts: IncidentDetail): string => renderIncidentReport(facts, cost);

/** An incident whose foreign text is all `text`. */
function factsOf(text: string): IncidentDetail {
  const said = { comment: text, by: text, note: text, atMs };
  const secondOpinion = {
    asked: 20,
    alive: 14,
    gone: 5,
    verdict: "refuted",
    controls: { alive: { asked: 20, alive: 19 }, dead: { asked: 20, alive: 1 } },
    atMs,
    look: 1,
  } as const;
  const incident = openIncident(atMs, { secondOpinion });
  const judged = firingAlert(text, atMs, { slug: text, judgement: { ...said, verdict: "checker" } });
  const peak = { severity: "fail", currentCount: 5_119, atMs } as const;
  const members = [{ ...judged, peak, isSilenced: true, holdsGate: true, target: null }];
  const summary = {
    ...summarizeIncident(incident, members, { externalUrl: null }),
    deaths: { count: 5_119, expected: 700 },
    carriers: [{ key: text, value: text, share: 0.92, usualShare: 0 }],
  };
  const settings = { ...quietSettings, slugs: ["acme", "globex"] };
  return {
    incident,
    summary,
    members,
    headline: headlineFacts({ incident, summary, members }, { settings, nowMs: atMs, isGateUsed: true }),
    heldSince: new Map(),
    canLook: true,
    isLooking: false,
    escalation: { receiver: text, atMs },
    notified: [{ receiver: text, atMs }],
    waiting: [],
    markers: [{ id: "1", slug: text, text, createdBy: text, note: text, atMs, createdAtMs: atMs }],
    answers: [{ slug: text, asset: text, assetType: text, role: "sample", answer: "answers", detail: text }],
    comments: [{ incident: 1, alertIds: [text], slug: text, atMs, by: text, note: text, text, act: null }],
    nowMs: atMs,
  };
}

/** Returns the renderer's tokens in order, and the content of each code span. */
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

describe("the report of an incident", () => {
  it("names who has released or judged what was on hold, and a deployment before counts of a platform", () => {
    const facts = factsOf("acme");
    const comments = facts.comments.map((one) => ({ ...one, by: "ops", note: "dana", act: "release" as const }));
    const headline = { ...facts.headline, judged: { checker: 0, real: 1, expected: 1 }, judges: ["kim", "lee"] };
    const summary = { ...facts.summary, likelyCause: "unclear" as const };

    const text = reportOf({ ...facts, comments, headline, summary });

    expect(text).toContain("`dana` (`ops`) has released them: «`acme`». `kim` and `lee` have judged it.\n");
    expect(text).toContain(
      "Not known. The platform counts; single deaths are not known here. It began right after the deployment «`acme`».",
    );
  });

  it("says whose deaths nobody should act on, where the checker was wrong for some only", () => {
    const facts = factsOf("acme");
    const others = facts.members.map(({ judgement: _judgement, ...one }) => ({ ...one, slug: "globex" }));

    const text = reportOf({ ...facts, members: [...facts.members, ...others] });

    expect(text).toContain("Do not act on the deaths of `acme` from 12:00 to 12:00: the checker was wrong.");
  });

  it("says what happened, of whom, and what people said", () => {
    const facts = factsOf("acme");
    const text = reportOf({
      ...facts,
      summary: { ...facts.summary, url: "https://flatline.example/i/41" },
    });

    expect(text).toMatchInlineSnapshot(`
      "# Incident 41: \`acme\`: 5,119 deaths in 24 h.

      The checker was wrong, says \`acme\`: «\`acme\`». Takedowns of \`acme\` are on hold until its alerts end.

      - Page: https://flatline.example/i/41
      - In all: 5,119 deaths, 700 expected (7.3×)
      - Likely cause: The liveness checker. 92 % of these deaths share \`acme\`=\`acme\`, usually none. It began right after the deployment «\`acme\`».
      - Second opinion: 14 of 20 still answer. Of 20 known to be alive 19 do, of 20 long dead 1. 12:00.
      - Who has acknowledged it? Nobody. It is judged: nobody is reminded any more.
      - What was it? The checker was wrong. \`acme\`, 12:00: «\`acme\`».
      - May the deaths be acted on? Yes: takedowns are allowed again. \`acme\` has judged it. Do not act on the deaths from 12:00 to 12:00: the checker was wrong.

      ## What these deaths share

      - 92 % of these deaths share \`acme\`=\`acme\`, usually none

      ## Organizations

      - fail, silenced: \`acme\`, dead-asset-spike, judged checker by \`acme\`

      ## What it cost

      - Deaths: 2
      - Found alive: 1, closed for 1 min in the median
      - Not looked at since: 1

      ## What happened

      - 2026-01-15T12:00:00Z: Began
      - 2026-01-15T12:00:00Z: Detected as fail
      - 2026-01-15T12:00:00Z: Deployment «\`acme\`»; \`acme\`, set by \`acme\`
      - 2026-01-15T12:00:00Z: Notified \`acme\`
      - 2026-01-15T12:00:00Z: Judged checker by \`acme\`; «\`acme\`»
      - 2026-01-15T12:00:00Z: Comment by \`acme\` on \`acme\`; «\`acme\`»

      ## What the verifier said

      - dead asset, answers: \`acme\`, \`acme\`

      As of 2026-01-15T12:00:00Z. Times are UTC; addresses are broken on purpose.
      "
    `);
  });

  it.each([
    [40, "within a minute"],
    [100, "after 1\u00a0min"],
  ])("says no seconds of what is known to the minute: detected %i s later", (seconds, text) => {
    const facts = factsOf("acme");
    const incident = { ...facts.incident, firstFiredAtMs: atMs + seconds * secondMs };

    expect(reportOf({ ...facts, incident })).toContain(`Detected as fail, ${text}\n`);
  });

  it("does not wait for a judgement where two verdicts cover all", () => {
    const facts = factsOf("acme");
    const judged = { checker: 1, real: 1, expected: 0 };
    const headline = { ...facts.headline, judgement: null, judged, judgeable: 2, unjudged: 0 };

    expect(reportOf({ ...facts, headline })).toContain("Judged in parts");
  });

  it("gives no reason of deaths where none are counted", () => {
    const facts = factsOf("acme");
    const incident = { ...facts.incident, family: "review-queue" };

    expect(reportOf({ ...facts, incident })).toContain("It ends when its checks are ok again.");
  });

  it("breaks the names of assets, bare hosts too", () => {
    const [answer] = factsOf("acme").answers;
    const answers = answer === undefined ? [] : [{ ...answer, asset: "login.evil.example" }];

    expect(reportOf({ ...factsOf("acme"), answers })).toContain("answers: `login[.]evil[.]example`");
  });

  it("names no author, comment, receiver or asset to who may not read them", () => {
    const all = factsOf("hush");
    const { acknowledgement, judgement, ...member } = all.members[0] as (typeof all.members)[number];
    const facts: IncidentDetail = {
      ...factsOf("acme"),
      comments: all.comments,
      answers: all.answers,
      notified: all.notified,
      escalation: all.escalation,
      members: [{ ...member, slug: "acme", acknowledgement, ...(judgement && { judgement }) }],
      headline: { ...factsOf("acme").headline, judgement: all.headline.judgement, judges: all.headline.judges },
    };

    expect(reportOf(facts).split("hush").length).toBeGreaterThan(12);
    const text = reportOf(forReader(facts, false));
    expect(text).not.toContain("hush");
    expect(text).toContain("Notified `a receiver`\n");
    expect(text).toContain(", judged checker\n");
  });

  it("renders the text of others as text: no link, image, HTML, mention, and nothing else either", () => {
    const plain = read(reportOf(factsOf("acme")));

    fc.assert(
      fc.property(hostile, (text) => {
        const markdown = reportOf(factsOf(text));
        const { tokens, spans, html } = read(markdown);
        const isEmpty = spans.length < plain.spans.length;

        expect(markdown.split("\n")).toHaveLength(reportOf(factsOf("acme")).split("\n").length);
        expect(
          tokens.filter((type) =>
            ["link", "image", "html", "del", "em", "strong", "code", "hr", "table"].includes(type),
          ),
        ).toEqual([]);
        expect(html).not.toMatch(/<(?!\/?(?:h[12]|ul|li|p|code)>)/);
        expect(markdown).not.toMatch(/@|[a-z]:\/\/(?!\S*\[\.\])\S*\w\.\w/i);
        // An invisible text has no span; any other leaves the page as a plain name does.
        if (!isEmpty) expect(outsideCode(html)).toBe(outsideCode(plain.html));
        // oxlint-disable-next-line no-control-regex -- they are what must not be there
        expect(markdown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
      }),
      { numRuns: 80 },
    );
  });

  it("keeps the last of what is long", () => {
    const facts = factsOf("acme");
    const [comment] = facts.comments;
    if (comment === undefined) throw new Error("no comment");
    const comments = Array.from({ length: 130 }, (_, index) => {
      return { ...comment, text: `comment ${index}`, atMs: atMs + 1 + index };
    });

    const text = reportOf({ ...facts, comments });

    expect(text).toMatch(/^- \d+ more are on the incident's page$/m);
    expect(text).not.toContain("`comment 29`");
    expect(text).toContain("`comment 30`");
  });
});
