const backKey = "flatline-back";

/** Where the reader stands in a list that scripts draw: the browser cannot restore what is not there yet. */
export interface Place {
  /** Once the list is drawn: goes to where the reader was, if this is a way back. */
  restore(): void;
}

/** Keeps the place of this address in the tab, while `isShown`. */
export function startPlace(isShown: () => boolean): Place {
  const keep = (): void => {
    if (isShown()) sessionStorage.setItem(keyOf(), String(Math.round(scrollY)));
  };
  addEventListener("scroll", keep, { passive: true });
  let isBack = sessionStorage.getItem(backKey) !== null || navigationType() === "back_forward";
  sessionStorage.removeItem(backKey);
  const placeY = Number(sessionStorage.getItem(keyOf()) ?? 0);
  return {
    restore: () => {
      if (isBack && placeY > 0) scrollTo(0, placeY);
      isBack = false;
    },
  };
}

/** Notes that the page is loaded again as the reader goes back to it. */
export function noteBack(): void {
  sessionStorage.setItem(backKey, "yes");
}

function keyOf(): string {
  return `flatline-place ${location.pathname}${location.search}`;
}

function navigationType(): string {
  const [entry] = performance.getEntriesByType("navigation");
  return entry !== undefined && "type" in entry ? String(entry.type) : "";
}
