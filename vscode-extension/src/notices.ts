/**
 * When someone who looks elsewhere is told something, and in which words. Pure: what is in sight is asked for.
 */

export interface Sight {
  /** The editor's window has the focus. */
  focused(): boolean;
  /** A chat on the screen shows this session. */
  shown(sessionId: string): boolean;
  /** The user wants to hear of it. */
  wanted(what: "waiting" | "finished"): boolean;
  say(text: string, sessionId: string): void;
}

export interface Waiting {
  id: string;
  sessionId: string;
  text: string;
}

const LONGEST = 160;

export class Notices {
  private told = new Set<string>();

  constructor(private readonly sight: Sight) {}

  /** Everything that waits now. Each thing is told once, and not at all to someone who has it before their eyes. */
  waiting(all: Waiting[]): void {
    const before = this.told;
    this.told = new Set(all.map((each) => each.id));
    for (const { id, sessionId, text } of all) {
      if (before.has(id) || !this.sight.wanted("waiting")) continue;
      if (this.sight.focused() && this.sight.shown(sessionId)) continue;
      this.sight.say(short(text), sessionId);
    }
  }

  /** A turn has ended. Only someone in another window hears of it: in this one the status bar says it. */
  finished(sessionId: string, title: string, isError: boolean): void {
    if (!this.sight.wanted("finished") || this.sight.focused()) return;
    const named = title ? ` “${title}”` : "";
    this.sight.say(short(isError ? `Assent stopped with a problem${named}.` : `Assent has finished${named}.`), sessionId);
  }
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 3)}…` : line;
}
