import { minuteMs } from "../../../src/base/time.ts";
import type { Config, OrganizationConfig } from "../../../src/config/config.ts";
import type { World } from "../world.ts";

// With its attempts.
export const longestRunMs = 2 * minuteMs;

/** What the parts of the oracle share: the world, and the configuration that is applied. */
export class Facts {
  readonly violations: string[] = [];
  readonly world: World;
  organizations: ReadonlyMap<string, OrganizationConfig> = new Map();
  /** When a configuration was applied last, by the monotonic clock. */
  configuredAtMs = -Infinity;
  /** Grows with everything that may change what the API answers. */
  happened = 0;

  constructor(world: World) {
    this.world = world;
  }

  get nowMs(): number {
    return this.world.clock.nowMs();
  }

  get monotonicMs(): number {
    return this.world.clock.monotonicMs();
  }

  /** Whether every run that a reload or a suspension amid it found under way has ended. */
  get isSettled(): boolean {
    const { upSinceMs, isReloading } = this.world;
    return this.monotonicMs - Math.max(this.configuredAtMs, upSinceMs ?? 0) > longestRunMs && !isReloading;
  }

  configured({ organizations }: Config): void {
    this.organizations = new Map(organizations.map((one) => [one.slug, one]));
    this.configuredAtMs = this.monotonicMs;
    this.happened++;
  }

  violate(what: string): void {
    this.violations.push(`${iso(this.nowMs)} ${what}`);
    this.world.trace(`VIOLATION ${what}`);
  }
}

export function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
