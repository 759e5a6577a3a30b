import type { Command } from "commander";

import { FlatlineError } from "../base/errors.ts";
import { formatCount } from "../base/numbers.ts";
import { suggest } from "../base/suggestions.ts";
import { withStore, type OpenedStore } from "./with-store.ts";
import type { Config } from "../config/config.ts";
import { actor } from "../contract/actor.ts";
import type { PartsDeps } from "../daemon/parts.ts";
import type { ForgottenRows } from "../store/forgetting.ts";
import type { Store } from "../store/store.ts";
import { loadFleetConfig } from "./command-config.ts";
import type { CliContext, RegisterCommand } from "./context.ts";
import { renderTable } from "./table.ts";
import { asJson } from "./values.ts";

interface ForgetFlags {
  readonly config?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `flatline forget SLUG --yes` */
export const registerForget: RegisterCommand = (program: Command, context: CliContext): void => {
  program
    .command("forget")
    .description("remove everything stored of an organization that is no longer configured")
    .argument("<slug>", "the organization")
    .option("--yes", "remove it; nothing brings it back")
    .option("-c, --config <file>", "configuration file")
    .option("--json", "print how many rows of each kind were removed")
    .addHelpText("after", help)
    .action(async (slug: string, flags: ForgetFlags) => {
      const { config, unlisted } = await loadFleetConfig(flags.config, context);
      if (unlisted.length > 0) {
        const message = `it is unknown whether ${JSON.stringify(slug)} is configured, because a discovery source was never read: nothing was removed`;
        throw new FlatlineError("unavailable", message);
      }
      const asked = { slug, user: context.userName(), isConfirmed: flags.yes === true };
      const removed = await forgetOrganization(config, context, asked);
      const rows = Object.entries(removed).map(([kind, count]) => [kind, formatCount(count)]);
      context.stdout.write(
        flags.json === true ? asJson(removed) : renderTable(["REMOVED", "ROWS"], rows, { right: ["ROWS"], context }),
      );
    });
};

const help = `
Works while a daemon runs. Take the organization out of the configuration and reload first. Keys that reach others too,
assets, which belong to no organization, and the audit stay; what is still to be delivered is delivered.

Example:
  flatline forget acme --yes
`;

// A few milliseconds of work; between two slices a daemon on the same store gets its turn.
const rowsPerSlice = 1_000;
const pauseMs = 5;

/**
 * Removes everything stored of an organization that is no longer configured, and answers what was removed (CONTRACT 12). A
 * slice at a time: what is interrupted goes on where it was. @throws usage where it is configured, nothing is stored of it, or
 * it is not confirmed
 */
async function forgetOrganization(
  config: Config,
  deps: PartsDeps & { readonly signal: AbortSignal },
  { slug, user, isConfirmed }: { readonly slug: string; readonly user: string; readonly isConfirmed: boolean },
): Promise<ForgottenRows> {
  if (config.organizations.some((organization) => organization.slug === slug)) {
    const message = `${JSON.stringify(slug)} is configured: take it out of ${config.file} and reload first`;
    throw new FlatlineError("usage", message);
  }
  const forget = async ({ store }: OpenedStore): Promise<ForgottenRows> => {
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
  };
  return withStore(config, deps, forget, { writes: isConfirmed });
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
