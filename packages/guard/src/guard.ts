// Runs in other people's pages: no dependency, no cookie, no storage, no style, and nothing that a strict content security policy refuses.
// After any failure the form still works.
import { type Asked, createAsk, isAbout, isAsked, listInputs, sleep, WAIT_MS } from "./ask.ts";
import { createHints, type Texts } from "./hints.ts";
import { createElement, listen, read } from "./page.ts";

export type GuardOptions = {
  readonly key: string;
  readonly api: string;
  readonly texts?: Partial<Texts>;
};

/** Watches the email fields of all forms in the page, also later ones. Returns the function that stops it. */
export const guard = ({ key, api, texts = {} }: GuardOptions): (() => void) => {
  // Without `requestSubmit` the guard could not send a form as its visitor does, so it must not stop a form.
  if (!("requestSubmit" in HTMLFormElement.prototype)) return () => undefined;
  const ask = createAsk(`${api.replace(/\/$/, "")}/v1/verify/form`, key);
  const { show, clear } = createHints(texts);
  const send = createSender();
  const isStopping = createStops();

  const onInput = ({ target }: Event): void => {
    if (target instanceof HTMLInputElement) clear(target);
  };

  const onChange = ({ target: input }: Event): void => {
    if (!isAsked(input)) return;
    const one = ask(input);
    void one.done.then(() => {
      if (one.answer && isAbout(one, input)) show(input, one.answer, false);
    });
  };

  const onSubmit = (event: SubmitEvent): void => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || send.isPassing(form)) return;
    // A script of the page already handles the form, or the button checks nothing, such as "Cancel".
    if (event.defaultPrevented || isUnchecked(event.submitter)) return;
    const asked = listInputs(form).filter(isAsked).map(ask);
    if (asked.length === 0) return;
    // The page's own scripts see the event only when the form is sent; scripts that listen at `window` in the capture phase run before the
    // guard, and see the event now, too.
    event.preventDefault();
    event.stopImmediatePropagation();
    const answered = Promise.all(asked.map(({ done }) => done));
    send.after(answered, form, event.submitter, () => {
      // By now fields may be new or hold other addresses. An address without a request has no answer.
      const all = listInputs(form)
        .filter(isAsked)
        .map((input) => ({ input, one: asked.find((one) => isAbout(one, input)) }));
      const stopped = all.find(({ one }) => one && isStopping(one));
      if (stopped?.one?.answer) {
        show(stopped.input, stopped.one.answer, true);
        stopped.input.focus();
        return false;
      }
      const answer = all[0]?.one?.answer;
      setField(form, "mailproof_job", answer?.job_id);
      setField(form, "mailproof_receipt", answer?.receipt);
      return true;
    });
  };

  const ends = [listen("input", onInput), listen("change", onChange), listen("submit", onSubmit)];
  return () => ends.forEach((end) => end());
};

const isUnchecked = (submitter: HTMLElement | null): boolean =>
  submitter?.matches('[formnovalidate], [formmethod="dialog" i]') ?? false;

/** Sends forms again after their answers, or after the longest wait. */
const createSender = () => {
  const waiting = new WeakSet<HTMLFormElement>();
  const passing = new WeakSet<HTMLFormElement>();

  const pass = (form: HTMLFormElement, submitter: HTMLElement | null): void => {
    const requestSubmit = read(HTMLFormElement, "requestSubmit", form);
    passing.add(form);
    try {
      requestSubmit.call(form, submitter);
    } catch {
      // The button no longer sends the form, so the form is sent without it.
      requestSubmit.call(form);
    } finally {
      passing.delete(form);
    }
  };

  const after = (
    answered: Promise<unknown>,
    form: HTMLFormElement,
    submitter: HTMLElement | null,
    mayPass: () => boolean,
  ): void => {
    if (waiting.has(form)) return;
    waiting.add(form);
    // A form cannot be sent during its own submit event, so the guard always waits, even with all answers.
    void Promise.race([answered.then(() => sleep(0)), sleep(WAIT_MS)])
      .then(() => {
        waiting.delete(form);
        return mayPass();
      })
      // The page may have changed functions that the guard needs; the form is then sent.
      .catch(() => true)
      .then((passes) => {
        if (passes) pass(form, submitter);
      });
  };

  return { after, isPassing: (form: HTMLFormElement) => passing.has(form) };
};

const createStops = () => {
  const confirmed = new WeakSet<Asked>();
  return (one: Asked): boolean => {
    const found = one.answer?.class ?? "go";
    if (found === "ask" && !confirmed.has(one)) {
      confirmed.add(one);
      return true;
    }
    return found === "no";
  };
};

/** Sets the field for the back end's check, and removes the value of an earlier address. */
const setField = (form: HTMLFormElement, name: string, value = ""): void => {
  let field = listInputs(form).find((input) => input.name === name);
  if (!field) {
    if (value === "") return;
    field = createElement("input");
    field.type = "hidden";
    field.name = name;
    read(Element, "append", form).call(form, field);
  }
  field.value = value;
};
