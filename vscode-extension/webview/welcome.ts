/** What an empty conversation shows: what this is, and a few things to try. */
import type { Surroundings } from "../shared/bridge";
import { h, icon, textButton } from "./dom";

export interface WelcomeHost {
  compose(text: string): void;
  run(command: string): void;
}

export class Welcome {
  readonly element: HTMLElement;
  private readonly ideas = h("div", { class: "ideas" });
  private drawn = "";

  constructor(private readonly host: WelcomeHost) {
    this.element = h(
      "div",
      { class: "welcome" },
      h("h2", {}, "What shall we build?"),
      h("p", {}, "Assent reads and edits this workspace, and asks before it changes anything. Every edit is shown in the editor, hunk by hunk."),
      this.ideas,
      h(
        "p",
        { class: "small" },
        textButton("Get started", "link", () => host.run("assent.openWalkthrough")),
        textButton("Move the chat to the other side bar…", "link", () => host.run("assent.moveChat")),
      ),
    );
  }

  draw(surroundings: Surroundings | null): void {
    const ideas = surroundings?.ideas ?? [];
    const now = JSON.stringify(ideas);
    if (now === this.drawn) return;
    this.drawn = now;
    this.ideas.replaceChildren(
      ...ideas.map((idea) => h("button", { type: "button", class: "idea", onclick: () => this.host.compose(idea.text) }, icon(idea.icon), h("span", {}, idea.text))),
    );
  }
}
