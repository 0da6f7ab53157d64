/** The words of the suggestions in an empty chat. Pure. */
import type { Idea } from "./bridge";

export interface Here {
  /** A file to explain, as one names it in the workspace. */
  file?: string;
  /** It is the one in the editor. */
  open?: boolean;
  errors?: number;
  undocumented?: { name: string; file: string };
}

/** The stand-in follows fixed phrases, so it is offered only those; each shows another part of what Assent does. */
export function ideasFor(here: Here, offline: boolean): Idea[] {
  if (offline) {
    return [
      ...(here.file ? [{ icon: "book", text: `Explain ${quoted(here.file)}` }] : []),
      ...(here.undocumented ? [{ icon: "diff", text: `Add a docstring to ${here.undocumented.name} in ${quoted(here.undocumented.file)}` }] : []),
      { icon: "beaker", text: "Run the tests" },
      { icon: "question", text: "Ask me" },
    ].slice(0, 3);
  }
  return [
    { icon: "search", text: here.open && here.file ? `Explain how ${here.file} works` : "Explain how this project is put together" },
    here.errors
      ? { icon: "bug", text: `Fix the ${here.errors === 1 ? "error" : `${here.errors} errors`} in ${here.file ?? "the open file"}` }
      : { icon: "checklist", text: "Look for a bug, and tell me before you change anything" },
    { icon: "beaker", text: "Find a function without tests and write them" },
  ];
}

function quoted(file: string): string {
  return /\s/.test(file) ? `"${file}"` : file;
}
