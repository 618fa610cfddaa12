import { computed, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { toDocsHref } from "../base.ts";
import { formatCount } from "../format.ts";
import { useDialog } from "../parts/dialog.tsx";
import { toSentence } from "../parts/error-panel.tsx";
import { usePrices } from "../parts/price.ts";
import { navigate } from "../router.ts";
import { toTitle } from "../screens/lists/job.ts";
import { listScreens } from "../screens.ts";
import { endSession, frameNotice, getClient, isOperator, isTestKey, may } from "../session.ts";
import type * as Finder from "./palette-commands.ts";
import { chooseTheme, THEMES } from "./theme.ts";

/** Without a network a person stays signed in, and the frame says why. */
const leave = (): void => {
  endSession().catch((error: unknown) => {
    frameNotice.value = toSentence(error);
  });
};

const commands = computed((): readonly Finder.Command[] => [
  ...listScreens()
    .filter(({ icon, needs }) => icon !== undefined && (!needs || may(needs)))
    .map(({ title, path, group = "Screen" }) => ({ title, kind: group, path })),
  ...THEMES.map((one) => ({
    title: `Theme: ${one}`,
    kind: "Setting",
    run: () => chooseTheme(one),
  })),
  { title: "API documentation", kind: "Page", href: toDocsHref() },
  { title: "Sign out", kind: "Account", run: leave },
]);

const isOpen = signal(false);
const text = signal("");
const chosen = signal(0);

const finder = signal<typeof Finder | null>(null);
const isBroken = signal(false);
/** The account's lists and domains, and the pages of the manual, read when the palette opens. */
const places = signal<readonly Finder.Command[]>([]);
const manual = signal<readonly Finder.Command[]>([]);

const found = computed(
  () =>
    finder.value?.findCommands(text.value, {
      commands: commands.value,
      places: places.value,
      manual: manual.value,
      isOperator: isOperator.value,
      isTestKey: isTestKey.value,
    }) ?? [],
);

const loadFinder = async (): Promise<void> => {
  places.value = [];
  try {
    finder.value = await import("./palette-commands.ts");
    isBroken.value = false;
  } catch {
    // After an update of the service, the old file no longer exists.
    isBroken.value = true;
  }
};

/** The palette works without the parts that cannot be read. */
const readPlaces = (): void => {
  finder.value?.readManual().then(
    (pages) => (manual.value = pages),
    () => {},
  );
  if (isOperator.value) return;
  const client = getClient();
  const show = (found: readonly Finder.Command[]) => {
    if (client === getClient()) places.value = found;
  };
  finder.value
    ?.readPlaces(client, toTitle)
    .then(show)
    .catch(() => {});
};

let loading: Promise<void> | undefined;

export const openPalette = (): void => {
  text.value = "";
  chosen.value = 0;
  isOpen.value = true;
  loading = loadFinder();
  void loading.then(readPlaces);
};

const closePalette = (): void => {
  isOpen.value = false;
};

const onShortcut = (event: KeyboardEvent): void => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  openPalette();
};

const runCommand = (command: Finder.Command | undefined): void => {
  closePalette();
  if (!command) return;
  const { path, href, email, run } = command;
  // An address must not appear in a URL: its screen reads it from the history state.
  if (path !== undefined) navigate(path, email === undefined ? {} : { state: { email } });
  if (href !== undefined) location.assign(href);
  run?.();
};

/** Enter may arrive before the code has loaded: the palette then runs the command for the typed text. */
const runChosen = async (): Promise<void> => {
  await loading;
  if (isOpen.value && !isBroken.value) runCommand(found.value[chosen.value]);
};

const onKey = (event: KeyboardEvent): void => {
  const steps = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (steps !== 0) {
    event.preventDefault();
    const { length } = found.value;
    chosen.value = length === 0 ? 0 : (chosen.value + steps + length) % length;
  }
  if (event.key === "Enter") {
    event.preventDefault();
    void runChosen();
  }
};

const Results = () => {
  const { verify } = usePrices();
  return (
    <ul id="commands" role="listbox" aria-label="Commands">
      {found.value.map((command, at) => (
        <li
          key={`${command.kind} ${command.key ?? command.title}`}
          id={`command-${at}`}
          role="option"
          aria-selected={at === chosen.value}
          onClick={() => runCommand(command)}
        >
          {command.title}
          <small>{command.kind ?? (verify !== undefined && formatCount(verify, "credit"))}</small>
        </li>
      ))}
    </ul>
  );
};

const Nothing = () => {
  if (isBroken.value) return <p class="soft">The commands could not be loaded. Reload the page.</p>;
  return <p class="soft">{finder.value ? "No matches." : "Loading …"}</p>;
};

/** The palette behind Ctrl K or ⌘ K: all screens, lists, domains, ids, settings and manual pages, with screens in navigation order. */
export const CommandPalette = () => {
  const dialog = useDialog(isOpen.value, closePalette);
  useLayoutEffect(() => {
    addEventListener("keydown", onShortcut);
    return () => {
      removeEventListener("keydown", onShortcut);
      // The API may refuse the key while the palette is open: the next key must not see its lists and domains.
      closePalette();
    };
  }, []);
  return (
    <dialog
      {...dialog}
      class="palette"
      aria-label="Go to"
      onClick={(event) => {
        if (event.target === event.currentTarget) closePalette();
      }}
    >
      {isOpen.value && (
        <>
          <input
            type="text"
            role="combobox"
            aria-label="Screen, list, domain, id, page of the manual, or address"
            aria-expanded="true"
            aria-controls="commands"
            aria-activedescendant={`command-${chosen.value}`}
            placeholder="Screen, list, domain, id, or an address to verify"
            autocomplete="off"
            spellcheck={false}
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
              chosen.value = 0;
            }}
            onKeyDown={onKey}
          />
          <Results />
          {found.value.length === 0 && <Nothing />}
        </>
      )}
    </dialog>
  );
};
