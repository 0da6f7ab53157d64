/** The names of keys as the user's own keyboard has them. Pure. */

const MAC: Record<string, string> = { Ctrl: "⌘", Alt: "⌥", Shift: "⇧", Enter: "⏎", Backspace: "⌫" };

/** `Ctrl+Alt+Enter`, and `⌘⌥⏎` on a Mac, where our keys are bound to Command. */
export function keyLabel(keys: string, platform = window.navigator.platform): string {
  if (!/^Mac/i.test(platform)) return keys;
  return keys
    .split("+")
    .map((key) => MAC[key] ?? key)
    .join("");
}
