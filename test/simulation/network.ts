import { Dispatcher } from "undici";

import type { Clock } from "../../src/base/time.ts";

export interface FarRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What comes back of a request. Half of `latencyMs` passes before the far side has it, half after. */
export type FarAnswer = { readonly latencyMs: number } & (
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string;
    }
  /** The head and half of the body, then a reset. */
  | { readonly kind: "cut"; readonly status: number; readonly body: string }
  /** A reset in place of an answer. */
  | { readonly kind: "reset" }
  /** No answer ever. */
  | { readonly kind: "hang" }
);

/** A server of the simulated world. */
export interface FarSide {
  /** Takes a connection; false: refuses it, and no request comes. */
  connect(): boolean;
  /** Decides how long a request takes, and what is done with it when it arrives. */
  handle(request: FarRequest): { readonly latencyMs: number; readonly arrive: () => FarAnswer };
}

/**
 * The network as one process sees it: requests reach far sides on the world's clock, also when the process has died
 * meanwhile; then nobody hears the answer.
 */
export class SimulatedNetwork extends Dispatcher {
  readonly #clock: Clock;
  readonly #farSides: ReadonlyMap<string, FarSide>;
  readonly #onSent: (text: string) => void;
  #isDead = false;

  constructor(options: {
    readonly clock: Clock;
    /** By origin. */
    readonly farSides: ReadonlyMap<string, FarSide>;
    /** Sees everything that leaves. */
    readonly onSent: (text: string) => void;
  }) {
    super();
    this.#clock = options.clock;
    this.#farSides = options.farSides;
    this.#onSent = options.onSent;
  }

  /** Ends as the process does. */
  kill(): void {
    this.#isDead = true;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.#isDead) return true;
    const controller = new Controller((reason) => {
      if (!this.#isDead) handler.onResponseError?.(controller, reason);
    });
    handler.onRequestStart?.(controller, {});
    void this.#carry(requestOf(options), String(options.origin), { controller, handler });
    return true;
  }

  async #carry(
    request: FarRequest,
    origin: string,
    { controller, handler }: { readonly controller: Controller; readonly handler: Dispatcher.DispatchHandler },
  ): Promise<void> {
    const isGone = (): boolean => this.#isDead || controller.aborted;
    const fail = (code: string): void => {
      if (!isGone()) handler.onResponseError?.(controller, Object.assign(new Error(code), { code }));
    };
    const farSide = this.#farSides.get(origin);
    if (farSide === undefined || !farSide.connect()) {
      await this.#clock.sleep(1);
      return fail("ECONNREFUSED");
    }
    const { latencyMs, arrive } = farSide.handle(request);
    await this.#clock.sleep(latencyMs / 2);
    // A process that was killed before has sent it all the same: its bytes were on the wire.
    this.#onSent(`${request.path} ${request.body}`);
    const answer = arrive();
    await this.#clock.sleep(latencyMs / 2);
    if (answer.kind === "hang" || isGone()) return;
    if (answer.kind === "reset") return fail("ECONNRESET");
    const body = Buffer.from(answer.body);
    const headers = answer.kind === "answer" ? { ...answer.headers } : {};
    handler.onResponseStart?.(controller, answer.status, { "content-type": "application/json", ...headers }, "");
    if (isGone()) return;
    if (answer.kind === "cut") {
      handler.onResponseData?.(controller, body.subarray(0, body.length >> 1));
      return fail("ECONNRESET");
    }
    if (body.length > 0) handler.onResponseData?.(controller, body);
    if (!isGone()) handler.onResponseEnd?.(controller, {});
  }

  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback?: () => void): Promise<void> | void {
    if (callback === undefined) return Promise.resolve();
    callback();
  }

  override destroy(): Promise<void> {
    return Promise.resolve();
  }
}

class Controller implements Dispatcher.DispatchController {
  aborted = false;
  paused = false;
  reason: Error | null = null;
  readonly rawHeaders = null;
  readonly rawTrailers = null;
  readonly #onAbort: (reason: Error) => void;

  constructor(onAbort: (reason: Error) => void) {
    this.#onAbort = onAbort;
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#onAbort(reason);
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }
}

function requestOf({ method, path, headers, body }: Dispatcher.DispatchOptions): FarRequest {
  const text = typeof body === "string" ? body : body instanceof Uint8Array ? Buffer.from(body).toString() : "";
  return { method, path, headers: { ...(headers as Record<string, string>) }, body: text };
}
