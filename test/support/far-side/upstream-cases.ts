import type { CheckErrorReason } from "../../../src/contract/report.ts";
import { sampleHealthcheck } from "./api-samples.ts";
import type { ReceivedRequest, ScriptedStep } from "./scripted-upstream.ts";

/** What an upstream does for one organization, and what must be known of it afterwards. */
export interface UpstreamCase {
  readonly slug: string;
  /** Answers the organization's n-th request, n from 0. */
  readonly answer: (number: number, request: ReceivedRequest) => ScriptedStep;
  readonly expected:
    | { readonly error: CheckErrorReason }
    | {
        readonly severity: "ok" | "warn" | "fail";
        /** Keys of the observed series, with their values. */
        readonly observed: Readonly<Record<string, number>>;
      };
}

const counts = { currentCount: 3, baselineCount: 21, expectedCount: 3, ratio: 1 };
const endlessLine = '{"id": "dead-asset-spike", "title": "';

function valid(slug: string, more: Readonly<Record<string, unknown>> = {}): ScriptedStep {
  return { kind: "answer", body: sampleHealthcheck({ scope: { slug }, ...more }) };
}

function status(code: number, headers: Readonly<Record<string, string>> = {}): ScriptedStep {
  return { kind: "answer", status: code, headers, body: { message: "no", code: "NO" } };
}

function bad(slug: string, error: CheckErrorReason, step: ScriptedStep): UpstreamCase {
  return { slug, answer: () => step, expected: { error } };
}

/** An answer that is valid but for some fields. */
function misshapen(slug: string, more: Readonly<Record<string, unknown>>): UpstreamCase {
  return bad(slug, "invalid_response", valid(slug, more));
}

function odd(
  slug: string,
  more: Readonly<Record<string, unknown>>,
  expected: { readonly severity?: "ok" | "warn" | "fail"; readonly observed?: Readonly<Record<string, number>> } = {},
): UpstreamCase {
  return { slug, answer: () => valid(slug, more), expected: { severity: "ok", observed: counts, ...expected } };
}

/** One that fails at first and then answers. */
function recovering(slug: string, first: ScriptedStep): UpstreamCase {
  const answer = (number: number): ScriptedStep => (number % 2 === 0 ? first : valid(slug));
  return { slug, answer, expected: { severity: "ok", observed: counts } };
}

function numbered(count: number): Record<string, number> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`key-${String(index).padStart(5, "0")}`, index]),
  );
}

const manyKeys = numbered(10_000);
const oddKeys = { 'say "no"': 1, "line\nfeed": 2, "back\\slash": 3, "": 4, "{}": 5, "ключ 🔑": 6, __proto__x: 7 };

/** Everything that an upstream may do to a daemon; needs `timeout: 3s` and `retries: 1`. */
export const upstreamCases: readonly UpstreamCase[] = [
  // No answer, or none in time.
  bad("never-answers", "timeout", { kind: "hang" }),
  bad("stops-in-the-body", "timeout", { kind: "hang", body: endlessLine }),
  bad("resets", "network", { kind: "reset" }),
  bad("closes", "network", { kind: "close" }),
  bad("speaks-no-http", "network", { kind: "raw", bytes: "HELO upstream\r\n\r\n" }),
  bad("truncates", "network", { kind: "truncated", body: sampleHealthcheck({ title: "t".repeat(50_000) }) }),
  // Refusals.
  bad("bad-request", "bad_request", status(400)),
  bad("unauthorized", "unauthorized", status(401)),
  bad("forbidden", "forbidden", status(403)),
  bad("not-found", "bad_request", status(404)),
  bad("teapot", "bad_request", status(418)),
  bad("conflict", "bad_request", status(409)),
  bad("rate-limited", "rate_limited", status(429)),
  bad("rate-limited-for-an-hour", "rate_limited", status(429, { "retry-after": "3600" })),
  bad("rate-limited-until-a-date", "rate_limited", status(429, { "retry-after": "Fri, 01 Jan 2100 00:00:00 GMT" })),
  bad("rate-limited-until-nonsense", "rate_limited", status(429, { "retry-after": "soon" })),
  bad("server-error", "server_error", status(500)),
  bad("bad-gateway", "server_error", { kind: "answer", status: 502, body: "<html>bad gateway</html>" }),
  bad("redirects", "invalid_response", status(302, { location: "http://127.0.0.1:1/" })),
  // Bodies without an end or without sense.
  bad("endless", "invalid_response", { kind: "endless" }),
  bad("endless-error", "server_error", { kind: "endless", status: 500 }),
  bad("no-json", "invalid_response", { kind: "answer", body: "<html>maintenance</html>" }),
  bad("half-json", "invalid_response", { kind: "answer", body: '{"id": "dead-' }),
  bad("empty-body", "invalid_response", { kind: "answer", body: "" }),
  bad("deep-json", "invalid_response", { kind: "answer", body: "[".repeat(100_000) }),
  bad("five-megabytes", "invalid_response", valid("five-megabytes", { title: "t".repeat(5 * 1_024 ** 2) })),
  // Wrong shapes.
  bad("null-body", "invalid_response", { kind: "answer", body: "null" }),
  bad("array-body", "invalid_response", { kind: "answer", body: "[]" }),
  bad("empty-object", "invalid_response", { kind: "answer", body: "{}" }),
  bad("no-content", "invalid_response", { kind: "answer", status: 204 }),
  misshapen("unknown-severity", { severity: "critical" }),
  misshapen("severity-of-ours", { severity: "unknown" }),
  misshapen("ok-as-text", { ok: "true" }),
  misshapen("unknown-category", { category: "weather" }),
  misshapen("observed-as-list", { observed: [1, 2, 3] }),
  misshapen("observed-of-objects", { observed: { currentCount: { value: 3 } } }),
  misshapen("threshold-missing", { threshold: undefined }),
  misshapen("finding-without-message", { findings: [{ kind: "a", ref: "b", severity: "warn" }] }),
  misshapen("of-another", { scope: { slug: "somebody-else" } }),
  // Valid, however odd.
  odd("unknown-id", { id: "something-new", title: "Nobody knows it" }),
  odd("disagreeing-ok", { ok: true, severity: "fail" }, { severity: "fail" }),
  odd("disagreeing-not-ok", { ok: false, severity: "ok" }),
  odd("of-nobody", { scope: { slug: null } }),
  odd("more-fields", { region: "eu", scope: { slug: "more-fields", id: 7 }, extra: { deep: [1] } }),
  odd(
    "foreign-keys",
    { observed: { deaths: 5, isHot: true, note: "x", missing: null } },
    { observed: { deaths: 5, isHot: 1 } },
  ),
  odd("of-another-kind", { category: "detection" }),
  odd(
    "finding-about-nothing",
    { severity: "fail", findings: [{ kind: "k", ref: null, severity: "fail", message: "m" }] },
    { severity: "fail" },
  ),
  odd("no-keys", { observed: {}, threshold: {} }, { observed: {} }),
  odd("ten-thousand-keys", { observed: manyKeys }, { observed: numbered(32) }),
  odd("odd-keys", { observed: oddKeys }, { observed: oddKeys }),
  odd(
    "names-of-objects",
    { observed: { constructor: 1, toString: 2, hasOwnProperty: 3 } },
    {
      observed: { constructor: 1, toString: 2, hasOwnProperty: 3 },
    },
  ),
  odd(
    "huge-numbers",
    { observed: { a: 1e308, b: -1e-308, c: 2 ** 53 } },
    { observed: { a: 1e308, b: -1e-308, c: 2 ** 53 } },
  ),
  odd(
    "odd-texts",
    {
      severity: "warn",
      title: 'a "title"\nof\ttwo\u0000 lines \\',
      suggestedAction: 'a\nb"c\\d\u2028e',
      findings: [{ kind: "k\n", ref: 'r"', severity: "warn", message: "m\r\n</script>" }],
    },
    { severity: "warn" },
  ),
  odd(
    "ten-thousand-findings",
    {
      severity: "warn",
      findings: Array.from({ length: 10_000 }, (_, index) => ({
        kind: "k",
        ref: `${index}`,
        severity: "warn",
        message: "m",
      })),
    },
    { severity: "warn" },
  ),
  // What another attempt mends.
  recovering("flaky", status(503)),
  recovering("resets-once", { kind: "reset" }),
  recovering("asks-to-wait", status(429, { "retry-after": "1" })),
  recovering("late-once", { kind: "hang" }),
];
