/** A question to the user as a form: choices, a JSON schema's fields, or an address to open. */
import type { Elicit, ElicitAnswer, Question } from "../src/protocol";
import { h, icon, revealed, textButton } from "./dom";
import { renderMarkdown } from "./markdown";
import { type Fields, schemaFields } from "./schemaForm";

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
  const fields = elicit.questions ? questions(elicit.elicitId, elicit.questions) : elicit.schema ? schemaFields(elicit.elicitId, elicit.schema, elicit) : null;
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
