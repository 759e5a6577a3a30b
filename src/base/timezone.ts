import { FlatlineError } from "./errors.ts";
import { memoized } from "./memo.ts";

/** The offsets of one timezone of the IANA database. */
export type Timezone = Readonly<ReturnType<typeof createOffsets>> & { readonly name: string };

// More than the largest offset (UTC−12 to UTC+14, and Samoa's skipped day): a local time read as UTC is off by less.
const farthestOffsetMs = 26 * 3_600_000;
// The IANA database has some 600 names.
const mostZones = 1_000;

/** Case-insensitive. @throws FlatlineError invalid_config if the timezone does not exist */
export const timezoneOf = memoized(mostZones, createTimezone);

function createTimezone(name: string): Timezone {
  // Intl takes 20 ms to load the names, which most fleets never need.
  if (/^(?:etc\/)?utc$/i.test(name)) return { name: "UTC", ...createOffsets(() => 0) };
  const format = offsetFormat(name);
  return {
    name,
    ...createOffsets((atMs) => {
      const found = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(atMs));
      if (found?.[1] === undefined) return 0;
      const seconds = Number(found[2]) * 3_600 + Number(found[3]) * 60 + Number(found[4] ?? 0);
      return (found[1] === "-" ? -seconds : seconds) * 1_000;
    }),
  };
}

/** `offsetMs`: local time minus UTC at an instant. */
function createOffsets(offsetMs: (atMs: number) => number) {
  /** Returns the first change in (fromMs, toMs], at most a week, with one change at most; null: there is none. */
  function changeAtMs(fromMs: number, toMs: number): number | null {
    const before = offsetMs(fromMs);
    if (offsetMs(toMs) === before) return null;
    let lowMs = fromMs;
    let highMs = toMs;
    while (highMs - lowMs > 1) {
      const middleMs = Math.floor((lowMs + highMs) / 2);
      if (offsetMs(middleMs) === before) lowMs = middleMs;
      else highMs = middleMs;
    }
    return highMs;
  }

  return {
    offsetMs,
    changeAtMs,
    /**
     * Returns the instants of the local time `localMs` (written as if it were UTC). They differ if a change repeats the
     * time. If a change skips it, all three are the first instant after the gap; else `gapEndMs` is null.
     */
    instants: (localMs: number): Record<"earlierMs" | "laterMs", number> & { readonly gapEndMs: number | null } => {
      const before = offsetMs(localMs - farthestOffsetMs);
      const after = offsetMs(localMs + farthestOffsetMs);
      const found = [localMs - before, localMs - after].filter((atMs) => atMs + offsetMs(atMs) === localMs);
      if (found.length > 0) return { earlierMs: Math.min(...found), laterMs: Math.max(...found), gapEndMs: null };
      const gapEndMs = changeAtMs(localMs - farthestOffsetMs, localMs + farthestOffsetMs) ?? localMs - after;
      return { earlierMs: gapEndMs, laterMs: gapEndMs, gapEndMs };
    },
  };
}

function offsetFormat(name: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
  } catch (error) {
    throw new FlatlineError("invalid_config", `"${name}" is not a timezone of the IANA database`, { cause: error });
  }
}
