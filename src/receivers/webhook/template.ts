import { Liquid, type FS, type Template } from "liquidjs";

import { asFlatlineError, FlatlineError } from "../../base/errors.ts";
import type { AlertNotice, Notification } from "../../alerting/notify/notification.ts";
import { notificationPayload } from "../payload.ts";
import { originsOf, templatePayload } from "../wording/broken.ts";
import { sampleNotifications } from "../sample-notifications.ts";

/** A template that parsed. */
export interface CompiledTemplate {
  /**
   * The body of a request; `firing` are the alerts of its incident that fire by now [those of the notification].
   * @throws FlatlineError invalid_config when a variable is missing, a limit is hit, or JSON is none
   */
  render(notification: Notification, firing?: readonly AlertNotice[]): string;
}

// A body that takes longer or is larger than that of thousands of alerts is a mistake in its template.
const maxTemplateCharacters = 100_000;
const maxRenderMs = 1_000;
const maxMemory = 50_000_000;

/**
 * Compiles a Liquid template of a webhook's body: no file system (`include`, `render`, `layout` and `block` don't exist),
 * strict variables and filters, bounds on size, time and memory. Output is escaped for the content type: as the inside of a
 * JSON string, as HTML or XML, or as a form value; `| json` writes a whole JSON value, `| raw` turns escaping off.
 * @throws FlatlineError invalid_config with Liquid's own line and column
 */
export function compileTemplate(text: string, contentType: string): CompiledTemplate {
  const engine = createEngine(contentType);
  const templates = guarded(() => engine.parse(text), "template");
  return {
    render: (notification, firing = notification.alerts.filter(({ status }) => status === "firing")) =>
      renderBody(engine, templates, contentType, { notification, firing }),
  };
}

/** Compiles a template and renders it for every kind of notification. @throws FlatlineError invalid_config at the first that fails */
export function checkTemplate(text: string, contentType: string): void {
  const compiled = compileTemplate(text, contentType);
  for (const [kind, notification] of Object.entries(sampleNotifications())) {
    guarded(() => compiled.render(notification), `tried on a sample of kind "${kind}"`);
  }
}

function renderBody(
  engine: Liquid,
  templates: Template[],
  contentType: string,
  { notification, firing }: { readonly notification: Notification; readonly firing: readonly AlertNotice[] },
): string {
  const payloadOf = (alerts: readonly AlertNotice[]) =>
    templatePayload(notificationPayload({ ...notification, alerts }), originsOf({ ...notification, alerts }));
  const payload = payloadOf(notification.alerts);
  const context = {
    ...payload,
    payload,
    // Few templates ask for it.
    get stillFiring() {
      return payloadOf(firing).alerts;
    },
  };
  const body = guarded(() => String(engine.renderSync(templates, context)), "template");
  if (isJson(contentType)) guarded(() => void JSON.parse(body), "the template's output is not JSON");
  return body;
}

function createEngine(contentType: string): Liquid {
  const outputEscape = escapeFor(contentType);
  const engine = new Liquid({
    fs: noFiles,
    relativeReference: false,
    strictVariables: true,
    strictFilters: true,
    lenientIf: true,
    ownPropertyOnly: true,
    timezoneOffset: 0,
    locale: "en-US",
    parseLimit: maxTemplateCharacters,
    renderLimit: maxRenderMs,
    memoryLimit: maxMemory,
    ...(outputEscape === null ? {} : { outputEscape }),
  });
  for (const tag of ["include", "render", "layout", "block"]) delete engine.tags[tag];
  // A whole JSON value needs no further escaping: `{{ alerts | json }}`.
  engine.registerFilter("json", { raw: true, handler: (value: unknown) => JSON.stringify(value ?? null) });
  return engine;
}

function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType.trim());
}

/** Returns the function that keeps a value inside its place in the template; null where text is just text. */
function escapeFor(contentType: string): ((value: unknown) => string) | null {
  if (isJson(contentType)) return (value) => JSON.stringify(textOf(value)).slice(1, -1);
  if (/^(?:text\/html|application\/xhtml|(?:text|application)\/(?:[\w.-]+\+)?xml)\b/i.test(contentType.trim())) {
    return (value) => textOf(value).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType.trim())) {
    return (value) => encodeURIComponent(textOf(value).toWellFormed());
  }
  return null;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  // Numbers and booleans are written as in JSON, too; no payload holds a value that JSON cannot write.
  return JSON.stringify(value) ?? "";
}

const noFiles: FS = {
  existsSync: () => false,
  exists: async () => false,
  readFileSync: refuseFile,
  readFile: refuseFile,
  resolve: (_dir, file) => file,
};

function refuseFile(): never {
  throw new FlatlineError("invalid_config", "templates read no files");
}

function guarded<Result>(work: () => Result, what: string): Result {
  try {
    return work();
  } catch (error) {
    throw new FlatlineError("invalid_config", `${what}: ${asFlatlineError(error).message}`, { cause: error });
  }
}
