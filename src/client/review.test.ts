import { describe, expect, it } from "vitest";

import { errorOf, clientBench } from "../../test/support/client-bench.ts";
import { startScriptedUpstream, type ScriptedStep } from "../../test/support/far-side/scripted-upstream.ts";
import type { ReviewRequest } from "../contract/review.ts";

const bench = clientBench();
const request: ReviewRequest = {
  proposalId: 301,
  assetId: 501,
  decision: "REJECT",
  rejectReason: "decayed",
  slug: "acme",
};
const outcome = { proposal: { id: 301 }, review: { id: 1, decision: "REJECT" }, watchlisted: false, more: 1 };

describe("a review", () => {
  it("sends the body without the path's id and passes the answer through", async () => {
    bench.upstream.script({ kind: "answer", body: outcome });

    const answered = await bench.client.reviewProposal(request);

    expect(answered).toEqual(outcome);
    expect(bench.upstream.requests[0]).toMatchObject({
      method: "POST",
      path: "/api/v2/organization/proposals/301/review",
    });
    expect(JSON.parse(bench.upstream.requests[0]?.body ?? "")).toEqual({
      assetId: 501,
      decision: "REJECT",
      rejectReason: "decayed",
      slug: "acme",
    });
    expect(bench.events).toEqual([{ operation: "review_proposal", code: "200" }]);
  });

  const ambiguous: readonly { rule: string; step: ScriptedStep }[] = [
    { rule: "a reset after the request", step: { kind: "reset" } },
    { rule: "a close after the request", step: { kind: "close" } },
    { rule: "a truncated answer", step: { kind: "truncated", body: outcome } },
    { rule: "an answer that is no HTTP", step: { kind: "raw", bytes: "?\r\n\r\n" } },
    { rule: "an endless answer", step: { kind: "endless" } },
    { rule: "a 200 that cannot be read", step: { kind: "answer", body: "<html>" } },
    { rule: "a 200 of another shape", step: { kind: "answer", body: { done: true } } },
    { rule: "502 of a gateway", step: { kind: "answer", status: 502 } },
    { rule: "504 of a gateway", step: { kind: "answer", status: 504 } },
  ];

  it.each(ambiguous)("is sent once and its outcome unknown after $rule", async ({ step }) => {
    bench.upstream.script(step);

    const error = await errorOf(bench.client.reviewProposal(request));

    expect(error.code).toBe("api_outcome_unknown");
    expect(error.message).toContain("read the proposal again");
    expect(bench.upstream.requests).toHaveLength(1);
  });

  it("has an unknown outcome after a timeout, and when the caller stops", async () => {
    const stop = new AbortController();
    bench.upstream.script({ kind: "hang" }, { kind: "hang" });
    const late = errorOf(bench.client.reviewProposal(request));
    const stopped = errorOf(bench.client.reviewProposal(request, { signal: stop.signal }));
    await bench.upstream.received(2);

    stop.abort();
    const stoppedCode = (await stopped).code;
    await bench.clock.advance(30_000);

    expect(stoppedCode).toBe("api_outcome_unknown");
    expect((await late).code).toBe("api_outcome_unknown");
  });

  it("says that nothing was sent when the connection is refused", async () => {
    const gone = await startScriptedUpstream();
    await gone.close();

    const error = await errorOf(bench.create({ baseUrl: gone.baseUrl }).reviewProposal(request));

    expect(error.code).toBe("api_network");
    expect(error.message).toContain("nothing was sent");
  });

  it.each([
    { status: 400, code: "api_bad_request", advice: "the review was not made" },
    { status: 401, code: "api_unauthorized", advice: "API key" },
    { status: 403, code: "api_forbidden", advice: "a person to decide" },
    { status: 404, code: "api_not_found", advice: "another organization's" },
    { status: 409, code: "api_conflict", advice: "do not send it again" },
    { status: 429, code: "api_rate_limited", advice: "ten in 24 hours" },
    { status: 500, code: "api_server_error", advice: "read the proposal again" },
    { status: 307, code: "api_invalid_response", advice: "redirects are not followed" },
  ])("is sent once and answered with $code after $status", async ({ status, code, advice }) => {
    const body = { message: "because", code: "X", issues: [{ message: "i" }] };
    bench.upstream.script({ kind: "answer", status, body, headers: { location: bench.upstream.origin } });

    const error = await errorOf(bench.client.reviewProposal(request));

    expect(error).toMatchObject({ code, issues: ["i"] });
    expect(error.message).toContain('"because"');
    expect(error.message).toContain(advice);
    expect(bench.upstream.requests).toHaveLength(1);
  });

  it("that is over budget tells how long, and does not pause other requests of the key", async () => {
    bench.upstream.script(
      { kind: "answer", status: 429, headers: { "retry-after": "3600" } },
      { kind: "answer", body: { reports: [] } },
    );

    const error = await errorOf(bench.client.reviewProposal(request));
    const page = await bench.client.listReports({});

    expect(error.retryAfterMs).toBe(3_600_000);
    expect(page.reports).toEqual([]);
  });
});
