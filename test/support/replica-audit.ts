import { Client } from "pg";

/** What a database saw of its replicas, written by the database itself: no replica can leave anything out. */
export interface ReplicaAudit {
  /** What must never be, in words. */
  violations(): Promise<readonly string[]>;
  /** How often a check was claimed again because a lease had run out. */
  lostLeases(): Promise<number>;
  /** Runs that were begun so far. */
  claims(): Promise<number>;
  /**
   * How long ago the organization was checked that waits longest, by the database's clock, ms; less `perLossMs` for each lease
   * on it that was lost since.
   */
  oldestRunAgeMs(perLossMs?: number): Promise<number>;
  /** Alert changes that were stored, as `ALERT EVENT`, in order for each alert. */
  alertEvents(): Promise<readonly string[]>;
  /** Alerts that live, changes of which nobody was told, and notifications that are under way. */
  unfinished(): Promise<number>;
  close(): Promise<void>;
}

// A due time is over with its first recorded run, which moves it on; only a lease that has run out gives it to somebody else.
const triggers = `
create table audit (what text not null, slug text not null, fence bigint not null,
  at_ms bigint not null default extract(epoch from statement_timestamp()) * 1000);
create index on audit (slug, at_ms);
create function audit_claim() returns trigger language plpgsql as $$ begin
  insert into audit (what, slug, fence) values (case when old.lease_until_ms > extract(epoch from statement_timestamp()) * 1000
    then 'claimed while leased' else 'lease lost' end, new.slug, new.fence);
  return null;
end $$;
create trigger audit_claim after update on checks for each row
  when (new.fence <> old.fence and old.lease_owner is not null) execute function audit_claim();
create function audit_run() returns trigger language plpgsql as $$ begin
  insert into audit (what, slug, fence) values ('recorded twice', new.slug, new.fence);
  return null;
end $$;
create trigger audit_run after update on checks for each row
  when (new.last_run_at_ms is distinct from old.last_run_at_ms
    and (old.lease_owner is null or new.fence <> old.fence or new.next_due_at_ms <= old.next_due_at_ms))
  execute function audit_run();`;

/** Begins to watch the database at `url`, which has flatline's tables. Its connection may be cut: it takes another. */
export async function startAudit(url: string): Promise<ReplicaAudit> {
  let client = await connect();

  async function connect(): Promise<Client> {
    const made = new Client({ connectionString: url });
    made.on("error", () => undefined);
    await made.connect();
    return made;
  }

  async function rows<Row>(statement: string): Promise<Row[]> {
    try {
      return (await client.query(statement)).rows as Row[];
    } catch {
      await client.end().catch(() => undefined);
      client = await connect();
      return (await client.query(statement)).rows as Row[];
    }
  }

  async function number(statement: string): Promise<number> {
    const [row] = await rows<{ readonly number: string | number | null }>(statement);
    return Number(row?.number ?? 0);
  }

  await client.query(triggers);
  return {
    violations: async () => {
      const found = await rows<{ what: string; slug: string; fence: string }>(
        "select * from audit where what <> 'lease lost'",
      );
      return found.map(({ what, slug, fence }) => `${what}: ${slug} (fence ${fence})`);
    },
    lostLeases: () => number("select count(*) as number from audit where what = 'lease lost'"),
    claims: () => number("select sum(fence) as number from checks"),
    oldestRunAgeMs: (perLossMs = 0) =>
      number(`select max(extract(epoch from clock_timestamp()) * 1000 - coalesce(last_run_at_ms, 0) - ${perLossMs} *
        (select count(*) from audit where audit.slug = checks.slug and at_ms >= coalesce(last_run_at_ms, 0))) as number
        from checks`),
    alertEvents: async () => {
      const found = await rows<{ alert_id: string; event: string }>(
        "select alert_id, event from alert_history order by alert_id, entry_id",
      );
      return found.map(({ alert_id, event }) => `${alert_id} ${event}`);
    },
    unfinished: () =>
      number(`select (select count(*) from alerts) + (select count(*) from alert_changes where is_settled = 0)
        + (select count(*) from outbox) as number`),
    close: () => client.end(),
  };
}
