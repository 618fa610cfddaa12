import type { PreviewFileData } from "@mailproof/client";
import { useState } from "preact/hooks";
import { toHref } from "../../base.ts";
import { formatCount, formatDay, formatNumber } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { PriceSentence } from "./preview.tsx";
import { compareList, type ListIntent } from "./send-list.ts";

// The last step of a list that continues an earlier list: the changes since then, and the price.

const FRESH_DAYS = { default: 30, most: 100 };

type Props = {
  readonly intent: ListIntent;
  readonly continues: string;
  readonly onVerify: (freshDays: number) => void;
};

export const Comparison = ({ intent, continues, onVerify }: Props) => {
  const [freshDays, setFreshDays] = useState(FRESH_DAYS.default);
  const load = useLoad(
    (signal) => compareList(intent, { continues, freshDays }, signal),
    [intent.fileKey, freshDays],
  );
  return (
    <section aria-label="Comparison with the earlier list">
      <p>
        Compared with the <a href={toHref(`lists/${continues}`)}>earlier list</a>. Nothing is
        charged yet.
      </p>
      <label>
        Days that a result stays good
        <input
          type="number"
          min={0}
          max={FRESH_DAYS.most}
          value={freshDays}
          onChange={(event) => setFreshDays(event.currentTarget.valueAsNumber || 0)}
        />
      </label>
      <Loaded load={load} what="the comparison">
        {(found) => <Compared found={found} onVerify={() => onVerify(freshDays)} />}
      </Loaded>
    </section>
  );
};

type ComparedProps = { readonly found: PreviewFileData; readonly onVerify: () => void };

const Compared = ({ found, onVerify }: ComparedProps) => {
  const { new: added = 0, again = 0, kept, removed, kept_since: since } = found.compared ?? {};
  const counts = {
    New: added,
    "To verify again": again,
    [since ? `Known since ${formatDay(since)}, free` : "Known, free"]: kept,
    "With other cells": found.changed,
    Removed: removed,
  };
  return (
    <>
      <dl class="counts">
        {Object.entries(counts).map(
          ([name, count]) =>
            count !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{formatNumber(count)}</dd>
              </div>
            ),
        )}
      </dl>
      <PriceSentence sum={found.credits} />
      <button type="button" class="primary" onClick={onVerify}>
        Verify {formatCount(added + again, "address", "addresses")}
      </button>
    </>
  );
};
