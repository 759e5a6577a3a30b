/** What is asked for: the query of the URL. */
export interface AlertsQuery {
  readonly text: string;
  /** How far back alerts that ended are shown, days. */
  readonly days: number;
  readonly page: number;
}

/** Reads `?q=&days=&page=`. */
export function readAlertsQuery(params: URLSearchParams, retentionDays: number): AlertsQuery {
  const days = Number(params.get("days") ?? retentionDays);
  return {
    text: params.get("q") ?? "",
    days: rangesOf(retentionDays).includes(days) ? days : retentionDays,
    page: Math.max(1, Math.trunc(Number(params.get("page") ?? 1)) || 1),
  };
}

/** Returns the address of a query; what is the default is left out. */
export function writeAlertsQuery({ text, days, page }: AlertsQuery, retentionDays: number): string {
  const params = [
    text === "" ? "" : `q=${encodeURIComponent(text.toWellFormed())}`,
    days === retentionDays ? "" : `days=${days}`,
    page === 1 ? "" : `page=${page}`,
  ].filter(Boolean);
  return params.length === 0 ? "/alerts" : `/alerts?${params.join("&")}`;
}

/** Returns how far back one may look, days. */
export function rangesOf(retentionDays: number): number[] {
  return [...[1, 7].filter((days) => days < retentionDays), retentionDays];
}
