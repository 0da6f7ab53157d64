/** Where the user writes: text, mentions, images, completion of @ and /, and the send and stop buttons. */
import type { ChatCompletion, Draft, MentionChip } from "../shared/bridge";
import { h, icon, iconButton } from "./dom";
import { keyLabel } from "./keys";

export interface ComposerHost {
  send(draft: Draft, steer: boolean): void;
  stop(): void;
  complete(requestId: number, text: string, offset: number): void;
  dropped(uris: string[]): void;
  attach(): void;
  draft(draft: Draft): void;
  cancelEdit(): void;
}

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const STEER = keyLabel("Ctrl+Enter");
const IMAGE_LIMIT = 5 * 1024 * 1024;

/** By the kind of a completion or a chip. */
const ICONS: Record<string, string> = {
  command: "terminal-cmd",
  folder: "folder",
  agent: "robot",
  symbol: "symbol-method",
  warning: "warning",
  terminal: "terminal",
  git: "git-compare",
  active: "eye",
};

export class Composer {
  readonly element: HTMLElement;
  private readonly input: HTMLTextAreaElement;
  private readonly chips: HTMLElement;
  private readonly popup: HTMLElement;
  private readonly sendButton: HTMLButtonElement;
  private readonly stopButton: HTMLButtonElement;
  private readonly hint: HTMLElement;
  private readonly box: HTMLElement;
  private readonly locked: HTMLElement;
  private readonly notes = h("div", { class: "notes" });
  private mentions: MentionChip[] = [];
  private images: string[] = [];
  /** The editor one looks at, and the file for which the user does not want it. */
  private active: MentionChip | null = null;
  private unwanted = "";
  private items: ChatCompletion[] = [];
  private chosen = 0;
  private request = 0;
  private running = false;
  private editing = false;
  sendWithEnter = true;

  constructor(
    private readonly host: ComposerHost,
    footer: HTMLElement,
  ) {
    this.input = h("textarea", {
      rows: 1,
      dir: "auto",
      class: "prompt",
      placeholder: "Ask or describe a change (@ context, / commands)",
      "aria-label": "Message to Assent",
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": "completions",
      "aria-autocomplete": "list",
    });
    this.chips = h("div", { class: "chips" });
    this.popup = h("ul", { class: "completions", id: "completions", role: "listbox", "aria-label": "Completions", hidden: true });
    this.sendButton = iconButton("send", "Send", () => this.submit(false), { class: "icon-button send" });
    this.stopButton = iconButton("debug-stop", "Stop", () => this.host.stop(), { class: "icon-button stop", hidden: true });
    const attach = iconButton("attach", "Attach files, problems, terminal output, changes…", () => this.host.attach(), { class: "icon-button attach" });
    this.hint = h("div", { class: "hint small", "aria-live": "polite" });
    this.box = h("div", { class: "box" }, this.chips, this.input, h("div", { class: "footer" }, attach, footer, h("span", { class: "spacer" }), this.stopButton, this.sendButton));
    this.locked = h("div", { class: "locked", hidden: true });
    this.element = h("div", { class: "composer" }, this.popup, this.hint, this.notes, this.box, this.locked);
    this.input.addEventListener("input", () => this.changed());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.input.addEventListener("paste", (event) => this.paste(event));
    window.addEventListener("resize", () => this.resize()); // narrower means more lines
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => this.drop(event));
    this.showState();
  }

  focus(): void {
    this.input.focus();
  }

  /** What the editor shows changes while one types there; it comes along unless the user takes it away. */
  look(chip: MentionChip | null): void {
    if (chip?.file !== this.unwanted) this.unwanted = "";
    if (JSON.stringify(chip) === JSON.stringify(this.active)) return;
    this.active = chip;
    this.drawChips();
  }

  /** A new chat: what was left out of the last one may be wanted again. */
  lookAgain(): void {
    this.unwanted = "";
    this.drawChips();
  }

  get draft(): Draft {
    return { text: this.input.value, images: this.images, mentions: this.mentions };
  }

  restore(draft: Draft): void {
    this.input.value = draft.text;
    this.images = draft.images;
    this.mentions = draft.mentions;
    this.drawChips();
    this.resize();
    this.showState();
  }

  /** Puts a note in the place of the box: nothing can be said here. The draft is kept. */
  lock(note: HTMLElement | null): void {
    this.input.disabled = note !== null;
    this.box.hidden = note !== null;
    this.locked.hidden = note === null;
    if (note?.textContent !== this.locked.textContent) this.locked.replaceChildren(...(note ? [note] : []));
  }

  /** A line over the box, about what a new conversation would be like. */
  note(note: HTMLElement | null): void {
    if (note?.textContent !== this.notes.textContent) this.notes.replaceChildren(...(note ? [note] : []));
  }

  insert(text: string, mentions: MentionChip[], replace: boolean, images: string[] = []): void {
    if (replace) this.input.value = text;
    else if (text) this.input.setRangeText(text, this.input.selectionStart, this.input.selectionEnd, "end");
    for (const mention of mentions) if (!this.mentions.some((each) => each.label === mention.label)) this.mentions.push(mention);
    this.images.push(...images);
    this.drawChips();
    this.resize();
    this.showState();
    this.host.draft(this.draft);
  }

  setRunning(running: boolean): void {
    if (running === this.running) return;
    this.running = running;
    this.showState();
  }

  setEditing(editing: boolean): void {
    this.editing = editing;
    this.showState();
  }

  showCompletions(requestId: number, items: ChatCompletion[]): void {
    if (requestId !== this.request) return;
    this.items = items.slice(0, 50);
    this.chosen = 0;
    this.drawCompletions();
  }

  private submit(steer: boolean): void {
    const draft = this.draft;
    if (!draft.text.trim() && draft.images.length === 0) return;
    this.close();
    // A command or a note for memory is taken as it stands; nothing else may come with it.
    const active = this.shownActive && !/^\s*[/#]/.test(draft.text) && !this.editing ? [this.shownActive] : [];
    this.host.send({ ...draft, mentions: [...draft.mentions, ...active] }, steer);
    this.restore({ text: "", images: [], mentions: [] });
    this.editing = false;
    this.showState();
    this.host.draft(this.draft);
  }

  private key(event: KeyboardEvent): void {
    if (!this.popup.hidden && this.items.length > 0) {
      const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
      const move = moves[event.key];
      if (move !== undefined) {
        event.preventDefault();
        this.chosen = (this.chosen + move + this.items.length) % this.items.length;
        this.drawCompletions();
        return;
      }
      const enter = event.key === "Enter" && !event.shiftKey && !event.isComposing;
      if (enter && !this.items[this.chosen]?.chip && this.items[this.chosen]?.insertText.trim() === this.word()) {
        this.close(); // it is written out already: Enter means the message
      } else if (event.key === "Tab" || enter) {
        event.preventDefault();
        this.accept(this.chosen, event.key === "Tab");
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        this.close();
        return;
      }
    }
    if (event.key === "Escape" && this.editing) {
      this.setEditing(false);
      this.restore({ text: "", images: [], mentions: [] });
      this.host.cancelEdit();
      return;
    }
    if (event.key === "Escape" && this.running) {
      this.host.stop();
      return;
    }
    if (event.key !== "Enter" || event.isComposing || event.shiftKey) return;
    const modified = event.ctrlKey || event.metaKey;
    if (this.running && modified) {
      event.preventDefault();
      this.submit(true);
    } else if (modified || this.sendWithEnter) {
      event.preventDefault();
      this.submit(false);
    }
  }

  private changed(): void {
    this.resize();
    this.showState();
    this.host.draft(this.draft);
    const before = this.input.value.slice(0, this.input.selectionStart);
    if (/(^|\s)@[^\s@]*$/.test(before) || /^\/[\w:-]*$/.test(before)) {
      this.request += 1;
      this.host.complete(this.request, this.input.value, this.input.selectionStart);
    } else {
      this.close();
    }
  }

  /** Takes a completion. `deeper`: into a folder, to go on completing there; else the folder itself is meant. */
  private accept(at: number, deeper = false): void {
    const item = this.items[at];
    if (!item) return;
    const word = this.word();
    if (item.chip) {
      this.input.setRangeText("", this.input.selectionStart - word.length, this.input.selectionStart, "end");
      this.insert("", [item.chip], false);
      this.close();
      this.focus();
      return;
    }
    const text = item.more ? item.insertText : item.insertText.endsWith(" ") || (deeper && item.insertText.endsWith("/")) ? item.insertText : `${item.insertText} `;
    this.input.setRangeText(text, this.input.selectionStart - word.length, this.input.selectionStart, "end");
    this.close();
    this.changed();
    this.focus();
  }

  /** What is being completed: the @ or / and what follows, up to the cursor. */
  private word(): string {
    return /(?:^|\s)([@/][^\s]*)$/.exec(this.input.value.slice(0, this.input.selectionStart))?.[1] ?? "";
  }

  private drawCompletions(): void {
    this.popup.replaceChildren(
      ...this.items.map((item, at) => {
        const option = h(
          "li",
          { role: "option", id: `completion-${at}`, "aria-selected": String(at === this.chosen), class: at === this.chosen ? "chosen" : "" },
          icon(ICONS[item.kind] ?? "file"),
          h("span", { class: "label" }, item.label),
          h("span", { class: "detail" }, item.detail),
        );
        option.addEventListener("mousedown", (event) => {
          event.preventDefault();
          this.accept(at);
        });
        return option;
      }),
    );
    this.popup.hidden = this.items.length === 0;
    this.input.setAttribute("aria-expanded", String(!this.popup.hidden));
    if (this.popup.hidden) this.input.removeAttribute("aria-activedescendant");
    else this.input.setAttribute("aria-activedescendant", `completion-${this.chosen}`);
    this.popup.children[this.chosen]?.scrollIntoView({ block: "nearest" });
  }

  private close(): void {
    this.request += 1;
    this.items = [];
    this.drawCompletions();
  }

  private showState(): void {
    const empty = !this.input.value.trim() && this.images.length === 0;
    this.stopButton.hidden = !this.running;
    this.sendButton.hidden = this.running && empty;
    this.sendButton.disabled = empty;
    const label = this.running ? `Queue for after this turn (${STEER}: steer now)` : "Send";
    this.sendButton.setAttribute("aria-label", label);
    this.sendButton.title = label;
    this.hint.textContent = this.editing
      ? "Editing an earlier message: sending rewinds the conversation to it. Esc to cancel."
      : this.running && !empty
        ? `Enter queues it, ${STEER} steers the running turn.`
        : "";
  }

  private drawChips(): void {
    const remove = (label: string, action: () => void): HTMLElement => iconButton("close", `Remove ${label}`, action);
    const redraw = (): void => {
      this.drawChips();
      this.showState();
      this.host.draft(this.draft);
    };
    const active = this.shownActive;
    this.chips.replaceChildren(
      ...(active ? [this.activeChip(active, redraw)] : []),
      ...this.mentions.map((mention) =>
        h(
          "span",
          { class: "chip" },
          icon(ICONS[mention.kind ?? ""] ?? (mention.uri.endsWith("/") ? "folder" : "file")),
          h("span", { class: "chip-label" }, mention.label),
          mention.adds ? h("span", { class: "adds" }, mention.adds) : null,
          remove(mention.label, () => ((this.mentions = this.mentions.filter((each) => each !== mention)), redraw())),
        ),
      ),
      ...this.images.map((image, at) =>
        h(
          "span",
          { class: "chip" },
          h("img", { src: image, alt: `attached image ${at + 1}` }),
          remove(`image ${at + 1}`, () => ((this.images = this.images.filter((each) => each !== image)), redraw())),
        ),
      ),
    );
  }

  /** Not where the same file or the same lines of it are attached already. */
  private get shownActive(): MentionChip | null {
    const active = this.active;
    if (!active || active.file === this.unwanted) return null;
    const same = (each: MentionChip): boolean => !each.range || (each.range.start.line === active.range?.start.line && each.range.end.line === active.range.end.line);
    return this.mentions.some((each) => each.uri === active.file && same(each)) ? null : active;
  }

  private activeChip(chip: MentionChip, redraw: () => void): HTMLElement {
    const whole = (): void => {
      this.mentions.push({ uri: chip.file ?? chip.uri, label: chip.label });
      redraw();
    };
    const forget = (): void => {
      this.unwanted = chip.file ?? "";
      redraw();
      this.focus();
    };
    return h(
      "span",
      { class: "chip active", title: "The editor you look at. It goes along with your message; the setting “Chat: Active Editor” turns this off." },
      icon("eye"),
      h("span", { class: "chip-label" }, chip.label),
      h("span", { class: "adds" }, chip.adds ?? ""),
      chip.range ? null : iconButton("add", `Attach all of ${chip.label}`, whole),
      iconButton("close", `Leave out ${chip.label}`, forget),
    );
  }

  private resize(): void {
    this.input.style.height = "auto";
    // Out of sight it has no height to go by.
    if (this.input.scrollHeight > 0) this.input.style.height = `${Math.min(this.input.scrollHeight, 240)}px`;
  }

  private paste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])].filter((file) => IMAGE_TYPES.has(file.type));
    if (files.length === 0) return;
    event.preventDefault();
    for (const file of files) this.addImage(file);
  }

  private drop(event: DragEvent): void {
    event.preventDefault();
    const data = event.dataTransfer;
    if (!data) return;
    for (const file of data.files) if (IMAGE_TYPES.has(file.type)) this.addImage(file);
    const list = data.getData("application/vnd.code.uri-list") || data.getData("text/uri-list");
    const uris = list.split(/\r?\n/).filter((line) => line && !line.startsWith("#"));
    if (uris.length) this.host.dropped(uris);
  }

  private addImage(file: File): void {
    if (file.size > IMAGE_LIMIT) {
      this.hint.textContent = `${file.name || "The image"} is larger than 5 MB and was not attached.`;
      return;
    }
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      this.images.push(String(reader.result));
      this.drawChips();
      this.showState();
      this.host.draft(this.draft);
    });
    reader.readAsDataURL(file);
  }
}
