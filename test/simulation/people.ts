import { danaToken, type Person } from "./fleet.ts";
import type { Answer, Life } from "./life.ts";
import type { SentAlert } from "./receiver.ts";

type Ask = (request: Parameters<Life["ask"]>[0]) => Promise<Answer>;

/** An alert, as the API names it. */
export type NamedAlert = Pick<SentAlert, "id" | "slug" | "startsAt" | "kind">;

export const verdicts = ["checker", "real", "expected"] as const;
export type Verdict = (typeof verdicts)[number];

/** Which route does an act, under that of the alert or incident. */
const routes = {
  acknowledge: ["POST", "ack"],
  unacknowledge: ["DELETE", "ack"],
  judge: ["POST", "judgement"],
  withdraw: ["DELETE", "judgement"],
  comment: ["POST", "comments"],
  release: ["POST", "release"],
  silence: ["POST", "silence"],
} as const;
export type ActName = keyof typeof routes;

/** What somebody is about to do. */
export interface PlannedAct {
  readonly act: ActName;
  readonly by: Person;
  /** On the alert of this organization if it has one, else on another. */
  readonly slug: string;
  /** On that alert alone, on every other organization of its incident, or on the whole incident. */
  readonly of: "alert" | "some" | "incident";
  /** After a dry run. */
  readonly isForeseen: boolean;
  readonly verdict: Verdict;
  readonly forMs: number;
}

/** What is said of alerts and gates. */
export interface Saying {
  readonly act: ActName;
  readonly by: Person;
  /** Those that it is of; of a release of a gate the one for which that was done. */
  readonly alerts: readonly NamedAlert[];
  /** By the API of incidents; null: of one alert, or gate, alone. */
  readonly incident: number | null;
  /** null: of all of the incident. */
  readonly slugs: readonly string[] | null;
  readonly verdict: Verdict;
  readonly comment: string;
  readonly untilMs: number;
}

/** What an act on an incident answers. */
export interface ActAnswer {
  readonly done: readonly { readonly slug: string; readonly alertId: string }[];
  readonly skipped: readonly { readonly slug: string; readonly alertId: string; readonly reason: string }[];
  readonly gatesOpened: readonly string[];
  readonly gatesHeld: readonly string[];
}

/** What came of it; `lost`: it may have been done; `away`: nobody listened. */
export type Outcome = ActAnswer | "done" | "refused" | "lost" | "away";

/** An incident, as `GET /api/v1/incidents/{id}` shows it. */
export interface SeenIncident {
  readonly number: number;
  readonly family: string;
  readonly endedAt: string | null;
  readonly severity: string;
  readonly organizations: number;
  readonly firing: number;
  readonly held: number;
  readonly acknowledgedBy: string | null;
  readonly judgements: Readonly<Record<string, number>>;
  readonly fleet: {
    readonly startsAt: string;
    readonly together: number;
    readonly spiking: number;
    readonly probability: number;
  } | null;
  readonly alerts: readonly SeenMember[];
}

/** One of its alerts. */
export interface SeenMember extends SeenAlert {
  readonly firingAt: string;
  readonly silenced: boolean;
  readonly endsAt: string | null;
}

/** An alert, as the API shows it to who may read it. */
export interface SeenAlert extends NamedAlert {
  readonly state: string;
  readonly incidentNumber: number | null;
  readonly acknowledgement?: { readonly by: string; readonly severity: string };
  readonly judgement: { readonly verdict: Verdict } | null;
}

/** Hears of what people do. */
export interface PeopleObserver {
  /** Grows with everything that may change what the API answers. */
  readonly happened: number;
  /** `id` null: it may have been stored, the answer was lost. */
  silenced(silence: { readonly id: string | null; readonly slug: string }, fromMs: number, untilMs: number): void;
  /** `isDone` null: it may have been done, the answer was lost. */
  silenceChanged(id: string, untilMs: number, isDone: boolean | null): void;
  silencesEnded(): void;
  /** Somebody looks at an incident. */
  looked(incident: SeenIncident): void;
  /** Before the daemon is asked: from now on it may be so. */
  saying(saying: Saying): void;
  said(saying: Saying, outcome: Outcome): void;
  /** What a dry run said, and the act then answered; nothing happened in between. */
  foreseen(saying: Saying, foreseen: Answer, then: Answer): void;
}

/** Operators: what they do through the HTTP API, with what they saw there last. */
export class People {
  readonly #ask: Ask;
  readonly #nowMs: () => number;
  readonly #observer: () => PeopleObserver | null;
  /** The last alert of each organization that was seen to fire. */
  readonly #seen = new Map<string, SeenAlert>();
  /** The last one that was acknowledged or judged. */
  readonly #last: Partial<Record<ActName, SeenAlert>> = {};
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

  /** Does these at once. */
  async act(acts: readonly PlannedAct[]): Promise<void> {
    await Promise.all(acts.map((one) => this.#act(one)));
  }

  async #act({ act, by, slug, of, isForeseen, verdict, forMs }: PlannedAct): Promise<void> {
    const firing = await this.#firing(slug);
    const own = firing?.slug === slug ? firing : (this.#seen.get(slug) ?? firing);
    const undone = act === "unacknowledge" ? this.#last.acknowledge : act === "withdraw" ? this.#last.judge : undefined;
    const alert = undone ?? (act === "acknowledge" || act === "silence" ? firing : own);
    // A judgement is taken back of one alert, and a silence of one is made elsewhere.
    const isOfOne = act === "withdraw" || (of === "alert" && act !== "silence");
    if (alert === undefined || (!isOfOne && alert.incidentNumber === null)) return;
    this.#last[act] = alert;
    const incident = isOfOne ? null : await this.#look(alert.incidentNumber ?? 0);
    if (!isOfOne && incident === null) return;
    const others = (incident?.alerts ?? []).filter((_one, index) => of === "some" && index % 2 === 0);
    const slugs =
      incident === null || of === "incident" ? null : [...new Set([alert, ...others].map((one) => one.slug))];
    const untilMs = this.#nowMs() + forMs;
    // Each is another one: what comes of it can be told from the others. That of a gate is kept with what held it last.
    const comment = act === "release" && incident === null ? "simulated" : `said ${++this.#sayings}`;
    const saying: Saying = {
      act,
      by,
      alerts: (incident?.alerts ?? [alert]).filter((one) => slugs?.includes(one.slug) !== false),
      incident: incident?.number ?? null,
      slugs,
      verdict,
      comment,
      untilMs,
    };
    await this.#say(saying, { isForeseen: isForeseen && incident !== null });
  }

  async #say(saying: Saying, { isForeseen }: { readonly isForeseen: boolean }): Promise<void> {
    const { act, by, incident, slugs, alerts, verdict, comment, untilMs } = saying;
    const [method, path] = routes[act];
    const [first] = alerts;
    const url =
      incident !== null
        ? `/api/v1/incidents/${incident}/${path}`
        : act === "release"
          ? `/api/v1/gate/${first?.slug}/release`
          : `/api/v1/alerts/${first?.id}/${path}`;
    const body = {
      ...(slugs === null ? {} : { slugs }),
      ...(act === "unacknowledge" || act === "withdraw" ? {} : { comment }),
      ...(act === "judge" ? { verdict } : {}),
      ...(act === "silence" ? { endsAt: new Date(untilMs).toISOString() } : {}),
    };
    const headers = by === "dana" ? { authorization: `Bearer ${danaToken}` } : {};
    const request = { method, url, headers, ...(Object.keys(body).length === 0 ? {} : { body }) };
    const before = this.#observer()?.happened;
    const foreseen = isForeseen ? await this.#ask({ ...request, url: `${url}?dryRun=true` }) : null;
    this.#observer()?.saying(saying);
    const answer = await this.#ask(request);
    // What is said happens, too.
    if (foreseen !== null && this.#observer()?.happened === (before ?? 0) + 1)
      this.#observer()?.foreseen(saying, foreseen, answer);
    this.#observer()?.said(saying, outcomeOf(answer, incident !== null));
  }

  async #look(number: number): Promise<SeenIncident | null> {
    const { status, body } = await this.#ask({ method: "GET", url: `/api/v1/incidents/${number}` });
    if (status !== 200) return null;
    const incident = JSON.parse(body) as SeenIncident;
    this.#observer()?.looked(incident);
    return incident;
  }

  /** The firing alert of the organization, else that of the next organization with one. */
  async #firing(slug: string): Promise<SeenAlert | undefined> {
    const { status, body } = await this.#ask({ method: "GET", url: "/api/v1/alerts" });
    if (status !== 200) return undefined;
    const { alerts } = JSON.parse(body) as { readonly alerts: readonly SeenAlert[] };
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

function outcomeOf({ status, body }: Answer, isOfIncident: boolean): Outcome {
  if (status < 0) return "away";
  const done = isDone(status);
  if (done === null) return "lost";
  if (!done) return "refused";
  return isOfIncident ? (JSON.parse(body) as ActAnswer) : "done";
}

/** null: also when the answer was lost with the process, or is a 500, it may have been stored. */
function isDone(status: number): boolean | null {
  if (status === 200 || status === 201) return true;
  return status === 0 || status >= 500 ? null : false;
}
