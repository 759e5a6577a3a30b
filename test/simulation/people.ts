import type { Answer, Life } from "./life.ts";
import type { SentAlert } from "./receiver.ts";

type Ask = (request: Parameters<Life["ask"]>[0]) => Promise<Answer>;

/** An alert, as the API names it. */
export type NamedAlert = Pick<SentAlert, "id" | "slug" | "startsAt" | "kind">;

/** What is said of alerts and gates. */
export type Saying =
  | { readonly act: "acknowledge" | "withdraw"; readonly alert: NamedAlert }
  | { readonly act: "judge"; readonly alert: NamedAlert; readonly verdict: Verdict }
  | { readonly act: "release"; readonly slug: string };

export const verdicts = ["checker", "real", "expected"] as const;
export type Verdict = (typeof verdicts)[number];

/** Hears of what people do. */
export interface PeopleObserver {
  silenced(slug: string, fromMs: number, untilMs: number): void;
  silencesEnded(): void;
  /** Before the daemon is asked: from now on it may be so. */
  saying(saying: Saying): void;
  /** `isDone` null: it may have been done, the answer was lost. */
  said(saying: Saying, isDone: boolean | null): void;
}

/** Operators: what they do through the HTTP API, with what they saw there last. */
export class People {
  readonly #ask: Ask;
  readonly #nowMs: () => number;
  readonly #observer: () => PeopleObserver | null;
  /** The last alert of each organization that was seen to fire. */
  readonly #seen = new Map<string, NamedAlert>();
  #judged: NamedAlert | null = null;

  constructor(options: {
    readonly ask: Ask;
    readonly nowMs: () => number;
    readonly observer: () => PeopleObserver | null;
  }) {
    this.#ask = options.ask;
    this.#nowMs = options.nowMs;
    this.#observer = options.observer;
  }

  async silence(slug: string, forMs: number): Promise<void> {
    const fromMs = this.#nowMs();
    const body = { slug, endsAt: new Date(fromMs + forMs).toISOString(), comment: "simulated" };
    const { status } = await this.#ask({ method: "POST", url: "/api/v1/silences", body });
    if (status === 201) this.#observer()?.silenced(slug, fromMs, fromMs + forMs);
  }

  async endSilences(): Promise<void> {
    const { status, body } = await this.#ask({ method: "GET", url: "/api/v1/silences" });
    if (status !== 200) return;
    const silences = JSON.parse(body) as readonly { readonly id: string; readonly state: string }[];
    for (const { id } of silences) await this.#ask({ method: "DELETE", url: `/api/v1/silences/${id}` });
    this.#observer()?.silencesEnded();
  }

  async acknowledge(slug: string): Promise<void> {
    const alert = await this.#firing(slug);
    if (alert !== undefined)
      await this.#say({ act: "acknowledge", alert }, "POST", `/api/v1/alerts/${alert.id}/ack`, { by: "kim" });
  }

  /** Judges what fires, or the last alert that was seen to: of this organization, else of any. */
  async judge(slug: string, verdict: Verdict): Promise<void> {
    const alert = (await this.#firing(slug)) ?? this.#seen.get(slug) ?? [...this.#seen.values()].at(-1);
    if (alert?.kind !== "verdict") return;
    this.#judged = alert;
    await this.#say({ act: "judge", alert, verdict }, "POST", `/api/v1/alerts/${alert.id}/judgement`, { verdict });
  }

  /** Takes the last judgement back. */
  async withdraw(): Promise<void> {
    const alert = this.#judged;
    if (alert === null) return;
    await this.#say({ act: "withdraw", alert }, "DELETE", `/api/v1/alerts/${alert.id}/judgement`);
  }

  async release(slug: string): Promise<void> {
    await this.#say({ act: "release", slug }, "POST", `/api/v1/gate/${slug}/release`, { comment: "simulated" });
  }

  async #say(saying: Saying, method: "POST" | "DELETE", url: string, body?: object): Promise<void> {
    this.#observer()?.saying(saying);
    const { status } = await this.#ask({ method, url, ...(body === undefined ? {} : { body }) });
    // Also when the answer was lost with the process it may have been stored.
    this.#observer()?.said(saying, status === 200 ? true : status === 0 || status >= 500 ? null : false);
  }

  async #firing(slug: string): Promise<NamedAlert | undefined> {
    const { status, body } = await this.#ask({ method: "GET", url: "/api/v1/alerts" });
    if (status !== 200) return undefined;
    const { alerts } = JSON.parse(body) as {
      readonly alerts: readonly (NamedAlert & { readonly state: string })[];
    };
    const firing = alerts.filter(({ state }) => state === "firing");
    for (const alert of firing) if (alert.kind === "verdict") this.#seen.set(alert.slug, alert);
    return firing.find((one) => one.slug === slug && one.kind === "verdict") ?? firing.find((one) => one.slug === slug);
  }
}
