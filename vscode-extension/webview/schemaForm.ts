/** The fields of a form that a flat JSON schema describes, as MCP servers ask for it. The server checks the answer; what does not fit comes back with `problems`. */
import type { Json } from "../src/protocol";
import { h } from "./dom";

export interface Fields {
  element: HTMLElement;
  content(): Json;
  problem(): string;
}

/** An answer that did not fit: what it held, and what is wrong by field. */
export interface Refused {
  given?: Json | undefined;
  problems?: Record<string, string> | undefined;
}

type Schema = {
  type?: string;
  title?: string;
  description?: string;
  enum?: unknown[];
  enumNames?: string[];
  oneOf?: Json[];
  anyOf?: Json[];
  items?: Schema;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  format?: string;
};

interface Field {
  id: string;
  label: string;
  schema: Schema;
  required: boolean;
  now: unknown;
}

interface Control {
  element: HTMLElement;
  read(): unknown;
}

const INPUTS: Record<string, string> = { email: "email", uri: "url", date: "date" };

export function schemaFields(id: string, schema: Json, refused: Refused = {}): Fields {
  const properties = (schema["properties"] as Record<string, Schema> | undefined) ?? {};
  const required = new Set((schema["required"] as string[] | undefined) ?? []);
  const element = h("div", {});
  const readers: { name: string; field: Field; read(): unknown }[] = [];
  for (const [name, described] of Object.entries(properties)) {
    const now = refused.given ? refused.given[name] : described.default;
    const field = { id: `${id}:${name}`, label: described.title ?? name, schema: described, required: required.has(name), now };
    const control = controlOf(field);
    const problem = refused.problems?.[name];
    element.append(control.element);
    if (problem) element.append(h("p", { class: "form-error", role: "alert", "data-problem": name }, `${field.label}: ${problem}`));
    readers.push({ name, field, read: control.read });
  }
  return {
    element,
    problem: () => {
      const open = readers.find((reader) => reader.field.required && reader.read() === undefined);
      return open ? `Please fill in: ${open.field.label}` : "";
    },
    content: () => Object.fromEntries(readers.map((reader) => [reader.name, reader.read()]).filter(([, value]) => value !== undefined)),
  };
}

function controlOf(field: Field): Control {
  if (field.schema.type === "array") return several(field);
  if (field.schema.type === "boolean") return box(field);
  const options = choices(field.schema);
  return options ? oneOf(field, options) : line(field);
}

function choices(schema: Schema): { name: string; value: unknown }[] | null {
  if (schema.enum) return schema.enum.map((value, at) => ({ name: schema.enumNames?.[at] ?? String(value), value }));
  const titled = schema.oneOf ?? schema.anyOf;
  return titled ? titled.filter((option) => "const" in option).map((option) => ({ name: String(option["title"] ?? option["const"]), value: option["const"] })) : null;
}

function about(field: Field): HTMLElement | null {
  return field.schema.description ? h("small", {}, field.schema.description) : null;
}

function labelled(field: Field, control: HTMLElement): HTMLElement {
  return h("div", { class: "field" }, h("label", { for: field.id }, field.label, field.required ? " *" : ""), control, about(field));
}

/** Left alone, an optional one without a default is no answer. */
function box(field: Field): Control {
  const input = h("input", { type: "checkbox", id: field.id, checked: field.now === true });
  let touched = field.required || typeof field.now === "boolean";
  input.addEventListener("change", () => (touched = true));
  const element = h("label", { class: "choice" }, input, h("span", {}, field.label, about(field)));
  return { element, read: () => (touched ? input.checked : undefined) };
}

function several(field: Field): Control {
  const now = Array.isArray(field.now) ? (field.now as unknown[]) : [];
  const boxes = (choices(field.schema.items ?? {}) ?? []).map(({ name, value }) => ({ name, value, input: h("input", { type: "checkbox", checked: now.includes(value) }) }));
  const element = h(
    "fieldset",
    { id: field.id },
    h("legend", {}, field.label, field.required ? " *" : ""),
    about(field),
    ...boxes.map((each) => h("label", { class: "choice" }, each.input, h("span", {}, each.name))),
  );
  return {
    element,
    read: () => {
      const chosen = boxes.filter((each) => each.input.checked).map((each) => each.value);
      return chosen.length > 0 || field.required ? chosen : undefined;
    },
  };
}

function oneOf(field: Field, options: { name: string; value: unknown }[]): Control {
  const select = h(
    "select",
    { id: field.id },
    h("option", { value: "" }, "—"),
    ...options.map(({ name, value }, at) => h("option", { value: String(at), selected: value === field.now && field.now !== undefined }, name)),
  );
  return { element: labelled(field, select), read: () => (select.value === "" ? undefined : options[Number(select.value)]?.value) };
}

function line(field: Field): Control {
  const { schema, now } = field;
  const numeric = schema.type === "number" || schema.type === "integer";
  const input = h("input", {
    id: field.id,
    type: numeric ? "number" : (INPUTS[schema.format ?? ""] ?? "text"),
    step: schema.type === "integer" ? 1 : "any",
    value: typeof now === "string" || typeof now === "number" ? String(now) : "",
    min: schema.minimum,
    max: schema.maximum,
    placeholder: schema.format === "date-time" ? "2026-01-31T09:30:00Z" : undefined,
  });
  return { element: labelled(field, input), read: () => (input.value === "" ? undefined : numeric ? Number(input.value) : input.value) };
}
