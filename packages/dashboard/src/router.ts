import { computed, signal } from "@preact/signals";
import { APP_PATH } from "./base.ts";

/** The token of an invitation's link, or of a mail's. It leaves the address at once, so that no history and no picture of the page has it. */
export const linkToken = signal("");

const PAGES_WITH_TOKEN = [`${APP_PATH}link`, `${APP_PATH}mail`];

const readAddress = (): URL => {
  const url = new URL(location.href);
  if (PAGES_WITH_TOKEN.includes(url.pathname) && url.hash !== "") {
    linkToken.value = url.hash.slice(1);
    url.hash = "";
    history.replaceState(null, "", url);
  }
  return url;
};

/** A new object after each navigation, including one to the same screen. */
export const address = signal(readAddress());

export const path = computed(() => {
  const { pathname } = address.value;
  return pathname.startsWith(APP_PATH)
    ? pathname.slice(APP_PATH.length).split("/").filter(Boolean).join("/")
    : "";
});

export const query = computed(() => address.value.searchParams);

type Navigation = {
  readonly replace?: boolean;
  readonly state?: unknown;
};

export const navigate = (to: string, { replace = false, state = null }: Navigation = {}): void => {
  const href = APP_PATH + to;
  // Browsers do the same for a link to the open page, so a double click adds one entry.
  const isHere = href === location.pathname + location.search;
  if (replace || isHere) history.replaceState(state, "", href);
  else history.pushState(state, "", href);
  address.value = readAddress();
  if (!replace) scrollTo(0, 0);
};

/** Opens a link to a screen in place, unless the user asked for a new tab or a download. */
const onClick = (event: MouseEvent): void => {
  const { target, button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented } = event;
  if (defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
  const link = target instanceof Element ? target.closest("a") : null;
  if (!link || link.target !== "" || link.hasAttribute("download")) return;
  if (link.origin !== location.origin || !link.pathname.startsWith(APP_PATH)) return;
  // The browser itself scrolls to a part of the same screen.
  if (link.hash !== "" && link.pathname === location.pathname) return;
  event.preventDefault();
  navigate(link.pathname.slice(APP_PATH.length) + link.search);
};

export const watchAddress = (): void => {
  document.addEventListener("click", onClick);
  addEventListener("popstate", () => {
    address.value = readAddress();
  });
};

export type Params = Readonly<Record<string, string>>;

const decodePart = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
};

/** Returns the values of the pattern's ":name" parts. Undefined if the path does not match. */
export const matchPath = (pattern: string, actual: string): Params | undefined => {
  const [wanted, parts] = [pattern.split("/"), actual.split("/")];
  if (wanted.length !== parts.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, name] of wanted.entries()) {
    const part = decodePart(parts[at] ?? "");
    if (part === undefined) return undefined;
    if (name.startsWith(":")) params[name.slice(1)] = part;
    else if (name !== part) return undefined;
  }
  return params;
};
