/** The status bar's words. Pure. */
import { money } from "../shared/content";

export interface Facts {
  server: "starting" | "ready" | "failed";
  title: string;
  waiting: number;
  running: number;
  compacting: boolean;
  hunks: number;
  /** Of the conversation in the chat. */
  costUsd: number;
  /** Of all conversations that this window follows. */
  totalUsd: number;
  offline: boolean;
  model: string;
}

export interface StatusWords {
  text: string;
  tooltip: string;
  spoken: string;
  command: string;
  alarm: "warning" | "error" | undefined;
}

export function statusText(facts: Facts): StatusWords {
  const cost = facts.costUsd > 0 ? ` ${money(facts.costUsd)}` : "";
  const others = facts.totalUsd > facts.costUsd ? `All conversations of this window: ${money(facts.totalUsd)}` : "";
  const model = facts.offline ? "offline stand-in" : facts.model;
  const tooltip = (line: string): string =>
    [line, facts.hunks ? `${facts.hunks} hunks to review` : "", model ? `Model: ${model}` : "", cost ? `Cost of this conversation:${cost}` : "", others].filter(Boolean).join("\n");
  if (facts.server === "failed") return words("$(error) Assent", facts.title, "assent.chat.focus", "error", facts.title);
  if (facts.server === "starting") return words("$(loading~spin) Assent", "Starting", "assent.chat.focus", undefined, "starting");
  if (facts.waiting > 0) return words(`$(bell-dot) Assent waits for you${cost}`, tooltip("Waiting for your answer"), "assent.showWaiting", "warning", "waiting for your answer");
  if (facts.compacting) return words(`$(loading~spin) Assent: compacting${cost}`, tooltip("Compacting the conversation"), "assent.chat.focus", undefined, "compacting");
  if (facts.running > 0) return words(`$(loading~spin) Assent: working${cost}`, tooltip("Working"), "assent.chat.focus", undefined, "working");
  if (facts.hunks > 0)
    return words(`$(diff) Assent: ${facts.hunks} to review${cost}`, tooltip("Edits wait for review"), "assent.review.next", undefined, `${facts.hunks} hunks to review`);
  return words(`$(sparkle) Assent${cost}`, tooltip("Ready"), "assent.chat.focus", undefined, "ready");
}

function words(text: string, tooltip: string, command: string, alarm: StatusWords["alarm"], spoken: string): StatusWords {
  return { text, tooltip, command, alarm, spoken: `Assent, ${spoken}` };
}
