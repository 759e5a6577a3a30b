import { dayMs, hourMs, minuteMs, secondMs } from "../../src/base/time.ts";
import { createNight, type Night, type NightOptions } from "./night.ts";
import { death } from "./store/event-store.ts";

type NightStep = (night: Night) => Promise<void>;

/** A night that is told in steps. */
export interface NightScript {
  /** Of its golden file, and what happens in it. */
  readonly name: string;
  readonly what: string;
  readonly open: (options: Pick<NightOptions, "engine">) => Promise<Night>;
  readonly steps: readonly NightStep[];
}

const eveningMs = Date.parse("2026-11-23T21:32:00.000Z");
const nightMs = Date.parse("2026-11-25T02:07:30.000Z");
// Between two runs of `*/5`, of which each round takes some.
const scheduleMs = 5 * minuteMs;
const roundMs = 30 * secondMs;

/** A round of everybody, up to the next one. */
async function pass(night: Night, everyMs = scheduleMs): Promise<void> {
  await night.round(roundMs);
  await night.world.advance(everyMs - roundMs);
}

/** Of the first organizations of a fleet the platform counts a spike: two of three fail, one warns. */
function spiking(night: Night, share: number): void {
  night.answer = (slug) => {
    const index = night.slugs.indexOf(slug);
    const isBroken = index < night.slugs.length * share;
    return { deaths: isBroken ? (index % 3 === 2 ? 32 : 60 + index) : 10 };
  };
}

async function acknowledge(night: Night): Promise<void> {
  const comment = "rolled back in eu-1, waiting for the rescan";
  await night.world.actOn(await night.incident(), { kind: "acknowledge", comment });
  await night.world.settle();
}

async function judge(night: Night): Promise<void> {
  await night.world.actOn(await night.incident(), { kind: "judge", verdict: "checker", comment: "a captcha of eu-1" });
  await night.world.settle();
}

const manyRemote: NightScript = {
  name: "remote",
  what: "120 of 300 organizations of a platform that is asked over HTTP begin to spike within 10 minutes",
  open: (options) => createNight({ ...options, organizations: 300, source: "remote", startsAtMs: eveningMs }),
  steps: [
    // All are calm.
    pass,
    // Half of them spike.
    async (night) => {
      spiking(night, 0.2);
      await pass(night);
    },
    // All of them do.
    async (night) => {
      spiking(night, 0.4);
      await pass(night);
    },
    // Kim has it.
    acknowledge,
    // A day later all are calm.
    async (night) => {
      spiking(night, 0);
      await night.world.advance(dayMs);
      await pass(night);
    },
    // Kim judges it.
    judge,
  ],
};

const unreachable: NightScript = {
  name: "unreachable",
  what: "the platform answers 503 for ten minutes, for all of 300 organizations",
  open: (options) => createNight({ ...options, organizations: 300, source: "remote", startsAtMs: nightMs }),
  steps: [
    // It answers.
    (night) => ask(night),
    // It is down.
    (night) => down(night, 3),
    // It stays so.
    (night) => down(night, 1),
    // It answers again.
    async (night) => {
      night.answer = () => ({ deaths: 10 });
      await ask(night);
    },
  ],
};

/** A round all at once, up to the next one. */
async function ask(night: Night): Promise<void> {
  await night.round();
  await night.world.advance(150 * secondMs);
}

async function down(night: Night, rounds: number): Promise<void> {
  night.answer = () => ({ status: 503 });
  for (let count = 0; count < rounds; count++) await ask(night);
}

const embedded: NightScript = {
  name: "embedded",
  what: "9 of 25 organizations spike, of whose deaths flatline has the events: they share reason=captcha_page",
  open: async (options) => {
    const night = await createNight({ ...options, organizations: 25, source: "embedded", startsAtMs: eveningMs });
    const common = { createdBy: null, note: null, createdAtMs: eveningMs, slug: null };
    await night.world.store.markers.add({ ...common, id: "1", text: "captcha rollout eu-1", atMs: eveningMs });
    await addDeaths(night, { spiking: 9, everyMs: 5 * secondMs });
    return night;
  },
  steps: [
    // All are calm.
    pass,
    // Nine spike.
    async (night) => {
      for (let rounds = 0; rounds < 3; rounds++) await pass(night);
    },
    // Kim has it.
    acknowledge,
    // The deaths have left the window.
    async (night) => {
      await night.world.advance(dayMs);
      await pass(night);
    },
    // Kim judges it.
    judge,
  ],
};

const mended: NightScript = {
  name: "mended",
  what: "the checker of 4 organizations is mended after half an hour, and their alerts fire for as long as the window has its deaths",
  open: async (options) => {
    const night = await createNight({ ...options, organizations: 9, source: "embedded", startsAtMs: eveningMs });
    await addDeaths(night, { spiking: 4, everyMs: 20 * secondMs });
    return night;
  },
  steps: [
    // All are calm.
    pass,
    // Four spike for half an hour.
    async (night) => {
      for (let rounds = 0; rounds < 6; rounds++) await pass(night);
    },
    // The excess has stopped.
    async (night) => {
      // The longest pause of the week before was of two hours.
      await night.world.advance(3 * hourMs);
      await pass(night, 2 * hourMs);
    },
    // Kim has it.
    acknowledge,
    // The deaths have left the window.
    async (night) => {
      await pass(night, 20 * hourMs);
      await pass(night);
    },
  ],
};

/** Some deaths an hour for eight days, of which 5 % have the reason that most of 60 and more share from 21:37 on. */
async function addDeaths(
  { world, slugs }: Night,
  { spiking: count, everyMs }: { readonly spiking: number; readonly everyMs: number },
): Promise<void> {
  const died = (atMs: number, slug: string, index: number, reason: string) =>
    death(atMs, slug, {
      assetType: index % 4 === 0 ? "EMAIL" : "URL",
      asset: `https://${slug}-${atMs}.example/`,
      attributes: { reason },
    });
  const usual = slugs.flatMap((slug) =>
    Array.from({ length: 8 * 12 }, (_, index) =>
      died(eveningMs - (2 * index + 1.97) * hourMs, slug, index, index % 20 === 0 ? "captcha_page" : "dns"),
    ),
  );
  const excess = slugs
    .slice(0, count)
    .flatMap((slug, more) =>
      Array.from({ length: 60 + 10 * more }, (_, index) =>
        died(eveningMs + scheduleMs + index * everyMs, slug, index, index % 7 === 0 ? "dns" : "captcha_page"),
      ),
    );
  await world.store.events.add([...usual, ...excess]);
}

/** The nights that the receivers' texts are judged by. */
export const nights: readonly NightScript[] = [manyRemote, unreachable, embedded, mended];
