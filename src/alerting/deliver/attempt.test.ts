import { describe, expect, it } from "vitest";

import { shortened } from "../notify/budget.ts";
import type { Notification } from "../notify/notification.ts";
import { testNotification } from "../notify/test-notification.ts";
import { sendOnce } from "./attempt.ts";
import type { DeliveryOutcome } from "./receiver.ts";

const notification = testNotification({ id: "n1", receiver: "ops", recipient: null, nowMs: 0, externalUrl: null });
const context = { signal: new AbortController().signal, nowMs: 0 };
const tooLarge: DeliveryOutcome = { kind: "rejected", error: "HTTP 413", isTooLarge: true };
const accepted: DeliveryOutcome = { kind: "accepted", detail: "HTTP 200" };
const down: DeliveryOutcome = { kind: "retry", error: "HTTP 503", retryAfterMs: 5_000 };

describe("a receiver that refuses what is too large", () => {
  it.each<{ readonly rule: string; readonly answers: readonly DeliveryOutcome[]; readonly outcome: DeliveryOutcome }>([
    {
      rule: "is sent less once, under the same id",
      answers: [tooLarge, accepted],
      outcome: { kind: "accepted", detail: "HTTP 200; shortened after HTTP 413" },
    },
    {
      rule: "and refuses less, too: that is the end",
      answers: [tooLarge, tooLarge],
      outcome: { ...tooLarge, error: "HTTP 413; shortened after HTTP 413" },
    },
    {
      rule: "and is down then: it is tried again",
      answers: [tooLarge, down],
      outcome: { ...down, error: "HTTP 503; shortened after HTTP 413" },
    },
    { rule: "and accepts this: it is sent nothing more", answers: [accepted], outcome: accepted },
    {
      rule: "and refuses this for another reason: it is sent nothing more",
      answers: [{ kind: "rejected", error: "HTTP 400" }],
      outcome: { kind: "rejected", error: "HTTP 400" },
    },
  ])("$rule", async ({ answers, outcome }) => {
    const sent: Notification[] = [];
    const deliver = async (given: Notification) =>
      answers[sent.push(given) - 1] ?? Promise.reject(new Error("one too many"));

    expect(await sendOnce({ deliver }, notification, context)).toEqual(outcome);
    expect(sent).toEqual([notification, shortened(notification)].slice(0, answers.length));
  });
});
