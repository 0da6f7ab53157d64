/** What fills the context of a conversation and what it cost, as the chat shows it. */
import { count } from "../shared/content";
import type { ToView } from "../shared/bridge";
import type { ContextUsage, Cost } from "./protocol";

type Facts = Extract<ToView, { type: "facts" }>;

const CONTEXT_PARTS: Record<string, string> = { system: "System prompt", tools: "Tools", memory: "Memory files", messages: "Conversation", free: "Free" };

export function contextFacts(usage: ContextUsage): Facts {
  const rows = Object.entries(usage.tokens)
    .filter(([, tokens]) => tokens > 0)
    .map(([name, tokens]) => ({ label: CONTEXT_PARTS[name] ?? name, value: count(tokens), share: tokens / Math.max(1, usage.window) }));
  return {
    type: "facts",
    title: `Context: ${count(usage.used)} of ${count(usage.window)} tokens`,
    rows,
    note: `Compacts by itself at ${count(usage.autoCompactAt)} tokens; /compact does it now.`,
  };
}

export function costFacts(cost: Cost): Facts {
  const rows = cost.models.map((model) => ({ label: String(model["model"] ?? ""), value: `$${Number(model["costUsd"] ?? 0).toFixed(4)}` }));
  return { type: "facts", title: `Cost: $${cost.totalCostUsd.toFixed(4)}`, rows, note: `${Math.round(cost.cacheShare * 100)} % of the input came from the cache.` };
}
