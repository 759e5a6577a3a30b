import type { DatabaseSync, StatementSync } from "node:sqlite";

import { deadStatusId } from "../sqlite/writer.ts";

/** Deaths at fromMs ≤ at < toMs that must be added to the sums from `start` on, by type. */
export interface SumEdge {
  readonly slugId: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly start: number;
  /** Position of each type in the sums. */
  readonly types: ReadonlyMap<number, number>;
}

const firstNumbers = 4_096;

/** The sums of the queries that are being answered, and the partial minutes to be read for them. */
export class SumScratch {
  sums = new Float64Array(firstNumbers);
  #length = 0;
  #edges: SumEdge[] = [];

  /** Reserves space for `count` sums and returns its start. `sums` may be another array afterwards. */
  take(count: number): number {
    const start = this.#length;
    this.#length += count;
    if (this.#length > this.sums.length) {
      const larger = new Float64Array(this.#length * 2);
      larger.set(this.sums);
      this.sums = larger;
    }
    return start;
  }

  addEdge(edge: SumEdge): void {
    this.#edges.push(edge);
  }

  /** Adds the deaths of the partial minutes to the sums. */
  readEdges(reader: EdgeReader): void {
    if (this.#edges.length === 0) return;
    for (const [index, typeId, count] of reader.read(this.#edges)) {
      const edge = this.#edges[index];
      if (edge === undefined) continue;
      const place = edge.start + (edge.types.get(typeId) ?? 0);
      this.sums[place] = (this.sums[place] ?? 0) + count;
    }
  }

  clear(): void {
    this.#length = 0;
    this.#edges = [];
  }
}

/** Reads single deaths for many organizations in one statement, at a quarter of the cost of one statement each (2026-11). */
export class EdgeReader {
  readonly #statement: StatementSync;

  constructor(db: DatabaseSync) {
    // CROSS JOIN: SQLite does not reorder it, so each edge is looked up by the primary key.
    this.#statement = db.prepare(`
      SELECT asked.key, type_id, count
      FROM json_each(?) AS asked
      CROSS JOIN events ON slug_id = asked.value ->> 0 AND at_ms >= asked.value ->> 1 AND at_ms < asked.value ->> 2
      WHERE status_id = ${deadStatusId}`);
    this.#statement.setReturnArrays(true);
  }

  /** Returns triples of the edge's index, the type and the number of deaths. */
  read(edges: readonly SumEdge[]): readonly (readonly [number, number, number])[] {
    const asked = edges.map(({ slugId, fromMs, toMs }) => `[${slugId},${fromMs},${toMs}]`);
    return this.#statement.all(`[${asked.join(",")}]`) as unknown as readonly (readonly [number, number, number])[];
  }
}
