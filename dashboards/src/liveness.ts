import { dashedLine, fixedColor, plainColors, severityColors } from "./palette.ts";
import { series } from "./panels.ts";
import { overTime } from "./queries.ts";

/** Keys of the result of a check, by organization; `ofSlug` are the matchers of the organizations. */
function ofCheck(ofSlug: string, metric: string, check: string, keys: string): string {
  return `max by (slug, key) (${metric}{${ofSlug}, check="${check}", key=~"${keys}"})`;
}

/** Returns the panel of the deaths that were reversed. */
export function falseDeaths(ofSlug: string): ReturnType<typeof series> {
  return series({
    title: "False deaths",
    description:
      "Share of the deaths whose asset was found alive later: of the last 30 days, and as the check regret judges those that are old enough to tell, with its limits.",
    width: 12,
    height: 8,
    queries: [
      overTime(
        `max by (slug) (flatline_check_false_death_ratio{${ofSlug}, check="dead-asset-spike"})`,
        "30 days {{slug}}",
      ),
      overTime(ofCheck(ofSlug, "flatline_check_observed", "regret", "share|longShare"), "regret {{key}} {{slug}}"),
      overTime(ofCheck(ofSlug, "flatline_check_threshold", "regret", "warnAbove|failAbove"), "{{key}} {{slug}}"),
    ],
  })
    .unit("percentunit")
    .noValue("No death of a known asset, or the source is not the embedded one")
    .overrideByRegexp("/^warnAbove /", dashedLine(severityColors.warn))
    .overrideByRegexp("/^failAbove /", dashedLine(severityColors.fail));
}

/** Returns the panel of the assets that are known to be alive. */
export function sentinels(ofSlug: string): ReturnType<typeof series> {
  return series(
    {
      title: "Sentinels",
      description:
        "Assets that are known to be alive: how many there are, how many are called dead, and of how many no event is stored. One that is dead means that the checker is wrong.",
      width: 12,
      height: 8,
      queries: [
        overTime(ofCheck(ofSlug, "flatline_check_observed", "sentinel", "sentinels|dead|unseen"), "{{key}} {{slug}}"),
      ],
    },
    { isStepped: true },
  )
    .noValue("The check is off: see sentinel.assets")
    .overrideByRegexp("/^dead /", fixedColor(severityColors.fail));
}

/** Returns the panel of the time since the last event. */
export function silence(ofSlug: string): ReturnType<typeof series> {
  return series({
    title: "Event flow: silence",
    description: "How long ago the last liveness event came, of any status, and from when on that is a failure.",
    width: 12,
    height: 8,
    queries: [
      overTime(ofCheck(ofSlug, "flatline_check_observed", "event-flow", "silenceSeconds"), "silence {{slug}}"),
      overTime(ofCheck(ofSlug, "flatline_check_threshold", "event-flow", "maxSilenceSeconds"), "fail above {{slug}}"),
    ],
  })
    .unit("s")
    .noValue("The check is off: see eventFlow.enabled")
    .overrideByRegexp("/^fail above /", dashedLine(severityColors.fail));
}

/** Returns the panel of how many assets the checker looks at. */
export function coverage(ofSlug: string): ReturnType<typeof series> {
  return series({
    title: "Event flow: assets that were checked",
    description: "Different assets with an event in the last 24 hours, and how many are usual.",
    width: 12,
    height: 8,
    queries: [
      overTime(
        ofCheck(ofSlug, "flatline_check_observed", "event-flow", "checkedAssets|usualCheckedAssets"),
        "{{key}} {{slug}}",
      ),
    ],
  })
    .noValue("The check is off: see eventFlow.enabled")
    .overrideByRegexp("/^usual/", dashedLine(plainColors.expected));
}
