// Runs in other people's pages: no dependency, no cookie, no storage, no style, and nothing that a strict policy for content
// refuses. Whatever fails here, the form goes on.

/** What visitors read. `{email}` is the address that was probably meant. */
const TEXTS = {
  suggestion: "Did you mean {email}?",
  ask: "Please look at this address again.",
  no: "Please enter another address: this one cannot be used.",
};

export type GuardOptions = {
  /** A public key, which begins with mp_pub_. */
  readonly key: string;
  /** The service's URL, with or without a slash at its end. */
  readonly api: string;
  /** Texts in the language of the page. */
  readonly texts?: Partial<typeof TEXTS>;
};

type Answer = {
  readonly class: "go" | "ask" | "no";
  readonly did_you_mean: string | null;
  readonly receipt?: string;
  readonly job_id: string;
};

/** One address that was asked about. Without an answer the form does as if nothing had been asked. */
type Asked = { readonly done: Promise<void>; answer?: Answer | undefined };

/** The longest that a form waits. */
const WAIT_MS = 2_000;

/** Watches the email fields of all forms in the page, also those that come later. The returned function ends it. */
export const guard = ({ key, api, texts }: GuardOptions): (() => void) => {
  const words = { ...TEXTS, ...texts };
  const url = `${api.replace(/\/$/, "")}/v1/verify/form`;
  /** By what was sent, so that an address which stands in two fields, or again, is asked about once. */
  const asked = new Map<string, Asked>();
  /** What the visitor was asked to look at, and sends again. */
  const confirmed = new WeakSet<Asked>();
  const waiting = new WeakSet<HTMLFormElement>();
  /** Forms that are sent after the wait. */
  const passing = new WeakSet<HTMLFormElement>();
  const hints = new WeakMap<HTMLInputElement, HTMLElement>();

  const ask = (input: HTMLInputElement): Asked => {
    const control = findControl(input.form);
    const body = JSON.stringify({ email: input.value.trim(), ...(control && { control }) });
    const earlier = asked.get(body);
    if (earlier) return earlier;
    const one: Asked = {
      done: send(url, key, body).then((answer) => {
        one.answer = answer;
        // It may be there when the form is sent.
        if (!answer) asked.delete(body);
      }),
    };
    asked.set(body, one);
    return one;
  };

  const clear = (input: HTMLInputElement): void => {
    const hint = hints.get(input);
    if (!hint) return;
    hint.remove();
    hints.delete(input);
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  };

  /** Beside the field. What stops the form is read out at once. */
  const show = (input: HTMLInputElement, answer: Answer, isStopped: boolean): void => {
    clear(input);
    const { class: found, did_you_mean: meant } = answer;
    if (found === "go" || (found === "ask" && !meant && !isStopped)) return;
    const hint = document.createElement("div");
    hint.className = `mailproof-hint mailproof-${found}`;
    hint.id = `mailproof-hint-${++count}`;
    hint.setAttribute("role", isStopped ? "alert" : "status");
    if (found === "no") input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", hint.id);
    input.after(hint);
    hints.set(input, hint);
    // A region that is filled after it is there is read out.
    hint.append(...(meant ? offer(input, meant) : [words[found]]));
  };

  /** The sentence, with a button in the place of the address. */
  const offer = (input: HTMLInputElement, meant: string): (string | Node)[] => {
    const [before = "", after = ""] = words.suggestion.split("{email}");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = meant;
    button.addEventListener("click", () => {
      input.value = meant;
      // The page's own scripts learn of it as if it had been typed.
      for (const type of ["input", "change"])
        input.dispatchEvent(new Event(type, { bubbles: true }));
      input.focus();
    });
    return [before, button, after];
  };

  const onInput = ({ target }: Event): void => {
    if (target instanceof HTMLInputElement) clear(target);
  };

  const onChange = ({ target: input }: Event): void => {
    if (!isAsked(input)) return;
    const one = ask(input);
    void one.done.then(() => {
      if (one.answer && isAsked(input) && ask(input) === one) show(input, one.answer, false);
    });
  };

  const onSubmit = (event: SubmitEvent): void => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || passing.has(form)) return;
    const all = [...form.elements].filter(isAsked).map((input) => ({ input, one: ask(input) }));
    const [first] = all;
    if (!first) return;
    // The page's own scripts see the event when the form is sent, and only then.
    event.preventDefault();
    event.stopImmediatePropagation();
    if (waiting.has(form)) return;
    waiting.add(form);
    const { submitter } = event;
    const pass = (): void => {
      passing.add(form);
      try {
        form.requestSubmit(submitter);
      } finally {
        passing.delete(form);
      }
    };
    const answered = Promise.all(all.map(({ one }) => one.done));
    // A form that is about to send this event is not sent by another: so never at once, even if all is known.
    void Promise.race([answered.then(() => sleep(0)), sleep(WAIT_MS)])
      .then(() => {
        waiting.delete(form);
        const stopped = all.find(({ one }) => isStopping(one));
        if (stopped?.one.answer) {
          show(stopped.input, stopped.one.answer, true);
          stopped.input.focus();
          return;
        }
        setField(form, "mailproof_job", first.one.answer?.job_id);
        setField(form, "mailproof_receipt", first.one.answer?.receipt);
        pass();
      })
      // Whatever the page has done to the form meanwhile.
      .catch(() => form.submit());
  };

  /** `no` stops an address each time, `ask` once. */
  const isStopping = (one: Asked): boolean => {
    const found = one.answer?.class ?? "go";
    if (found === "ask" && !confirmed.has(one)) {
      confirmed.add(one);
      return true;
    }
    return found === "no";
  };

  const before = { capture: true };
  document.addEventListener("input", onInput, before);
  document.addEventListener("change", onChange, before);
  document.addEventListener("submit", onSubmit, before);
  return () => {
    document.removeEventListener("input", onInput, before);
    document.removeEventListener("change", onChange, before);
    document.removeEventListener("submit", onSubmit, before);
  };
};

let count = 0;

/** What the browser itself refuses, and who signs in, is not asked about and costs nothing. */
const isAsked = (field: unknown): field is HTMLInputElement =>
  field instanceof HTMLInputElement &&
  field.type === "email" &&
  field.value.trim() !== "" &&
  !field.disabled &&
  !field.multiple &&
  field.validity.valid &&
  field.form?.querySelector('[autocomplete~="current-password"]') === null;

/** The proof of control that the browser may have put into the form. */
const findControl = (form: HTMLFormElement | null) => {
  const field = form?.querySelector<HTMLInputElement>('[autocomplete~="email-verification-token"]');
  return field?.value
    ? { token: field.value, nonce: field.nonce, origin: location.origin }
    : undefined;
};

/** What the back end checks. Nothing of an earlier address is left behind. */
const setField = (form: HTMLFormElement, name: string, value = ""): void => {
  let field = form.querySelector<HTMLInputElement>(`input[name="${name}"]`);
  if (!field) {
    if (value === "") return;
    field = document.createElement("input");
    field.type = "hidden";
    field.name = name;
    form.append(field);
  }
  field.value = value;
};

/** Never rejects: a server that is slow, absent, over its limit or broken gives no answer. */
const send = async (url: string, key: string, body: string): Promise<Answer | undefined> => {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), WAIT_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key },
      body,
      credentials: "omit",
      signal: late.signal,
    });
    const { data } = (await response.json()) as { readonly data?: Answer };
    return response.ok ? data : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
};

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
