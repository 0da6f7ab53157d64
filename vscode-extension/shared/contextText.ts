/** What the editor shows, in words for the model and in a few words for a chip. Pure. */

export const MOST_PROBLEMS = 60;
const MOST_TERMINAL = 20_000;

export interface Problem {
  file: string;
  line: number;
  severity: "error" | "warning" | "information" | "hint";
  message: string;
  source: string;
}

export function problemsText(problems: readonly Problem[]): string {
  const lines = problems.slice(0, MOST_PROBLEMS).map(({ file, line, severity, message, source }) => {
    const first = message.trim().replace(/\s*\n\s*/g, " ");
    return `${file}:${line}: ${severity}: ${first}${source ? ` (${source})` : ""}`;
  });
  const left = problems.length - lines.length;
  return [...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join("\n");
}

/** "2 errors, 1 warning". */
export function problemsCount(problems: readonly Problem[]): string {
  const errors = problems.filter((each) => each.severity === "error").length;
  const others = problems.length - errors;
  return [errors ? counted(errors, "error") : "", others ? counted(others, "warning") : ""].filter(Boolean).join(", ") || "none";
}

/** "2 files, +3 −1", of a diff as git writes it. */
export function diffCount(diff: string): string {
  const lines = diff.split("\n");
  const files = lines.filter((line) => line.startsWith("diff --git ")).length;
  const added = lines.filter((line) => line.startsWith("+") && !line.startsWith("+++ ")).length;
  const removed = lines.filter((line) => line.startsWith("-") && !line.startsWith("--- ")).length;
  return files === 0 ? "no changes" : `${counted(files, "file")}, +${added} −${removed}`;
}

const ESCAPES = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[P^_][^\u001b]*\u001b\\|\u001b\[[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]/g;
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** A terminal's output as one reads it: no colours, and of a line that was written over its last state. */
export function terminalText(raw: string): string {
  const lines = raw
    .replace(ESCAPES, "")
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
    .map((line) => line.replace(CONTROLS, "").trimEnd());
  const text = lines.join("\n").trim();
  return text.length <= MOST_TERMINAL ? text : `…${text.slice(-MOST_TERMINAL)}`;
}

export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

export function lineCount(text: string): number {
  return text.split("\n").filter((line) => line.trim()).length;
}

/** `calc.py:3-9`; the name alone without lines. */
export function placeLabel(name: string, first?: number, last?: number): string {
  if (first === undefined) return name;
  return last === undefined || last === first ? `${name}:${first}` : `${name}:${first}-${last}`;
}
