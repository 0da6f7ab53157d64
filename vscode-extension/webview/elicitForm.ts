/** A question to the user as a form: choices, a JSON schema's fields, or an address to open. */
import type { Elicit, ElicitAnswer, Json, Question } from "../src/protocol";
import { h, icon, revealed, textButton } from "./dom";
import { renderMarkdown } from "./markdown";

export interface ElicitHost {
  answer(elicitId: string, answer: ElicitAnswer): void;
  openLink(link: string): void;
}

export function elicitForm(elicit: Elicit, host: ElicitHost): HTMLElement {
  const error = h("p", { class: "form-error", role: "alert" });
  const reply = (answer: ElicitAnswer): void => {
    for (const control of form.querySelectorAll<HTMLButtonElement | HTMLInputElement>("button, input, select, textarea")) control.disabled = true;
    host.answer(elicit.elicitId, answer);
  };
  const fields = elicit.questions ? questions(elicit.elicitId, elicit.questions) : elicit.schema ? schemaFields(elicit.elicitId, elicit.schema) : null;
  const form = h(
    "form",
    { class: "card elicit", "aria-label": `Question: ${elicit.message}`, "data-elicit": elicit.elicitId },
    h("header", {}, icon("comment-discussion"), h("h3", {}, elicit.questions ? "A question for you" : "Input needed")),
    h(
      "div",
      { class: "shown" },
      // A single question often repeats the message; saying it once is enough.
      elicit.questions?.some((question) => question.question === elicit.message) ? null : h("div", { class: "markdown" }, renderMarkdown(elicit.message)),
      fields?.element,
      elicit.url ? h("p", {}, h("code", {}, revealed(elicit.url))) : null,
    ),
    error,
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "submit", class: "button primary", "data-answer": "accept" }, elicit.url ? "Open and continue" : "Answer"),
      textButton("Decline", "secondary", () => reply({ action: "decline" }), { "data-answer": "decline" }),
      textButton("Dismiss", "link", () => reply({ action: "cancel" }), { "data-answer": "cancel" }),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const problem = fields?.problem();
    if (problem) {
      error.textContent = problem;
      return;
    }
    if (elicit.url) host.openLink(elicit.url);
    reply({ action: "accept", ...(fields ? { content: fields.content() } : {}) });
  });
  return form;
}

interface Fields {
  element: HTMLElement;
  content(): Json;
  problem(): string;
}

function questions(id: string, all: Question[]): Fields {
  const element = h("div", {});
  for (const question of all) {
    const name = `${id}:${question.id}`;
    const type = question.multiSelect ? "checkbox" : "radio";
    const other = h("input", { type: "text", class: "other", "aria-label": `Other answer to ${question.header || question.question}`, placeholder: "Other…" });
    const otherChoice = h("input", { type, name, value: "", "aria-label": "Another answer" });
    other.addEventListener("input", () => (otherChoice.checked = other.value !== ""));
    element.append(
      h(
        "fieldset",
        { "data-question": question.id },
        h("legend", {}, question.question || question.header),
        ...question.options.map((option) =>
          h(
            "label",
            { class: "choice" },
            h("input", { type, name, value: option.label }),
            h("span", {}, option.label, option.description ? h("small", {}, option.description) : null),
          ),
        ),
        question.allowOther ? h("label", { class: "choice" }, otherChoice, other) : null,
      ),
    );
  }
  const chosen = (question: Question): HTMLInputElement[] => [
    ...element.querySelectorAll<HTMLInputElement>(`[data-question="${CSS.escape(question.id)}"] .choice > input:checked`),
  ];
  const otherText = (question: Question): string => element.querySelector<HTMLInputElement>(`[data-question="${CSS.escape(question.id)}"] .other`)?.value.trim() ?? "";
  return {
    element,
    problem: () => {
      const open = all.find((question) => chosen(question).filter((input) => input.value).length === 0 && !otherText(question));
      return open ? `Please answer: ${open.question || open.header}` : "";
    },
    content: () => {
      const answers: Record<string, string[]> = {};
      const other: Record<string, string> = {};
      for (const question of all) {
        answers[question.id] = chosen(question)
          .map((input) => input.value)
          .filter(Boolean);
        const text = otherText(question);
        if (text) other[question.id] = text;
      }
      return Object.keys(other).length ? { answers, other } : { answers };
    },
  };
}

type Schema = {
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  enumNames?: string[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  format?: string;
};

/** Flat schemas of strings, numbers, booleans and choices, as MCP elicitation allows. */
export function schemaFields(id: string, schema: Json): Fields {
  const properties = (schema["properties"] as Record<string, Schema> | undefined) ?? {};
  const required = new Set((schema["required"] as string[] | undefined) ?? []);
  const element = h("div", {});
  const readers: { name: string; label: string; read(): unknown }[] = [];
  for (const [name, field] of Object.entries(properties)) {
    const label = field.title ?? name;
    const fieldId = `${id}:${name}`;
    const fallback = field.default === undefined ? "" : String(field.default);
    if (field.type === "boolean") {
      const box = h("input", { type: "checkbox", id: fieldId, checked: field.default === true });
      element.append(h("label", { class: "choice" }, box, h("span", {}, label, field.description ? h("small", {}, field.description) : null)));
      readers.push({ name, label, read: () => box.checked });
      continue;
    }
    const options = field.enum;
    const control = options
      ? h(
          "select",
          { id: fieldId },
          h("option", { value: "" }, "—"),
          ...options.map((value, at) => h("option", { value: String(value), selected: String(value) === fallback && fallback !== "" }, field.enumNames?.[at] ?? String(value))),
        )
      : h("input", {
          id: fieldId,
          type: field.type === "number" || field.type === "integer" ? "number" : "text",
          step: field.type === "integer" ? 1 : "any",
          value: fallback,
          min: field.minimum,
          max: field.maximum,
        });
    element.append(
      h("div", { class: "field" }, h("label", { for: fieldId }, label, required.has(name) ? " *" : ""), control, field.description ? h("small", {}, field.description) : null),
    );
    readers.push({ name, label, read: () => (control.value === "" ? undefined : field.type === "number" || field.type === "integer" ? Number(control.value) : control.value) });
  }
  return {
    element,
    problem: () => {
      const open = readers.find((reader) => required.has(reader.name) && reader.read() === undefined);
      return open ? `Please fill in: ${open.label}` : "";
    },
    content: () => Object.fromEntries(readers.map((reader) => [reader.name, reader.read()]).filter(([, value]) => value !== undefined)),
  };
}
