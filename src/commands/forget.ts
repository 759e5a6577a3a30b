import { FlatlineError } from "../base/errors.ts";
import { suggest } from "../base/suggestions.ts";
import type { Config } from "../config/config.ts";
import { actor } from "../contract/actor.ts";
import type { PartsDeps } from "../daemon/parts.ts";
import type { ForgottenRows } from "../store/forgetting.ts";
import type { Store } from "../store/store.ts";
import { withStore } from "./with-store.ts";

// A few milliseconds of work; between two slices a daemon on the same store gets its turn.
const rowsPerSlice = 1_000;
const pauseMs = 5;

/**
 * Removes everything stored of an organization that is no longer configured, and answers what was removed (CONTRACT 12). A
 * slice at a time: what is interrupted goes on where it was. @throws usage where it is configured, nothing is stored of it, or
 * it is not confirmed
 */
export async function forgetOrganization(
  config: Config,
  deps: PartsDeps & { readonly signal: AbortSignal },
  { slug, user, isConfirmed }: { readonly slug: string; readonly user: string; readonly isConfirmed: boolean },
): Promise<ForgottenRows> {
  if (config.organizations.some((organization) => organization.slug === slug)) {
    const file = config.files[0] ?? "the configuration";
    throw new FlatlineError("usage", `${JSON.stringify(slug)} is configured: take it out of ${file} and reload first`);
  }
  return withStore(config, deps, async ({ store }) => {
    if (!isConfirmed) {
      const isKnown = (await store.events.slugs()).includes(slug) || (await store.forgetting.isStored(slug));
      if (!isKnown) throw await unknownSlug(store, slug);
      const message = `forget removes events, history, alerts, silences, markers, keys and API v2's records of ${JSON.stringify(slug)} for good: nothing was removed; --yes removes them`;
      throw new FlatlineError("usage", message);
    }
    let removed: ForgottenRows = { events: 0, history: 0, alerts: 0, silences: 0, markers: 0, keys: 0, records: 0 };
    const pause = async (): Promise<void> => {
      await deps.clock.sleep(pauseMs, deps.signal);
      if (deps.signal.aborted) throw new FlatlineError("unavailable", "stopped; run it again to remove the rest");
    };
    for (let hasMore = true; hasMore;) {
      const slice = await store.events.forget(slug, rowsPerSlice);
      removed = { ...removed, events: removed.events + slice.removed };
      hasMore = slice.hasMore;
      if (hasMore) await pause();
    }
    for (let hasMore = true; hasMore;) {
      const before = removed;
      const step = await store.transaction(async (parts) => {
        const slice = await parts.forgetting.forget(slug, rowsPerSlice);
        const total = addRows(before, slice.removed);
        if (!slice.hasMore && !isNothing(total)) {
          const act = { actor: actor(user, "cli"), action: "forget", slug, subject: null, detail: total } as const;
          await parts.audit.append({ atMs: deps.clock.nowMs(), ...act });
        }
        return { total, hasMore: slice.hasMore };
      });
      removed = step.total;
      hasMore = step.hasMore;
      if (hasMore) await pause();
    }
    if (isNothing(removed)) throw await unknownSlug(store, slug);
    return removed;
  });
}

function addRows(left: ForgottenRows, right: ForgottenRows): ForgottenRows {
  return {
    events: left.events + right.events,
    history: left.history + right.history,
    alerts: left.alerts + right.alerts,
    silences: left.silences + right.silences,
    markers: left.markers + right.markers,
    keys: left.keys + right.keys,
    records: left.records + right.records,
  };
}

function isNothing(rows: ForgottenRows): boolean {
  return Object.values(rows).every((count) => count === 0);
}

async function unknownSlug({ events, platform }: Store, slug: string): Promise<FlatlineError> {
  const known = [...(await events.slugs()), ...(await platform.organizations.slugs())];
  return new FlatlineError("usage", `nothing is stored of ${JSON.stringify(slug)}${suggest(slug, known)}`);
}
