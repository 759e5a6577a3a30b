/** The kind of a finding that names a value which carries the spike (evidence/enrichment.ts words it). */
export const attributeKind = "dead-asset-spike.attribute";

/**
 * Reads the value and its shares (0–1) of a finding that flatline itself worded, as in `87 % reason=tls_handshake, usually 4 %`,
 * rounded as they are there; null for any other, and where there was nothing to compare with.
 */
export function readCarrier(finding: {
  readonly kind: string;
  readonly ref: string | null;
  readonly message: string;
}): { readonly key: string; readonly value: string; readonly share: number; readonly usualShare: number } | null {
  const { kind, ref, message } = finding;
  const at = ref?.indexOf("=") ?? -1;
  if (kind !== attributeKind || ref === null || at < 1) return null;
  const [now, usual] = [/^([<>]?\d+) % /.exec(message)?.[1], / usually ([<>]?\d+) %$/.exec(message)?.[1]];
  if (now === undefined || usual === undefined) return null;
  return { key: ref.slice(0, at), value: ref.slice(at + 1), share: shareOf(now), usualShare: shareOf(usual) };
}

function shareOf(percent: string): number {
  if (percent === "<1") return 0.005;
  return percent === ">99" ? 0.995 : Number(percent) / 100;
}
