import { toHref } from "../base.ts";
import { Icon } from "../parts/icon.tsx";
import { path } from "../router.ts";
import { GROUPS, listScreens, type ScreenEntry } from "../screens.ts";
import { may } from "../session.ts";

/** Finds the entry of the current screen. A list's screen belongs to "Lists"; a screen with its own entry, such as a new list, does not. */
const findHere = (listed: readonly ScreenEntry[]): ScreenEntry | undefined =>
  listed.find((entry) => path.value === entry.path) ??
  listed.find((entry) => entry.path !== "" && path.value.startsWith(`${entry.path}/`));

type Props = { readonly onChoose?: (() => void) | undefined };
type EntryProps = Props & { readonly entry: ScreenEntry; readonly isHere: boolean };

const Entry = ({ entry, isHere, onChoose }: EntryProps) => (
  <li>
    <a href={toHref(entry.path)} aria-current={isHere ? "page" : undefined} onClick={onChoose}>
      {entry.icon && <Icon name={entry.icon} />}
      {entry.title}
    </a>
  </li>
);

export const Navigation = ({ onChoose }: Props) => {
  const listed = listScreens().filter(
    ({ icon, needs }) => icon !== undefined && (!needs || may(needs)),
  );
  const here = findHere(listed);
  const groups = [undefined, ...GROUPS].map((group) => ({
    group,
    entries: listed.filter((entry) => entry.group === group),
  }));
  return (
    <nav aria-label="Screens">
      {groups
        .filter(({ entries }) => entries.length > 0)
        .map(({ group, entries }) => (
          <div key={group ?? ""}>
            {group && <h2>{group}</h2>}
            <ul>
              {entries.map((entry) => (
                <Entry key={entry.path} entry={entry} isHere={entry === here} onChoose={onChoose} />
              ))}
            </ul>
          </div>
        ))}
    </nav>
  );
};
