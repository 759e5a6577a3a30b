import type { Actor } from "../../contract/actor.ts";
import { noteActNotice, releasedEntries } from "./act-notice.ts";
import { keepComment } from "./comment.ts";
import { changeGate } from "./gate-change.ts";
import type { ActContext } from "./judge.ts";

/** The author of a release: deaths may be acted on again. */
export interface ReleaseByHand {
  readonly slug: string;
  readonly author: Actor;
  readonly comment: string;
}

/** Releases the gate by hand: all that have failed by now hold no longer; what fails later holds again (CONTRACT 12). */
export async function releaseGate(
  { store, settings, nowMs }: ActContext,
  { slug, author, comment }: ReleaseByHand,
): Promise<void> {
  const { name: by } = author;
  await store.transaction(async (parts) => {
    const { opened } = await changeGate(parts, { slug, settings, by, comment, nowMs }, async () => {
      const held = (await parts.gate.failures(slug)).filter(({ releasedAtMs }) => releasedAtMs === null);
      await parts.alerts.release(
        held.map(({ alert }) => alert.id),
        nowMs,
      );
      await parts.gate.addRelease({ slug, atMs: nowMs, how: "released", alertId: null, by, comment });
    });
    for (const { alert } of opened)
      await keepComment(parts, { alertId: alert.id, slug, author, text: comment, nowMs, act: "release" });
    await noteActNotice(parts, { settings, slug, nowMs }, releasedEntries(opened, { by, comment }));
    await parts.audit.append({
      atMs: nowMs,
      actor: author,
      action: "release",
      slug,
      subject: null,
      detail: { comment },
    });
  });
}
