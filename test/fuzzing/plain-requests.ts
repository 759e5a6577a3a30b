import { instantOf, readPlainBody } from "./plain-events.ts";
import { isObject, parsed } from "./plain-json.ts";

/** A request by its meaning. */
export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  /** Whether its headers are those of the sample: anything else may be refused for another reason. */
  readonly isPlain: boolean;
  readonly body: string;
}

const longestBody = 1_024 * 1_024;
const own = "ads-hosts";
const labels = [
  "Brand Impersonation",
  "Employee Impersonation",
  "Fake Employee",
  "Targeting Org Users",
  "General Phishing",
  "C2 Server",
  "False Positive",
  "Organization Member Impersonation",
  "Targeting Organization",
];
const rejectReasons = ["irrelevant", "no_malicious_activity", "insufficient_evidence", "not_targeting_org", "decayed"];
const watchlistReasons = ["DEAD", "PARKING", "NOT_ENOUGH_EVIDENCE", "OTHER"];
const choices: Readonly<Record<string, readonly string[]>> = {
  onlyRejected: ["true", "false"],
  needsCustomerReview: ["true", "false"],
  status: ["TODO", "IN_PROGRESS", "CLOSED"],
  decision: ["APPROVE", "REJECT", "SKIP", "ESCALATE"],
  source: ["APP", "API", "CANARY_TOKEN", "AUTO_DETECTION", "ASSET_MANAGEMENT"],
  reportedBy: ["human", "automation"],
  reviewedBy: ["human", "automation"],
};

/** Returns the statuses that a plain reading of the contract allows; null where it has no opinion. */
export function allowedStatuses(request: PlainRequest): readonly number[] | null {
  const { method, path, isPlain, body } = request;
  if (!isPlain) return null;
  const isLong = Buffer.byteLength(body) > longestBody;
  switch (`${method} ${path}`) {
    case "POST /api/v1/events":
      return readPlainBody(Buffer.from(body)) === null ? [400] : [200];
    case "POST /api/v2/healthchecks/assets/dead-asset-spike":
      return isLong ? [413] : spikeStatuses(parsed(body));
    case "POST /api/v2/organization/proposals/301/review":
      return isLong ? [413] : reviewStatuses(parsed(body));
    case "GET /api/v2/organization/reports":
      return reportStatuses(request.query);
    case "POST /api/v1/silences":
      return isLong ? [413] : isSilence(parsed(body)) ? null : [400];
    default:
      return null;
  }
}

function spikeStatuses(body: unknown): readonly number[] {
  if (!isObject(body)) return [400];
  const { slug, warnMultiplier = 2, failMultiplier = 4 } = body;
  const { windowHours = 24, baselineDays = 7, minSpikeCount = 10 } = body;
  const areCounts = [windowHours, baselineDays, minSpikeCount].every(isCount);
  const areMultipliers = [warnMultiplier, failMultiplier].every((one) => Number.isFinite(one) && Number(one) > 0);
  if (typeof slug !== "string" || slug === "" || !areCounts || !areMultipliers) return [400];
  return slug === own ? [200] : [403];
}

/** The order of the checks is the contract's; what depends on the store is one of several. */
function reviewStatuses(body: unknown): readonly number[] {
  if (!isObject(body)) return [400];
  const { assetId, decision, slug, note, label, brandId, rejectReason, watchlistReason } = body;
  const isNote = note === undefined || (typeof note === "string" && Array.from(note).length <= 1_000);
  if (!isCount(assetId) || !isNote || (slug !== undefined && (typeof slug !== "string" || slug === ""))) return [400];
  const needsBrand = label === "Brand Impersonation" || label === "Employee Impersonation";
  const isBrand = isCount(brandId) || (brandId === undefined && !needsBrand);
  const isComplete =
    (decision === "APPROVE" && isOneOf(labels, label) && isBrand) ||
    (decision === "REJECT" && isOneOf(rejectReasons, rejectReason)) ||
    (decision === "WATCHLIST" &&
      isOneOf(watchlistReasons, watchlistReason) &&
      (watchlistReason !== "OTHER" || (typeof note === "string" && note.trim() !== "")));
  if (!isComplete) return [400];
  if (slug !== undefined && slug !== own) return [403];
  return [200, 403, 404, 409, 429, ...(decision === "REJECT" ? [] : [400])];
}

function reportStatuses(query: PlainRequest["query"]): readonly number[] | null {
  const names = query.map(([name]) => name);
  if (new Set(names).size < names.length) return [400];
  const isGood = query.every(([name, value]) => {
    const known = choices[name];
    if (Object.hasOwn(choices, name) && known !== undefined) return known.includes(value);
    if (name === "limit") return /^(?:[1-9]\d?|100)$/.test(value);
    if (name === "startDate" || name === "endDate")
      return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) && isRealDate(value);
    if (name === "country") return /^[a-z]{2}$/i.test(value);
    if (name === "assetType") return value === "URL";
    return name === "slug" && value !== "";
  });
  const of = (name: string): string | undefined => query.find(([one]) => one === name)?.[1];
  if (!isGood) return [400];
  if ((of("startDate") ?? "") > (of("endDate") ?? "9")) return [400];
  return (of("slug") ?? own) === own ? [200] : [401];
}

function isRealDate(text: string): boolean {
  const atMs = Date.parse(text);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString() === text;
}

/** What a silence needs at least. */
function isSilence(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { slug, endsAt, startsAt, comment } = body;
  const endMs = instantOf(endsAt);
  const startMs = startsAt === undefined ? 0 : instantOf(startsAt);
  return (
    typeof slug === "string" &&
    slug !== "" &&
    slug.length <= 200 &&
    typeof endsAt === "string" &&
    endMs !== null &&
    startMs !== null &&
    startMs < endMs &&
    typeof comment === "string" &&
    comment.trim() !== "" &&
    comment.length <= 1_000
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isOneOf(names: readonly string[], value: unknown): boolean {
  return names.some((name) => name === value);
}
