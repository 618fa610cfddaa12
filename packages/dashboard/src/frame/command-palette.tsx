import { computed, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { toDocsHref } from "../base.ts";
import { formatCount } from "../format.ts";
import { useDialog } from "../parts/dialog.tsx";
import { usePrices } from "../parts/price.ts";
import { navigate } from "../router.ts";
import { toTitle } from "../screens/lists/job.ts";
import { listScreens } from "../screens.ts";
import { getClient, isOperator, isTestKey, signOut } from "../session.ts";
import { chooseTheme, THEMES } from "./theme.ts";

/** A kind of null is the price of a verification. */
type Command = {
  readonly title: string;
  readonly kind: string | null;
  /** A list is also found by its id. */
  readonly key?: string;
  readonly run: () => void;
};

const commands = computed((): readonly Command[] => [
  ...listScreens()
    .filter(({ icon }) => icon !== undefined)
    .map(({ title, path, group = "Screen" }) => ({
      title,
      kind: group,
      run: () => navigate(path),
    })),
  ...THEMES.map((one) => ({
    title: `Theme: ${one}`,
    kind: "Setting",
    run: () => chooseTheme(one),
  })),
  { title: "API documentation", kind: "Page", run: () => location.assign(toDocsHref()) },
  { title: "Sign out", kind: "Account", run: () => signOut() },
]);

/** The newest lists, read when the palette is opened. */
const lists = signal<readonly Command[]>([]);
const LISTS_MAX = 100;

const readLists = async (): Promise<void> => {
  const client = getClient();
  const { jobs } = await client.listJobs({ limit: LISTS_MAX });
  // Another key is signed in by now.
  if (client !== getClient()) return;
  lists.value = jobs.map((job) => ({
    title: toTitle(job),
    kind: "List",
    key: job.job_id,
    run: () => navigate(`lists/${job.job_id}`),
  }));
};

const isOpen = signal(false);
const text = signal("");
const chosen = signal(0);

/** An address is verified at once. Its screen reads it from the history state, because addresses must not appear in URLs. */
const listCommands = (typed: string): readonly Command[] => {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  // Before a word is typed it is the navigation.
  const all = words.length > 0 ? [...commands.value, ...lists.value] : commands.value;
  const found = all.filter(({ title, kind, key = "" }) =>
    words.every((word) => `${title} ${kind} ${key}`.toLowerCase().includes(word)),
  );
  if (!typed.includes("@") || isOperator.value) return found;
  const email = typed.trim();
  const run = () => navigate("verify", { state: { email } });
  return [{ title: `Verify ${email}`, kind: isTestKey.value ? "Free" : null, run }, ...found];
};

const found = computed(() => listCommands(text.value));

export const openPalette = (): void => {
  text.value = "";
  chosen.value = 0;
  isOpen.value = true;
  // Those of an earlier key are gone. The palette is complete without lists: a key may not read them.
  lists.value = [];
  if (!isOperator.value) readLists().catch(() => {});
};

const closePalette = (): void => {
  isOpen.value = false;
};

const onShortcut = (event: KeyboardEvent): void => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  openPalette();
};

const runCommand = (command: Command | undefined): void => {
  closePalette();
  command?.run();
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
    runCommand(found.value[chosen.value]);
  }
};

const Results = () => {
  const { verify } = usePrices();
  return (
    <ul id="commands" role="listbox" aria-label="Commands">
      {found.value.map((command, at) => (
        <li
          key={command.key ?? command.title}
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

/** Ctrl K or ⌘ K: every screen, list and setting by its name; screens in the order of the navigation. */
export const CommandPalette = () => {
  const dialog = useDialog(isOpen.value, closePalette);
  useLayoutEffect(() => {
    addEventListener("keydown", onShortcut);
    return () => removeEventListener("keydown", onShortcut);
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
            aria-label="Screen, list, setting or address"
            aria-expanded="true"
            aria-controls="commands"
            aria-activedescendant={`command-${chosen.value}`}
            placeholder="Screen, list, setting, or an address to verify"
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
          {found.value.length === 0 && <p class="soft">No matches.</p>}
        </>
      )}
    </dialog>
  );
};
