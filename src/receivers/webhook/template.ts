import { CaptureTag, Liquid, type Context } from "liquidjs";

import { asFlatlineError, FlatlineError } from "../../base/errors.ts";
import type { AlertNotice, Notification } from "../../alerting/notify/notification.ts";
import { originsOf } from "../../words/message.ts";
import { notificationPayload, templatePayload } from "../payload.ts";
import { sampleNotifications } from "../sample-notifications.ts";

// A longer or slower body than one of thousands of alerts is a mistake in its template.
const maxTemplateCharacters = 100_000;
const maxRenderMs = 1_000;
const maxMemory = 50_000_000;

/**
 * Compiles a Liquid template of a webhook's body, with strict variables and filters, bounds on size, time and memory,
 * and no files (`include`, `render`, `layout` and `block` do not exist). Output is escaped once for the content type,
 * after any filter: for a JSON string, HTML or XML, or a form value. In JSON `| json` writes a whole value. Returns a
 * function that renders a notification; `firing` are the alerts of its incident that fire now [those of the
 * notification]. Both throw FlatlineError invalid_config, with Liquid's line and column.
 */
export function compileTemplate(text: string, contentType: string) {
  const engine = createEngine(contentType);
  const templates = guarded(() => engine.parse(text), "template");
  return (notification: Notification, firing?: readonly AlertNotice[]): string => {
    const payloadOf = (alerts: readonly AlertNotice[]) =>
      templatePayload(notificationPayload({ ...notification, alerts }), originsOf({ ...notification, alerts }));
    const payload = payloadOf(notification.alerts);
    const context = {
      ...payload,
      payload,
      // Computed on demand: few templates use it.
      get stillFiring() {
        return payloadOf(firing ?? notification.alerts.filter(({ status }) => status === "firing")).alerts;
      },
    };
    const body = guarded(() => String(engine.renderSync(templates, context)), "template");
    if (isJson(contentType)) guarded(() => void JSON.parse(body), "the template's output is not JSON");
    return body;
  };
}

/** Compiles a template and renders every kind of notification. @throws invalid_config at the first failure */
export function checkTemplate(text: string, contentType: string): void {
  const render = compileTemplate(text, contentType);
  for (const [kind, notification] of Object.entries(sampleNotifications())) {
    guarded(() => render(notification), `tried on a sample of kind "${kind}"`);
  }
}

function createEngine(contentType: string): Liquid {
  const { escape, filters: own } = encodingOf(contentType);
  // Captured text is a value: it is escaped where it is put out.
  let captures = 0;
  const engine = new Liquid({
    // In place of files: nothing can be named.
    templates: {},
    strictVariables: true,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    timezoneOffset: 0,
    locale: "en-US",
    parseLimit: maxTemplateCharacters,
    renderLimit: maxRenderMs,
    memoryLimit: maxMemory,
    outputEscape: (value) => (captures > 0 || value instanceof JsonText ? value : escape(textOf(value))),
  });
  for (const tag of ["include", "render", "layout", "block"]) delete engine.tags[tag];
  engine.tags["capture"] = class extends CaptureTag {
    override *render(context: Context): Generator<unknown, void, string> {
      captures++;
      try {
        yield* super.render(context);
      } finally {
        captures--;
      }
    }
  };
  const toJson = (value: unknown) => {
    const text = JSON.stringify(value ?? null);
    return isJson(contentType) ? new JsonText(text) : text;
  };
  for (const name of ["json", "jsonify"]) engine.registerFilter(name, toJson);
  for (const name of [...own, "raw"]) engine.registerFilter(name, (value: unknown) => value);
  return engine;
}

/** A whole JSON value, which needs no further escaping in a body of JSON: `{{ alerts | json }}`. */
class JsonText extends String {}

function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType.trim());
}

/** `escape` keeps a value inside its place in a body; `filters`, which do the same, then change nothing. */
interface Encoding {
  readonly escape: (text: string) => string;
  readonly filters: readonly string[];
}

function encodingOf(contentType: string): Encoding {
  const type = contentType.trim();
  if (isJson(type)) return { escape: (text) => JSON.stringify(text).slice(1, -1), filters: [] };
  if (/^(?:text\/html|application\/xhtml|(?:text|application)\/(?:[\w.-]+\+)?xml)\b/i.test(type)) {
    const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
    return { escape, filters: ["escape", "escape_once", "xml_escape"] };
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    const escape = (text: string): string => encodeURIComponent(text.toWellFormed());
    return { escape, filters: ["url_encode", "cgi_escape", "uri_escape"] };
  }
  return { escape: (text) => text, filters: [] };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  // Numbers and booleans become JSON, too; no payload has a value that JSON cannot write.
  return JSON.stringify(value) ?? "";
}

function guarded<Result>(work: () => Result, what: string): Result {
  try {
    return work();
  } catch (error) {
    throw new FlatlineError("invalid_config", `${what}: ${asFlatlineError(error).message}`, { cause: error });
  }
}
