import type { Answer } from "./ask.ts";
import { createElement } from "./page.ts";

const TEXTS = {
  suggestion: "Did you mean {email}?",
  ask: "Please look at this address again.",
  no: "Please enter another address: this one cannot be used.",
};

export type Texts = typeof TEXTS;

export const createHints = (texts: Partial<Texts>) => {
  const words = { ...TEXTS, ...texts };
  const hints = new WeakMap<HTMLInputElement, HTMLElement>();

  const clear = (input: HTMLInputElement): void => {
    const hint = hints.get(input);
    if (!hint) return;
    hint.remove();
    hints.delete(input);
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  };

  /** Shows a hint beside the field. A screen reader reads a hint that stops the form at once. */
  const show = (input: HTMLInputElement, answer: Answer, isStopped: boolean): void => {
    clear(input);
    const { class: found, did_you_mean: meant } = answer;
    if (found === "go" || (found === "ask" && !meant && !isStopped)) return;
    const hint = createElement("div");
    hint.className = `mailproof-hint mailproof-${found}`;
    hint.id = `mailproof-hint-${++count}`;
    hint.setAttribute("role", isStopped ? "alert" : "status");
    if (found === "no") input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", hint.id);
    input.after(hint);
    hints.set(input, hint);
    // Screen readers announce text that is added to an existing region.
    hint.append(...(meant ? offer(input, meant) : [words[found]]));
  };

  const offer = (input: HTMLInputElement, meant: string): (string | Node)[] => {
    const [before = "", after = ""] = words.suggestion.split("{email}");
    const button = createElement("button");
    button.type = "button";
    button.textContent = meant;
    button.addEventListener("click", () => {
      input.value = meant;
      for (const type of ["input", "change"])
        input.dispatchEvent(new Event(type, { bubbles: true }));
      input.focus();
    });
    return [before, button, after];
  };

  return { show, clear };
};

let count = 0;
