import { expect, it } from "vitest";

import { carrierText } from "../evidence/attribution.ts";
import { attributeKind, readCarrier } from "./carrier-finding.ts";

it.each([
  [0.872, 0.04, 0.87, 0.04],
  [0.999, 0.003, 0.995, 0.005],
  [1, 0, 1, 0],
])("reads the shares %d and %d that flatline itself worded", (share, usually, now, usual) => {
  const carrier = { attribute: "reason", value: "a=b, usually 9 %", share, baselineShare: usually };
  const message = carrierText({ ...carrier, liftLower: 0, liftUpper: 1 });

  expect(readCarrier({ kind: attributeKind, ref: "reason=a=b, usually 9 %", message })).toEqual({
    key: "reason",
    value: "a=b, usually 9 %",
    share: now,
    usualShare: usual,
  });
});

it.each([
  ["another kind", "dead-asset-spike", "reason=x", "87 % reason=x, usually 4 %"],
  ["no value", attributeKind, "reason", "87 % reason, usually 4 %"],
  ["nothing to compare with", attributeKind, "reason=x", "87 % reason=x, nothing to compare with"],
  ["another service's words", attributeKind, "reason=x", "mostly x"],
])("reads nothing of %s", (_what, kind, ref, message) => {
  expect(readCarrier({ kind, ref, message })).toBeNull();
});
