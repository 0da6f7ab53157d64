/** What happened to a conversation on its way to the views: sent together, about once a frame. */
import type { Action } from "../shared/items";

const FRAME_MS = 16;
const PAUSE_MS = 1000;

export class ActionBatch {
  private actions: Action[] = [];
  private timer: NodeJS.Timeout | undefined;
  /** Something waits that people have to see. */
  private pressing = false;

  constructor(private readonly send: (actions: Action[]) => void) {}

  /** Where hunks moved to is told at every key, and no view shows it: it goes along with something else, or when the typing pauses. */
  add(action: Action): void {
    this.actions.push(action);
    if (this.pressing) return;
    clearTimeout(this.timer);
    this.pressing = !(action.type === "event" && action.params.event.type === "editMoved");
    this.timer = setTimeout(() => this.flush(), this.pressing ? FRAME_MS : PAUSE_MS);
  }

  flush(): void {
    const actions = this.actions;
    this.drop();
    if (actions.length > 0) this.send(actions);
  }

  drop(): void {
    clearTimeout(this.timer);
    this.pressing = false;
    this.actions = [];
  }
}
