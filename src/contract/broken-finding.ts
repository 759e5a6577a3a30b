import { breakAddress, breakAddresses } from "../base/broken-address.ts";
import type { Finding } from "./healthcheck.ts";

/**
 * Returns what a finding names and says, with every address broken that is not of `own` origins (CONTRACT 12). What a sentinel's
 * finding names is an asset, also without a scheme.
 */
export function brokenFinding(
  { kind, ref, message }: Pick<Finding, "kind" | "ref" | "message">,
  own: readonly string[] = [],
): { readonly ref: string | null; readonly message: string } {
  const isAsset = kind === "sentinel.asset" && ref !== null && ref !== "";
  const named = isAsset ? message.replaceAll(ref, () => breakAddress(ref)) : message;
  const subject = ref === null ? null : isAsset ? breakAddress(ref) : breakAddresses(ref, own);
  return { ref: subject, message: breakAddresses(named, own) };
}
