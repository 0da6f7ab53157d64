/** Making elements, briefly. Text always goes in as text; nothing here parses HTML. */

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as unknown as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/** A codicon; it says nothing to screen readers, its button's label does. */
export function icon(name: string): HTMLElement {
  return h("span", { class: `codicon codicon-${name}`, "aria-hidden": "true" });
}

export function iconButton(name: string, label: string, onclick: (event: MouseEvent) => void, extra: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...extra }, icon(name));
}

export function textButton(label: string, kind: "primary" | "secondary" | "link", onclick: (event: MouseEvent) => void, extra: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", class: `button ${kind}`, onclick, ...extra }, label);
}

const INVISIBLE =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|\udb40[\udc00-\udfff]/g;

/** Text that a decision rests on: characters that hide or reorder text are shown as their code points. */
export function revealed(text: string): string {
  return text.replace(INVISIBLE, (character) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
