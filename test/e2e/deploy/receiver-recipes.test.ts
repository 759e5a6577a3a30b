import { readdirSync, readFileSync } from "node:fs";
import type { Notification } from "../../../src/alerting/notify/notification.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { fileURLToPath } from "node:url";

import { Agent, Dispatcher } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createSilentLogger } from "../../../src/base/logger.ts";
import { createReceiver } from "../../../src/receivers/receivers.ts";
import { notifications } from "../../support/notifications.ts";
import { startHttpSink, type HttpSink } from "../../support/far-side/http-sink.ts";
import { makeProgramFolder } from "../../support/program/program-folder.ts";

const folder = fileURLToPath(new URL("../../../examples/receivers/", import.meta.url));
const samples: Readonly<Record<string, Notification>> = notifications();
// Begin and end, of one and of many, what gives no result, an act, and a test: the others differ in words only.
const kinds = ["firing", "resolved", "fleet", "unknown", "judged", "test"];
const recipes = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const env = {
  NTFY_TOKEN: "tk_sample",
  TELEGRAM_TOKEN: "123:sample",
  TELEGRAM_CHAT: "-1001",
  MATRIX_HOOKSHOT_URL: "https://hookshot.example.com/webhook/sample",
  GOOGLE_CHAT_URL: "https://chat.googleapis.com/v1/spaces/AAA/messages?key=k&token=t",
  MATTERMOST_URL: "https://mattermost.example.com/hooks/sample",
  OPSGENIE_KEY: "sample",
  INCIDENT_IO_SOURCE: "01SAMPLE",
  INCIDENT_IO_TOKEN: "sample",
  BRIDGE_URL: "https://bridge.example.com/hook",
};

let sink: HttpSink;
const agent = new Agent();
beforeAll(async () => {
  sink = await startHttpSink((response) => response.end());
});
afterAll(async () => {
  await agent.close();
  await sink.close();
});

/** Sends every request to the sink, and notes where it was meant to go. */
class Diverted extends Dispatcher {
  readonly origins: string[] = [];

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.origins.push(String(options.origin));
    return agent.dispatch({ ...options, origin: sink.url }, handler);
  }
}

describe("the recipe of a receiver", () => {
  it.each(recipes)("in %s sends exactly these requests", async (file) => {
    const recipe = readFileSync(`${folder}${file}`, "utf8");
    await using program = await makeProgramFolder(
      `source: { type: embedded }\norganizations: [acme, globex]\n${recipe}`,
    );
    const config = await loadConfig({ path: "flatline.yaml", cwd: program.path, env });
    const [settings] = config.receivers;
    if (settings === undefined) throw new Error("the recipe has no receiver");
    const dispatcher = new Diverted();
    const receiver = createReceiver(settings, { dispatcher, logger: createSilentLogger() });
    const requests: string[] = [];

    for (const kind of kinds) {
      const notification = samples[kind];
      if (notification === undefined) throw new Error(`no sample ${kind}`);
      const before = sink.requests.length;
      const context = { signal: AbortSignal.timeout(10_000), nowMs: Date.UTC(2026, 0, 15) };
      expect(await receiver.deliver({ ...notification, receiver: settings.name }, context)).toMatchObject({
        kind: "accepted",
      });
      const [request] = sink.requests.slice(before);
      if (request === undefined) throw new Error(`nothing was sent for ${kind}`);
      const { method, path, headers, body } = request;
      const shown = ["content-type", "authorization"].flatMap((name) => {
        const value = headers[name];
        return value === undefined ? [] : [`${name}: ${String(value)}`];
      });
      const text = JSON.stringify(JSON.parse(body), null, 2);
      requests.push(
        [`### ${kind}`, `${method} ${dispatcher.origins.at(-1)}${path}`, ...shown, "", text, ""].join("\n"),
      );
    }

    const golden = `../../fixtures/receivers/${file.replace(/yaml$/, "txt")}`;
    await expect(requests.join("\n")).toMatchFileSnapshot(golden);
  });
});
