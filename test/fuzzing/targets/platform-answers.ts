import * as fc from "fast-check";

import { asFlatlineError } from "../../../src/base/errors.ts";
import { createHttpDispatcher } from "../../../src/base/http-dispatcher.ts";
import { createConnectedClient } from "../../../src/client/connected-client.ts";
import { sampleHealthcheck, sampleSpikeRequest } from "../../support/far-side/api-samples.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedBytes, mutatedTree } from "../mutate.ts";
import { isObject, parsed } from "../plain-json.ts";
import { complaintsOfText } from "../promises.ts";
import { answerOf, startRawServer, type Said } from "../raw-server.ts";
import { treeOf } from "../tree.ts";

const apiKey = "the-key-of-the-platform";
const asset = { id: 5, type: "URL", content: "https://a.example", status: "UNKNOWN" };
const proposal = { id: 3, decision: null, asset };
const finding = { kind: "dead-asset-spike", ref: "acme", message: "90 dead, 3 expected", severity: "fail" };
const bodies = {
  deadAssetSpike: [
    sampleHealthcheck(),
    sampleHealthcheck({
      ok: false,
      severity: "fail",
      findings: [finding, { ...finding, ref: null, severity: "warn" }],
    }),
  ],
  listReports: [
    {
      reports: [{ id: 1, status: "TODO", createdAt: "2026-11-01T10:00:00.000Z", proposals: [proposal] }],
      cursor: "abc",
    },
    { items: [{ proposals: [] }] },
  ],
  reviewProposal: [{ proposal: { id: 3 }, review: { decision: "REJECT" }, watchlisted: true }],
} as const;
const categories = ["detection", "reviewing", "blocklisting", "takedowns", "assets", "organization"];
type Operation = keyof typeof bodies;

interface Answer {
  readonly operation: Operation;
  readonly said: Said;
}

/** Answers of the platform: a result as the API describes it, or an error with a code. */
export const platformAnswersTarget: Target = { name: "platform-answers", tries: 200, open };

async function open(): Promise<OpenTarget> {
  const server = await startRawServer();
  const dispatcher = createHttpDispatcher({ env: {} });
  let accepted = 0;

  async function ask(operation: Operation): Promise<object | Error> {
    // One of its own each time: a Retry-After holds for the next.
    const client = createConnectedClient({
      baseUrl: `${server.url}/api/v2`,
      apiKey,
      timeoutMs: 1_000,
      retries: 0,
      dispatcher,
      random: () => 0.5,
    });
    const calls: Record<Operation, () => Promise<object>> = {
      deadAssetSpike: () => client.deadAssetSpike(sampleSpikeRequest()),
      listReports: () => client.listReports({ slug: "acme", status: "TODO" }),
      reviewProposal: () =>
        client.reviewProposal({ proposalId: 3, assetId: 5, decision: "REJECT", rejectReason: "irrelevant" }),
    };
    return calls[operation]().catch((error: unknown) => (error instanceof Error ? error : new Error("no error")));
  }

  async function attempt({ operation, said }: Answer): Promise<readonly string[]> {
    const { bytes, whole: answer } = answerOf(said);
    server.answer = bytes;
    const found = await ask(operation);
    const complaints: string[] = [];
    if (found instanceof Error) {
      const { code, message, stack } = asFlatlineError(found);
      complaints.push(...complaintsOfText(message));
      if (!code.startsWith("api_")) complaints.push(`${code}: ${message} ${stack ?? ""}`);
      if (message.includes(apiKey)) complaints.push("the error shows the key");
      if (message.length > 10_000) complaints.push(`the error has ${message.length} characters`);
      if (operation === "deadAssetSpike" && answer?.status === 200 && isHealthcheck(parsed(answer.body)))
        complaints.push(`refused, and it is as the API describes it: ${message}`);
      return complaints;
    }
    accepted++;
    if (operation === "deadAssetSpike" && answer !== null && !isHealthcheck(parsed(answer.body)))
      complaints.push("taken, and it is not as the API describes it");
    if (answer !== null && answer.status > 299) complaints.push(`taken with ${answer.status}`);
    if (operation === "deadAssetSpike" && JSON.stringify(found).length > 2_000_000)
      complaints.push("what is kept of it is not bounded");
    return complaints;
  }

  const operation = fc.constantFrom<Operation>("deadAssetSpike", "deadAssetSpike", "listReports", "reviewProposal");
  return untyped({
    inputs: operation.chain((name) => {
      const trees = bodies[name].map((body) =>
        treeOf({ status: 200, headers: { "content-type": "application/json" }, body }),
      );
      const refusals = [401, 429, 503].map((status) =>
        treeOf({
          status,
          headers: { "retry-after": "5" },
          body: { message: "no", code: "X", issues: [{ message: "so" }] },
        }),
      );
      const said = fc.oneof(
        { weight: 4, arbitrary: mutatedTree(trees) },
        { weight: 1, arbitrary: mutatedTree(refusals) },
        { weight: 2, arbitrary: mutatedBytes(trees.map((tree) => answerOf(tree).bytes)) },
      );
      return fc.record({ operation: fc.constant(name), said });
    }),
    attempt,
    show: ({ operation: name, said }: Answer) => `${name}: ${answerOf(said).bytes.toString("latin1")}`,
    accepted: () => accepted,
    [Symbol.asyncDispose]: async () => {
      await dispatcher.destroy();
      await server[Symbol.asyncDispose]();
    },
  });
}

/** The API's twelve fields with the API's types, plainly. */
function isHealthcheck(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { scope, observed, threshold, findings } = value;
  const isTextOrNull = (one: unknown): boolean => one === null || typeof one === "string";
  // Zod drops `__proto__`, whatever its value is.
  const isMap = (map: unknown): boolean =>
    isObject(map) &&
    Object.entries(map).every(
      ([key, one]) =>
        key === "__proto__" || one === null || ["string", "boolean"].includes(typeof one) || Number.isFinite(one),
    );
  return (
    [value["id"], value["title"], value["generatedAt"]].every((one) => typeof one === "string") &&
    categories.some((category) => category === value["category"]) &&
    isObject(scope) &&
    (scope["slug"] === null || scope["slug"] === "acme") &&
    typeof value["ok"] === "boolean" &&
    isSeverity(value["severity"]) &&
    isMap(observed) &&
    isMap(threshold) &&
    Array.isArray(findings) &&
    findings.every(
      (one) =>
        isObject(one) &&
        typeof one["kind"] === "string" &&
        typeof one["message"] === "string" &&
        isTextOrNull(one["ref"]) &&
        isSeverity(one["severity"]),
    ) &&
    isTextOrNull(value["suggestedAction"]) &&
    isTextOrNull(value["appUrl"])
  );
}

function isSeverity(value: unknown): boolean {
  return value === "ok" || value === "warn" || value === "fail";
}
