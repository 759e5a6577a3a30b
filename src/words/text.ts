import { cutText } from "../base/cut-text.ts";
import { formatCount } from "../base/numbers.ts";
import { blankUnseen } from "../base/unseen-text.ts";

/** Text of others on one line: well formed, without characters that act, spaces folded. */
export function plainText(text: string): string {
  return blankUnseen(text.toWellFormed()).replaceAll(/\s+/g, " ").trim();
}

/** How much of a list is shown. */
export interface ListBudget {
  readonly maxItems: number;
  readonly maxItemLength: number;
  /** Characters of all shown items together. */
  readonly maxLength: number;
  /** How many more there are than the list has [0]. */
  readonly omitted?: number;
}

/** Returns the first items that fit, each cut to its length, then `+N more` for the rest. At least one item is shown. */
export function cutList(items: readonly string[], budget: ListBudget): string[] {
  const shown: string[] = [];
  let length = 0;
  for (const item of items) {
    const cut = cutText(item, budget.maxItemLength);
    length += cut.length;
    const isOver = shown.length >= budget.maxItems || length > budget.maxLength;
    if (isOver && shown.length > 0) break;
    shown.push(cut);
  }
  const missing = items.length - shown.length + (budget.omitted ?? 0);
  return missing === 0 ? shown : [...shown, `+${formatCount(missing)} more`];
}
