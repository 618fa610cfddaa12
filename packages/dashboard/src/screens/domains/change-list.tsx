import { formatTime } from "../../format.ts";
import { listChanges } from "./changes.ts";
import type { Check } from "./check.ts";

type Props = { readonly before: Check; readonly after: Check };

export const ChangeList = ({ before, after }: Props) => {
  const changes = listChanges(before, after);
  const from = `${before.score} (${before.grade})`;
  return (
    <>
      <p>
        Since {formatTime(before.checked_at)}:{" "}
        {before.score === after.score ? (
          <>the score is the same, {from}.</>
        ) : (
          <>
            from {from} to{" "}
            <b>
              {after.score} ({after.grade})
            </b>
            .
          </>
        )}{" "}
        {changes.length === 0 && "Nothing else changed."}
      </p>
      {changes.map(({ what, removed, added }) => (
        <div key={what} class="change">
          <h3>{what}</h3>
          <ul class="diff">
            {removed.map((text) => (
              <li key={text} class="removed">
                <span class="unseen">Removed: </span>
                {text}
              </li>
            ))}
            {added.map((text) => (
              <li key={text} class="added">
                <span class="unseen">Added: </span>
                {text}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
};
