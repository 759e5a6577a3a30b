/** Why rows of events are refused: labels of flatline_events_refused_total. */
export const refusals = [
  "seconds",
  "microseconds",
  "days",
  "date_as_number",
  "local_time",
  "null_time",
  "before_2000",
  "future",
  "null_id",
  "invalid",
] as const;
export type Refusal = (typeof refusals)[number];
