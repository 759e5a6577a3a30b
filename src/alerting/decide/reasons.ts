/**
 * Every reason for which an alert changes or stays, with its meaning; in the payload, the log, the history and
 * docs/notifications.md.
 */
export const reasonMeanings = {
  for_running: "not ok, but not yet for the length of `for`",
  baseline_incomplete:
    "not ok, but less than `minBaselineCoverage` of the baseline lies after the first stored event, " +
    "or fewer than 3 days of a median",
  not_ok: "not ok, and `for` is 0s: it fires at once",
  for_elapsed: "not ok without a break for at least `for`: it fires",
  severity_rose: "it fires and has become worse",
  severity_fell: "it fires and has become better, but not ok",
  still_not_ok: "it fires and is as bad as before",
  second_opinion: "the verifier has given its second opinion on some of the dead assets of its incident",
  excess_stopped: "it fires until its deaths have left the window, but no more than usual come since",
  cleared_before_firing: "ok again before it fired: it is forgotten",
  keep_firing_for_running: "ok, but not yet for the length of `keepFiringFor`: it still fires",
  back_to_ok: "ok, and `keepFiringFor` is 0s: it is resolved",
  keep_firing_for_elapsed: "ok without a break for at least `keepFiringFor`: it is resolved",
  run_failed: "a run without a result, fewer than `unknownAfter` in a row",
  unknown_after_reached: "`unknownAfter` runs in a row gave no result: the alert of kind unknown fires",
  still_unknown: "the alert of kind unknown fires, and a further run gave no result",
  result_returned: "a run gave a result again: the alert of kind unknown has recovered",
  result_returned_early: "a run gave a result before `unknownAfter` was reached: the failed runs are forgotten",
  organization_removed: "the organization is no longer in the configuration",
  check_removed: "the check is switched off for the organization",
  acknowledged: "it is acknowledged: no reminders and no escalation until it is resolved or worse",
  unacknowledged: "the acknowledgement was withdrawn",
  commented: "somebody has commented on it",
  judged_checker: "it was judged: the checker was wrong",
  judged_real: "it was judged: these assets did die",
  judged_expected: "it was judged: it was known beforehand",
  judgement_withdrawn: "its judgement was withdrawn",
  released_by_hand: "the gate that it held is open: it was released by hand",
  released_by_judgement: "the gate that it held is open: it was judged",
  repeat_interval: "it still fires, and `repeatInterval` has elapsed since the last notification",
  not_delivered: "it still fires, and the message that told of it was given up",
  silence_ended: "a silence held it back, and it fires still, or with another severity",
  min_severity_reached: "it fired before, and has reached the receiver's `minSeverity` only now",
  receiver_added: "it fires, and a changed configuration sends it to this receiver only now",
  escalation: "it still fires, without an acknowledgement or judgement within the receiver's `after`",
  one_cause: "it was notified before, and is now part of the fleet verdict",
  resend: "it still fires, and the receiver forgets what is not repeated",
  test: "a test was requested",
} as const;

export type Reason = keyof typeof reasonMeanings;
