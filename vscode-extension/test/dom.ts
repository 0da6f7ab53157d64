/** A page for modules that draw: jsdom's document in the globals, set up before they are imported. */
import { JSDOM } from "jsdom";

const dom = new JSDOM("<!DOCTYPE html><body></body>");
const scope = globalThis as Record<string, unknown>;
scope["window"] = dom.window;
scope["document"] = dom.window.document;
for (const name of ["Node", "Element", "HTMLElement", "DocumentFragment", "Event", "KeyboardEvent"]) scope[name] = (dom.window as unknown as Record<string, unknown>)[name];
scope["CSS"] = { escape: (text: string) => text.replace(/[^\w-]/g, (character) => `\\${character}`) };

export const window = dom.window;

/** Presses the button of a card that gives this answer. */
export const press = (element: HTMLElement, answer: string): void => element.querySelector<HTMLButtonElement>(`[data-answer="${answer}"]`)?.click();
