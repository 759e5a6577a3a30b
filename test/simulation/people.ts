import type { Answer, Life } from "./life.ts";
import type { SentAlert } from "./receiver.ts";

type Ask = (request: Parameters<Life["ask"]>[0]) => Promise<Answer>;

/** An alert, as the API names it. */
export type NamedAlert = Pick<SentAlert, "id" | "slug" | "startsAt" | "kind">;

/** What is said of alerts and gates. */
export type Saying =
  | { readonly act: "acknowledge" | "unacknowledge" | "withdraw"; readonly alert: NamedAlert }
  | { readonly act: "judge"; readonly alert: NamedAlert; readonly verdict: Verdict; readonly comment: string }
  | { readonly act: "comment"; readonly alert: NamedAlert; readonly comment: string }
  | { readonly act: "release"; readonly slug: string };

export const verdicts = ["checker", "real", "expected"] as const;
export type Verdict = (typeof verdicts)[number];

/** Hears of what people do. */
export interface PeopleObserver {
  /** `id` null: it may have been stored, the answer was lost. */
  silenced(silence: { readonly id: string | null; readonly slug: string }, fromMs: number, untilMs: number): void;
  /** `isDone` null: it may have been done, the answer was lost. */
  silenceChanged(id: string, untilMs: number, isDone: boolean | null): void;
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
  #acknowledged: NamedAlert | null = null;
  #silenceId: string | null = null;
  #sayings = 0;

  constructor(options: {
    readonly ask: Ask;
    readonly nowMs: () => number;
    readonly observer: () => PeopleObserver | null;
  }) {
    this.#ask = options.ask;
    this.#nowMs = options.nowMs;
    this.#observer = options.observer;
  }

  /** `slug` may be `*`. */
  async silence(slug: string, forMs: number): Promise<void> {
    const silenced = slug === "*" ? slug : ((await this.#firing(slug))?.slug ?? slug);
    const fromMs = this.#nowMs();
    const request = { slug: silenced, endsAt: new Date(fromMs + forMs).toISOString(), comment: "simulated" };
    const { status, body } = await this.#ask({ method: "POST", url: "/api/v1/silences", body: request });
    if (isDone(status) === false) return;
    // null: it may be there all the same.
    const id = status === 201 ? (JSON.parse(body) as { readonly id: string }).id : null;
    this.#silenceId = id ?? this.#silenceId;
    this.#observer()?.silenced({ id, slug: silenced }, fromMs, fromMs + forMs);
  }

  /** Lets the last silence end so long from now. */
  async changeSilence(forMs: number): Promise<void> {
    const id = this.#silenceId;
    if (id === null) return;
    const untilMs = this.#nowMs() + forMs;
    const body = { endsAt: new Date(untilMs).toISOString() };
    const { status } = await this.#ask({ method: "PATCH", url: `/api/v1/silences/${id}`, body });
    this.#observer()?.silenceChanged(id, untilMs, isDone(status));
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
    if (alert === undefined) return;
    this.#acknowledged = alert;
    await this.#say({ act: "acknowledge", alert }, "POST", `/api/v1/alerts/${alert.id}/ack`, { by: "kim" });
  }

  /** Takes the last acknowledgement back. */
  async unacknowledge(): Promise<void> {
    const alert = this.#acknowledged;
    if (alert !== null) await this.#say({ act: "unacknowledge", alert }, "DELETE", `/api/v1/alerts/${alert.id}/ack`);
  }

  /** Judges the alert of this organization that fires or was last seen to, else another that fires. */
  async judge(slug: string, verdict: Verdict): Promise<void> {
    const firing = await this.#firing(slug);
    const alert = firing?.slug === slug ? firing : (this.#seen.get(slug) ?? firing);
    if (alert?.kind !== "verdict") return;
    this.#judged = alert;
    const comment = this.#comment();
    const body = { verdict, comment };
    await this.#say({ act: "judge", alert, ...body }, "POST", `/api/v1/alerts/${alert.id}/judgement`, body);
  }

  /** Takes the last judgement back. */
  async withdraw(): Promise<void> {
    const alert = this.#judged;
    if (alert === null) return;
    await this.#say({ act: "withdraw", alert }, "DELETE", `/api/v1/alerts/${alert.id}/judgement`);
  }

  async comment(slug: string): Promise<void> {
    const alert = (await this.#firing(slug)) ?? this.#seen.get(slug);
    if (alert === undefined) return;
    const comment = this.#comment();
    await this.#say({ act: "comment", alert, comment }, "POST", `/api/v1/alerts/${alert.id}/comments`, { comment });
  }

  /** Releases the gate of an organization whose alert fires, or of this one. */
  async release(slug: string): Promise<void> {
    const alert = await this.#firing(slug);
    const released = alert?.kind === "verdict" ? alert.slug : slug;
    const url = `/api/v1/gate/${released}/release`;
    await this.#say({ act: "release", slug: released }, "POST", url, { comment: "simulated" });
  }

  /** Each is another one: what comes of it can be told from the others. */
  #comment(): string {
    return `said ${++this.#sayings}`;
  }

  async #say(saying: Saying, method: "POST" | "DELETE", url: string, body?: object): Promise<void> {
    this.#observer()?.saying(saying);
    const { status } = await this.#ask({ method, url, ...(body === undefined ? {} : { body }) });
    this.#observer()?.said(saying, isDone(status));
  }

  /** The firing alert of the organization, else that of the next organization with one. */
  async #firing(slug: string): Promise<NamedAlert | undefined> {
    const { status, body } = await this.#ask({ method: "GET", url: "/api/v1/alerts" });
    if (status !== 200) return undefined;
    const { alerts } = JSON.parse(body) as {
      readonly alerts: readonly (NamedAlert & { readonly state: string })[];
    };
    const firing = alerts.filter(({ state }) => state === "firing");
    const verdicts = firing.filter(({ kind }) => kind === "verdict");
    for (const alert of verdicts) this.#seen.set(alert.slug, alert);
    return (
      verdicts.find((one) => one.slug === slug) ??
      firing.find((one) => one.slug === slug) ??
      verdicts.find((one) => one.slug > slug) ??
      verdicts[0]
    );
  }
}

/** null: also when the answer was lost with the process, or is a 500, it may have been stored. */
function isDone(status: number): boolean | null {
  if (status === 200 || status === 201) return true;
  return status === 0 || status >= 500 ? null : false;
}
