const expectedCount = 25.142857142857142;

/** The API's result about an organization that is ok, with every count and threshold; `run` moves the counts a little. */
export function okResult(slug: string, run: number, atMs: number) {
  const currentCount = 20 + (run % 13);
  return {
    id: "dead-asset-spike",
    title: "Spike in recently dead assets",
    category: "assets",
    generatedAt: new Date(atMs).toISOString(),
    scope: { slug },
    ok: true,
    severity: "ok",
    observed: { currentCount, baselineCount: 176, expectedCount, ratio: currentCount / expectedCount },
    threshold: {
      windowHours: 24,
      baselineDays: 7,
      warnMultiplier: 2,
      failMultiplier: 4,
      minSpikeCount: 10,
      warnAbove: 2 * expectedCount,
      failAbove: 4 * expectedCount,
    },
    findings: [],
    suggestedAction: null,
    appUrl: null,
  } as const;
}
