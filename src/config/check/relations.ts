import { checkNames } from "../../contract/report.ts";
import { checkBaselines, checkEventRetention } from "./baseline.ts";
import type { ConfigDocument } from "../document/document.ts";
import type { Problem, YamlPath } from "../document/problems.ts";
import { parseInstant } from "../schema/values.ts";
import { suggest } from "../../base/suggestions.ts";
import { checkTableSource } from "./table-source.ts";
import { problemAt, valueAt } from "./validation.ts";

interface Place {
  readonly document: ConfigDocument;
  readonly path: YamlPath;
  readonly value: unknown;
}

/**
 * What spans several keys of the configuration: duplicates, names of receivers, what goes together and what does not. Looks
 * at the files as they are, valid or not, so that all problems are told in one go; skips what the schema has refused.
 */
export function checkRelations(main: ConfigDocument, included: readonly ConfigDocument[]): Problem[] {
  const organizations = [main, ...included].flatMap((document) => items(document, ["organizations"]));
  const receivers = items(main, ["receivers"]);
  return [
    ...checkPresence(main),
    ...checkDuplicates(organizations.map(slugPlace), "organization"),
    ...checkDuplicates(
      receivers.map((receiver) => at(receiver, "name")),
      "receiver",
    ),
    ...checkReceiverNames(main, organizations, receivers),
    ...checkApiKeys(main, organizations),
    ...checkLabels(main, organizations, receivers),
    ...checkEventRetention(main, organizations),
    ...checkBaselines(main, organizations),
    ...checkTableSource(main, organizations),
    ...checkEventChecks(main, organizations),
    ...checkStorage({ document: main, path: ["storage"], value: valueAt(main.value, ["storage"]) }),
    ...items(main, ["silences"]).flatMap(checkSilence),
    ...receivers.flatMap(checkReceiver),
  ];
}

function checkPresence(main: ConfigDocument): Problem[] {
  const isGiven = (key: string): boolean => valueAt(main.value, [key]) !== undefined;
  if (!isObject(main.value) || isGiven("organizations") || isGiven("include")) return [];
  return [
    problemAt(main, ["organizations"], "is required: a list of slugs or objects, or include for files that have one"),
  ];
}

function checkDuplicates(places: readonly Place[], noun: string): Problem[] {
  const seen = new Map<string, Place>();
  const problems: Problem[] = [];
  for (const place of places) {
    if (typeof place.value !== "string") continue;
    const first = seen.get(place.value);
    if (first === undefined) {
      seen.set(place.value, place);
      continue;
    }
    const { line } = first.document.positionOf(first.path);
    const where = `${first.document.file}:${line}`;
    problems.push(report(place, `the ${noun} ${JSON.stringify(place.value)} is already at ${where}`));
  }
  return problems;
}

function checkReceiverNames(
  main: ConfigDocument,
  organizations: readonly Place[],
  receivers: readonly Place[],
): Problem[] {
  const names = receivers.map((receiver) => at(receiver, "name").value).filter((name) => typeof name === "string");
  const lists = [items(main, ["defaults", "receivers"])];
  for (const { document, path } of organizations) lists.push(items(document, [...path, "receivers"]));
  return lists.flatMap((list) => [
    ...list.flatMap((place) => {
      if (typeof place.value !== "string" || names.includes(place.value)) return [];
      return [report(place, `no receiver is named ${JSON.stringify(place.value)}${suggest(place.value, names)}`)];
    }),
    ...checkDuplicates(list, "receiver"),
  ]);
}

function checkApiKeys(main: ConfigDocument, organizations: readonly Place[]): Problem[] {
  const source = valueAt(main.value, ["source"]);
  if (!isObject(source) || (source["type"] !== undefined && source["type"] !== "remote")) return [];
  if (hasSecret(source, "apiKey")) return [];
  return organizations
    .filter(({ value }) => typeof value === "string" || (isObject(value) && !hasSecret(value, "apiKey")))
    .map((organization) => report(organization, "needs an apiKey or apiKeyFile, as source has none"));
}

const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const ownLabels = ["alertname", "check", "slug", "severity"];

function checkLabels(main: ConfigDocument, organizations: readonly Place[], receivers: readonly Place[]): Problem[] {
  const hasAlertmanager = receivers.some((receiver) => at(receiver, "type").value === "alertmanager");
  const holders: Place[] = [
    { document: main, path: ["defaults"], value: valueAt(main.value, ["defaults"]) },
    ...organizations,
  ];
  return holders.flatMap((holder) => {
    const labels = at(holder, "labels");
    if (!isObject(labels.value)) return [];
    return Object.keys(labels.value).flatMap((name) => {
      const place = at(labels, name);
      if (name === "") return [report(place, "a label needs a name", "key")];
      if (!hasAlertmanager) return [];
      if (ownLabels.includes(name))
        return [report(place, "this label is flatline's own in what an alertmanager receiver sends", "key")];
      if (labelName.test(name) && !name.startsWith("__")) return [];
      return [report(place, "is no valid label name for an alertmanager receiver: letters, digits and _ only", "key")];
    });
  });
}

/** A file, or a PostgreSQL. */
function checkStorage(storage: Place): Problem[] {
  if (!isObject(storage.value)) return [];
  const isPostgres = hasSecret(storage.value, "url");
  const isGiven = (key: string): boolean => at(storage, key).value !== undefined;
  return [
    ...(isPostgres && isGiven("path") ? [report(at(storage, "path"), "does not go with url", "key")] : []),
    ...(!isPostgres && isGiven("poolSize") ? [report(at(storage, "poolSize"), "goes with url only", "key")] : []),
  ];
}

/** The checks over single events need events that are stored here. */
function checkEventChecks(main: ConfigDocument, organizations: readonly Place[]): Problem[] {
  const type = valueAt(main.value, ["source", "type"]);
  if (type === "embedded") return [];
  const source = typeof type === "string" ? type : "remote";
  const message = `needs the liveness events in flatline's own store: with source.type ${source} there are none, so this check cannot run`;
  const defaults: Place = { document: main, path: ["defaults"], value: valueAt(main.value, ["defaults"]) };
  return [defaults, ...organizations].flatMap((holder) => {
    const assets = at(at(holder, "sentinel"), "assets");
    const enabled = at(at(holder, "eventFlow"), "enabled");
    return [
      ...(Array.isArray(assets.value) && assets.value.length > 0 ? [report(assets, message)] : []),
      ...(enabled.value === true ? [report(enabled, message)] : []),
    ];
  });
}

function checkSilence(silence: Place): Problem[] {
  if (!isObject(silence.value)) return [];
  const given = (key: string): boolean => at(silence, key).value !== undefined;
  const problems = checkMatch(silence);
  const isRecurring = given("schedule") || given("duration") || given("timezone");
  const [wanted, foreign] = isRecurring
    ? [
        ["schedule", "duration"],
        ["startsAt", "endsAt"],
      ]
    : [["startsAt", "endsAt"], []];
  for (const key of wanted) {
    const kind = isRecurring
      ? "a recurring silence has schedule and duration"
      : "a silence has startsAt and endsAt, or schedule and duration";
    if (!given(key)) problems.push(report(at(silence, key), `is required: ${kind}`));
  }
  for (const key of foreign) {
    if (given(key))
      problems.push(report(at(silence, key), "does not go with schedule: a silence is fixed or recurring", "key"));
  }
  const [startsAt, endsAt] = ["startsAt", "endsAt"].map((key) => at(silence, key).value);
  const startsAtMs = typeof startsAt === "string" ? parseInstant(startsAt) : null;
  const endsAtMs = typeof endsAt === "string" ? parseInstant(endsAt) : null;
  if (!isRecurring && startsAtMs !== null && endsAtMs !== null && endsAtMs <= startsAtMs) {
    problems.push(report(at(silence, "endsAt"), "must be after startsAt"));
  }
  return problems;
}

function checkMatch(matcher: Place): Problem[] {
  const [slug, check, labels] = ["slug", "check", "labels"].map((key) => at(matcher, key));
  const problems: Problem[] = [];
  const hasLabels = labels !== undefined && isObject(labels.value) && Object.keys(labels.value).length > 0;
  if (slug?.value === undefined && check?.value === undefined && !hasLabels) {
    problems.push(report(matcher, 'needs slug, check or labels; slug: "*" matches all'));
  }
  if (check !== undefined && typeof check.value === "string" && check.value !== "") {
    const { value } = check;
    const isKnown = checkNames.some((name) => matchesPattern(value, name));
    if (!isKnown)
      problems.push(report(check, `matches no check: ${checkNames.join(", ")}${suggest(value, checkNames)}`));
  }
  return problems;
}

function matchesPattern(pattern: string, name: string): boolean {
  const escaped = pattern.split(/\*+/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${escaped.join(".*")}$`).test(name);
}

function checkReceiver(receiver: Place): Problem[] {
  if (!isObject(receiver.value)) return [];
  const { value } = receiver;
  const problems: Problem[] = [];
  if (isObject(value["match"])) problems.push(...checkMatch(at(receiver, "match")));
  if (value["type"] !== "webhook") return problems;
  if (value["template"] !== undefined && value["format"] === "alertmanager") {
    problems.push(report(at(receiver, "template"), "does not go with format: alertmanager", "key"));
  }
  if (value["contentType"] !== undefined && value["template"] === undefined) {
    problems.push(report(at(receiver, "contentType"), "goes with template only", "key"));
  }
  return problems;
}

function slugPlace(organization: Place): Place {
  return isObject(organization.value) ? at(organization, "slug") : organization;
}

function at(place: Place, key: string): Place {
  return { document: place.document, path: [...place.path, key], value: valueAt(place.value, [key]) };
}

function items(document: ConfigDocument, path: YamlPath): Place[] {
  const list = valueAt(document.value, path);
  if (!Array.isArray(list)) return [];
  return list.map((value: unknown, index) => ({ document, path: [...path, index], value }));
}

function report(place: Place, message: string, part: "value" | "key" = "value"): Problem {
  return problemAt(place.document, place.path, message, part);
}

function hasSecret(holder: Readonly<Record<string, unknown>>, key: string): boolean {
  return holder[key] !== undefined || holder[`${key}File`] !== undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
