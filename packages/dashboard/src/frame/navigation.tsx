import { toHref } from "../base.ts";
import { Icon } from "../parts/icon.tsx";
import { path } from "../router.ts";
import { GROUPS, listScreens, type ScreenEntry } from "../screens.ts";

/** A screen below another one, such as a list's, belongs to it. */
const isHere = (entry: ScreenEntry): boolean =>
  path.value === entry.path || (entry.path !== "" && path.value.startsWith(`${entry.path}/`));

type Props = { readonly onChoose?: (() => void) | undefined };

const Entry = ({ entry, onChoose }: Props & { readonly entry: ScreenEntry }) => (
  <li>
    <a
      href={toHref(entry.path)}
      aria-current={isHere(entry) ? "page" : undefined}
      onClick={onChoose}
    >
      {entry.icon && <Icon name={entry.icon} />}
      {entry.title}
    </a>
  </li>
);

export const Navigation = ({ onChoose }: Props) => {
  const listed = listScreens().filter(({ icon }) => icon !== undefined);
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
                <Entry key={entry.path} entry={entry} onChoose={onChoose} />
              ))}
            </ul>
          </div>
        ))}
    </nav>
  );
};
