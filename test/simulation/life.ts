import type { AddressInfo } from "node:net";
import { statSync } from "node:fs";

import type { FastifyInstance, LightMyRequestResponse } from "fastify";

import type { Logger } from "../../src/base/logger.ts";
import type { VirtualClock } from "../support/virtual-clock.ts";
import type { Config } from "../../src/config/config.ts";
import { createApp, type App } from "../../src/daemon/app.ts";
import { openStore } from "../../src/store/open.ts";
import type { Writer } from "../../src/store/writer.ts";
import { createSimulatedDisk, type OnCommit, type SimulatedDisk } from "./disk.ts";
import { token } from "./fleet.ts";
import { SimulatedNetwork, type FarSide } from "./network.ts";

export interface LifeOptions {
  readonly config: Config;
  readonly cwd: string;
  readonly clock: VirtualClock;
  readonly random: () => number;
  readonly newId: () => string;
  readonly farSides: ReadonlyMap<string, FarSide>;
  /** What a reload reads. */
  readonly readConfig: () => Promise<Config>;
  readonly onSent: (text: string) => void;
  readonly onCommit: OnCommit;
  readonly onLog: (line: string) => void;
  /** The disk's script lets the process die. */
  readonly onDeath: () => void;
  readonly onDiskFailure: () => void;
}

export interface Answer {
  /** 0: the process died before it answered; -1: none listened. */
  readonly status: number;
  readonly body: string;
}

/** One process: the real daemon on the simulated clock, network and disk, until it is stopped or killed. */
export interface Life {
  readonly app: App;
  readonly disk: SimulatedDisk;
  readonly isDead: () => boolean;
  /** Asks its HTTP API, past the socket. */
  ask(request: {
    readonly method: "GET" | "POST" | "PATCH" | "DELETE";
    readonly url: string;
    /** An object as JSON, a text as NDJSON. */
    readonly body?: object | string;
    readonly headers?: Readonly<Record<string, string>>;
  }): Promise<Answer>;
  /** Ends it as `kill -9` does: nothing that it had begun goes on. */
  kill(): void;
}

/** Makes a process that has not started yet. */
export function createLife(options: LifeOptions): Life {
  let isDead = false;
  /** Those that wait for an answer. A race with a promise of the death would keep every answer until then. */
  const asking = new Set<(answer: null) => void>();
  let server: FastifyInstance | null = null;
  let writer: Writer | null = null;
  const { clock, end: endTimers } = options.clock.lifetime();
  const network = new SimulatedNetwork({ clock: options.clock, farSides: options.farSides, onSent: options.onSent });
  const disk = createSimulatedDisk({
    onCommit: options.onCommit,
    onFailure: options.onDiskFailure,
    onDeath: () => {
      kill();
      options.onDeath();
    },
  });

  function kill(): void {
    if (isDead) return;
    isDead = true;
    for (const resolve of asking) resolve(null);
    endTimers();
    network.kill();
    disk.kill();
    void writer?.release();
  }

  const app = createApp(options.config, {
    env: {},
    cwd: options.cwd,
    clock,
    random: options.random,
    newId: options.newId,
    version: "0.0.0",
    nodeVersion: "24.0.0",
    logger: loggerTo((line) => {
      if (!isDead) options.onLog(line);
    }),
    withProcessMetrics: false,
    dispatcher: network,
    transport: async (listening) => {
      await listening.ready();
      server = listening;
      return { address: "127.0.0.1", port: 9_640, family: "IPv4" } satisfies AddressInfo;
    },
    openStore: async (where) => {
      const store = await openStore({ ...where, connect: disk.connect, backgroundClock: clock });
      return {
        ...store,
        // Looks at real files take real time, which would make what happens next depend on the machine.
        problem: async () => null,
        bytes: async () => ("path" in where ? statSync(where.path).size : 0),
        takeWriter: async (given) => {
          writer = await store.takeWriter(given);
          return writer;
        },
      };
    },
    readConfig: options.readConfig,
  });

  return {
    app,
    disk,
    isDead: () => isDead,
    ask: async ({ method, url, body, headers = {} }) => {
      if (server === null || isDead) return { status: -1, body: "" };
      const { promise, resolve, reject } = Promise.withResolvers<LightMyRequestResponse | null>();
      asking.add(resolve);
      const answered = server.inject({
        method,
        url,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined
            ? {}
            : { "content-type": typeof body === "string" ? "application/x-ndjson" : "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      answered.then(resolve, reject);
      const answer = await promise.finally(() => asking.delete(resolve));
      return isDead || answer === null ? { status: 0, body: "" } : { status: answer.statusCode, body: answer.body };
    },
    kill,
  };
}

/** A logger whose lines have no time: the simulation knows it. */
export function loggerTo(write: (line: string) => void, common: object = {}): Logger {
  const at =
    (level: string) =>
    (fields: object, message: string): void => {
      write(`${level} ${message} ${JSON.stringify({ ...common, ...fields }, readable)}`);
    };
  return {
    debug: () => undefined,
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => loggerTo(write, { ...common, ...fields }),
  };
}

function readable(_key: string, value: unknown): unknown {
  return value instanceof Error ? `${value.name}: ${value.message}` : value;
}
