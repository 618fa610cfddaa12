import { read } from "./page.ts";

const CLASSES = ["go", "ask", "no"] as const;

export type Answer = {
  readonly class: (typeof CLASSES)[number];
  readonly did_you_mean: string | null;
  readonly receipt?: string;
  readonly job_id: string;
};

/** One address with its request to the service. Without an answer the form behaves as if nothing had been asked. */
export type Asked = {
  readonly email: string;
  readonly done: Promise<void>;
  answer?: Answer | undefined;
};

export const WAIT_MS = 2_000;

/** Sends one request for a field's address, also when two fields contain the address or a visitor types it again. */
export const createAsk = (url: string, key: string) => {
  const asked = new Map<string, Asked>();
  return (input: HTMLInputElement): Asked => {
    const email = getAddress(input);
    const control = findControl(input.form);
    const body = JSON.stringify({ email, ...(control && { control }) });
    const earlier = asked.get(body);
    if (earlier) return earlier;
    const one: Asked = {
      email,
      done: send(url, key, body).then((answer) => {
        one.answer = answer;
        // A later request may succeed before the form is sent.
        if (!answer) asked.delete(body);
      }),
    };
    asked.set(body, one);
    return one;
  };
};

const getAddress = (input: HTMLInputElement): string => input.value.trim();

export const isAbout = (one: Asked, input: HTMLInputElement): boolean =>
  isAsked(input) && getAddress(input) === one.email;

/** False for an address that the browser itself refuses, and for a field to sign in: neither costs a request. */
export const isAsked = (field: unknown): field is HTMLInputElement =>
  field instanceof HTMLInputElement &&
  field.type === "email" &&
  getAddress(field) !== "" &&
  !field.disabled &&
  !field.multiple &&
  field.validity.valid &&
  findField(field.form, "current-password") === undefined;

const findControl = (form: HTMLFormElement | null) => {
  const field = findField(form, "email-verification-token");
  // The service refuses a token without its nonce, and the address with it.
  return field?.value && field.nonce
    ? { token: field.value, nonce: field.nonce, origin: location.origin }
    : undefined;
};

const findField = (form: HTMLFormElement | null, purpose: string): HTMLInputElement | undefined =>
  (form ? listInputs(form) : [])
    // The property is empty in a browser that does not know the word.
    .find((field) => field.getAttribute("autocomplete")?.split(" ").includes(purpose));

/** Includes fields outside the form that name it. */
export const listInputs = (form: HTMLFormElement): HTMLInputElement[] =>
  [...read(HTMLFormElement, "elements", form)].filter((field) => field instanceof HTMLInputElement);

/** Never rejects: a slow, missing, limited or broken server gives no answer. */
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
    return response.ok && data && CLASSES.includes(data.class) ? data : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
};

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));
