import { createHmac } from "node:crypto";

import * as fc from "fast-check";

import { signActLink, type LinkAct } from "../../../src/alerting/act-link.ts";
import { Secret } from "../../../src/base/secret.ts";
import { requestBytes, secrets, startFuzzedDaemon } from "../fuzzed-daemon.ts";
import { untyped, type OpenTarget, type Target } from "../fuzz.ts";
import { mutatedBytes, mutatedText } from "../mutate.ts";
import { treeOf } from "../tree.ts";

type Signed =
  /** A webhook whose body was changed before it was signed. */
  | { readonly kind: "webhook"; readonly body: Buffer }
  /** A webhook whose signature was changed. */
  | { readonly kind: "signature"; readonly signature: Buffer }
  /** A link, which was changed after it was signed. */
  | { readonly kind: "link"; readonly method: string; readonly path: Buffer };

const types = ["incident.acknowledged", "incident.unacknowledged", "incident.resolved", "incident.annotated"];

/** What comes back from messages: a right signature is never refused as a wrong one, a wrong one changes nothing. */
export const signedRequestsTarget: Target = { name: "signed-requests", tries: 120, open };

async function open(): Promise<OpenTarget> {
  const daemon = await startFuzzedDaemon();
  const incidentKey = daemon.alertIds.get("acme") ?? "";
  let accepted = 0;
  const bodies = types.map((type, index) =>
    treeOf({
      event: {
        id: `event-${index}`,
        event_type: type,
        resource_type: "incident",
        occurred_at: "2026-11-22T00:00:00.000Z",
        agent: index === 0 ? null : { id: "P1", type: "user_reference", summary: "K. Osei" },
        data: { id: "Q1", type: "incident", incident_key: incidentKey },
      },
    }),
  );
  const whole = Buffer.from(
    JSON.stringify({ event: { id: "e", event_type: "x", occurred_at: "2026-01-01T00:00:00Z" } }),
  );
  const links = (["acknowledge", "silence"] as const).map((act) => linkOf(act, incidentKey));

  function linkOf(act: LinkAct, alertId: string): string {
    return `/${signActLink(new Secret(secrets.link), { act, alertId, receiver: "console", expiresAtMs: Date.now() + 3_600_000 })}`;
  }

  function requestOf(signed: Signed): Buffer {
    if (signed.kind === "link") return requestBytes({ method: signed.method, path: pathOf(signed.path) });
    const body = signed.kind === "webhook" ? signed.body : whole;
    const signature = signed.kind === "webhook" ? sign(body) : headerOf(signed.signature);
    return requestBytes({
      method: "POST",
      path: "/api/v1/hooks/pagerduty/pager",
      headers: {
        "content-type": "application/json",
        "x-pagerduty-signature": signature,
      },
      body,
    });
  }

  async function attempt(signed: Signed): Promise<readonly string[]> {
    const request = requestOf(signed);
    const before = daemon.stateHash();
    const { status, ...answer } = await daemon.ask(request);
    const complaints = await daemon.complaintsOf({ status, ...answer }, request.toString());
    const isLook = signed.kind === "link" && signed.method === "GET";
    const hasChanged = (status >= 400 || isLook) && (await daemon.changes(before, request));
    if (status < 400) accepted++;
    if (status >= 400 && hasChanged) complaints.push(`refused with ${status}, and the store has changed`);
    switch (signed.kind) {
      case "webhook":
        if (status === 403) complaints.push("a right signature is refused");
        break;
      case "signature":
        if (status < 400 && !isOneOf(headerOf(signed.signature), sign(whole)))
          complaints.push("a wrong signature is taken");
        break;
      case "link":
        if (isLook && hasChanged) complaints.push("a look at a link has changed something");
        if (
          status < 400 &&
          pathOf(signed.path).startsWith("/act/") &&
          !links.some((link) => isSameLink(link, pathOf(signed.path)))
        )
          complaints.push("an altered link is taken");
        break;
      default:
        signed satisfies never;
    }
    const gate = await daemon.ask(requestBytes({ path: "/api/v1/gate/acme" }));
    if (!gate.body.includes('"hold"')) complaints.push(`the gate is open after it: ${gate.body}`);
    return complaints;
  }

  const bytesOf = (texts: readonly string[]): fc.Arbitrary<Buffer> => mutatedBytes(texts);
  return untyped({
    inputs: fc.oneof(
      { weight: 3, arbitrary: mutatedText(bodies).map((body): Signed => ({ kind: "webhook", body })) },
      { weight: 1, arbitrary: bytesOf([sign(whole)]).map((signature): Signed => ({ kind: "signature", signature })) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant("link" as const),
          method: fc.constantFrom("GET", "POST"),
          path: bytesOf(links),
        }),
      },
    ),
    attempt,
    show: (signed: Signed) => `${signed.kind}: ${requestOf(signed).toString()}`,
    accepted: () => accepted,
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  });
}

function sign(body: Buffer): string {
  return `v1=${createHmac("sha256", secrets.webhook).update(body).digest("hex")}`;
}

/** What a header can hold. */
function headerOf(signature: Buffer): string {
  return signature
    .toString("latin1")
    .replaceAll(/[^\x20-\x7e\x80-\xff]/g, "")
    .slice(0, 4_000);
}

/** Hexadecimal digits mean the same in capitals. */
function isOneOf(header: string, signature: string): boolean {
  return header.split(",").some((one) => one.trim().toLowerCase() === signature);
}

/** What a request line can hold. */
function pathOf(path: Buffer): string {
  return `/${path
    .toString("latin1")
    .replaceAll(/[^\x21-\x7e]/g, "")
    .slice(0, 8_000)
    .replace(/^\/+/, "")}`;
}

/** Whether a path says what a link says, in other words maybe: encoded otherwise, with more beside it, or a fragment. */
function isSameLink(link: string, path: string): boolean {
  const parts = (text: string): string => {
    const url = URL.canParse(text, "http://a") ? new URL(text, "http://a") : null;
    if (url === null) return text;
    const given = ["receiver", "until", "signature"].map((name) => url.searchParams.get(name));
    return [...url.pathname.split("/").map(decoded), ...given].join("\n");
  };
  return parts(link) === parts(path);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
