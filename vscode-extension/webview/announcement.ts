/** What screen readers are told at the end of a turn: the answer, once and whole, not each piece of it as it comes. */
import type { Item } from "../shared/items";

const SPOKEN_MOST = 600;

export function finishedWords(items: readonly Item[], failed: boolean): string {
  if (failed) return "Assent stopped with a problem";
  const start = items.findLastIndex((item) => item.kind === "user");
  const answer = items.slice(start + 1).findLast((item) => item.kind === "text");
  if (answer?.kind !== "text" || !answer.text.trim()) return "Assent has finished";
  // Code is looked at, not listened to; the marks of the markup are noise.
  const words = answer.text
    .replace(/^(`{3,}|~{3,})[^]*?^\1/gm, " (code) ")
    .replace(/[*_`#>]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return `Assent: ${words.length > SPOKEN_MOST ? `${words.slice(0, SPOKEN_MOST)}…` : words}`;
}
