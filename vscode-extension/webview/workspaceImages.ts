/** Images of the workspace in an answer: each is asked for once, and shown inside the link that opens it. */
import { h } from "./dom";

const DATA = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$/;

export class WorkspaceImages {
  private readonly known = new Map<string, string>();
  private readonly waiting = new Map<string, HTMLElement[]>();

  constructor(private readonly ask: (path: string) => void) {}

  show(link: HTMLElement, path: string): void {
    const data = this.known.get(path);
    if (data) return put(link, data);
    const others = this.waiting.get(path);
    if (others) return void others.push(link);
    this.waiting.set(path, [link]);
    this.ask(path);
  }

  loaded(path: string, data: string): void {
    if (!DATA.test(data)) return;
    this.known.set(path, data);
    for (const link of this.waiting.get(path) ?? []) put(link, data);
    this.waiting.delete(path);
  }
}

function put(link: HTMLElement, data: string): void {
  link.replaceChildren(h("img", { src: data, alt: link.textContent ?? "", class: "shot" }));
}
