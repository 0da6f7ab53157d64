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
const MOST_MISSED = 3;

export class Notices {
  private readonly told = new Set<string>();

  constructor(private readonly sight: Sight) {}

  /** Everything that waits now: said when something comes, and again whenever the user may have looked away. */
  waiting(all: Waiting[]): void {
    for (const id of this.told) if (!all.some((each) => each.id === id)) this.told.delete(id);
    for (const { id, sessionId, text } of all) {
      if (this.told.has(id) || !this.sight.wanted("waiting")) continue;
      // What is before someone's eyes counts as told only while it stays there.
      if (this.sight.focused() && this.sight.shown(sessionId)) continue;
      this.told.add(id);
      this.sight.say(short(text), sessionId);
    }
  }

  /** What went on while no window was open, each with its own sentence. More than a few are in the list of sessions. */
  missed(all: { sessionId: string; text?: string | null }[]): void {
    const unseen = all.filter(({ sessionId }) => this.sight.wanted("waiting") && !this.sight.shown(sessionId));
    for (const { sessionId, text } of unseen.slice(0, MOST_MISSED)) this.sight.say(short(text ?? "A session went on while no window was open."), sessionId);
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
