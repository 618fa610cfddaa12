import { useSignal } from "@preact/signals";
import { formatCount } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { getClient } from "../../session.ts";
import type { Check } from "./check.ts";
import { RecordBox } from "./record-box.tsx";

type Node = NonNullable<Check["authentication"]["spf"]["tree"]>[number];
type Branch = { readonly node: Node; readonly key: string; readonly below: Branch[] };

/** Receivers stop at ten (RFC 7208). */
const LOOKUPS_MAX = 10;
const LOOKUPS_MANY = 8;

const toBranches = (nodes: readonly Node[]): readonly Branch[] => {
  const root: Branch[] = [];
  const open: Branch[][] = [root];
  for (const [at, node] of nodes.entries()) {
    const branch = { node, key: String(at), below: [] };
    open[node.depth]?.push(branch);
    open.length = node.depth + 1;
    open.push(branch.below);
  }
  return root;
};

const STATUS_SENTENCES: Readonly<Record<string, string>> = {
  several: "more than one SPF record",
  none: "no SPF record",
  nxdomain: "the domain does not exist",
  loop: "refers back to a record above",
  unread: "not looked up",
};

const isAnswered = (status: string): boolean =>
  ["record", "several", "none", "nxdomain", "loop"].includes(status);

type Replaceable = Node & { readonly domain: string; readonly address_blocks: number };

/** Tells whether addresses can replace an include of the domain's own record. */
const isReplaceable = (node: Node): node is Replaceable =>
  node.depth === 1 &&
  node.domain !== undefined &&
  node.address_blocks !== undefined &&
  node.term?.includes("include") === true;

/** Chooses the fewest includes to replace until receivers can read the whole record: those with most look-ups first. */
const chooseFewest = (nodes: readonly Node[], lookups: number): ReadonlySet<string> => {
  const chosen = new Set<string>();
  let left = lookups;
  for (const node of nodes.filter(isReplaceable).toSorted((a, b) => b.lookups - a.lookups)) {
    if (left <= LOOKUPS_MAX) break;
    chosen.add(node.domain);
    left -= node.lookups;
  }
  return chosen;
};

type BranchProps = {
  readonly branch: Branch;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (domain: string, isChosen: boolean) => void;
};

const BranchItem = ({ branch: { node, below }, chosen, onChoose }: BranchProps) => {
  const { term, domain, status, lookups, own_lookups: own } = node;
  return (
    <li>
      <div class="node">
        <span class="number">{lookups}</span>
        <code>{term ?? domain}</code>
        {status !== "record" && (
          <span class={isAnswered(status) ? "bad" : "soft"}>
            {STATUS_SENTENCES[status] ?? "no answer"}
          </span>
        )}
        {own > 0 && <span class="soft">{own} by its own a, mx, ptr or exists</span>}
        {isReplaceable(node) && (
          <label class="replace">
            <input
              type="checkbox"
              checked={chosen.has(node.domain)}
              onChange={(event) => onChoose(node.domain, event.currentTarget.checked)}
            />
            Replace by {formatCount(node.address_blocks, "address block")}
          </label>
        )}
      </div>
      {below.length > 0 && (
        <ul>
          {below.map((one) => (
            <BranchItem key={one.key} branch={one} chosen={chosen} onChoose={onChoose} />
          ))}
        </ul>
      )}
    </li>
  );
};

/** Requests each choice from the API, which computes it from the stored check, for free. */
const Flattened = ({ id, names }: { readonly id: string; readonly names: string }) => {
  const load = useLoad(
    (signal) => getClient().getCheck({ id, flatten: names }, { signal }),
    [id, names],
  );
  return (
    <Loaded load={load} what="the record">
      {({ flattened_spf: flattened }) =>
        flattened && (
          <div aria-live="polite">
            <p>
              <b>
                {flattened.lookups} of {LOOKUPS_MAX} look-ups
              </b>
              , {formatCount(flattened.bytes, "byte")}. When one of these services changes its
              addresses, update this record, or its mail fails SPF.
            </p>
            <RecordBox {...flattened} />
          </div>
        )
      }
    </Loaded>
  );
};

export const SpfTree = ({ check }: { readonly check: Check }) => {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const { tree, lookups } = check.authentication.spf;
  const [root] = toBranches(tree);
  if (!root || root.below.length + root.node.own_lookups === 0) return null;
  const tone = lookups > LOOKUPS_MAX ? "bad" : lookups >= LOOKUPS_MANY ? "warn" : "good";
  const choose = (domain: string, isChosen: boolean) => {
    const next = new Set(chosen.value);
    if (isChosen) next.add(domain);
    else next.delete(domain);
    chosen.value = next;
  };
  const names = [...chosen.value].join(",");
  return (
    <section class="panel wide spf-tree" aria-labelledby="spf-tree">
      <h2 id="spf-tree">SPF look-ups</h2>
      <p>
        <b class={tone}>
          {lookups} of {LOOKUPS_MAX}
        </b>{" "}
        DNS look-ups that receivers make. The number beside each term counts everything below it.
      </p>
      {tree.some(isReplaceable) && (
        <p class="replace-how">
          {lookups > LOOKUPS_MAX && "Receivers stop at 10, and the mail fails. "}
          An include that is replaced by the addresses it stands for takes no look-up: choose which,
          and publish the record that appears below.{" "}
          {lookups > LOOKUPS_MAX && (
            <button type="button" onClick={() => (chosen.value = chooseFewest(tree, lookups))}>
              Choose as few as possible
            </button>
          )}
        </p>
      )}
      <svg
        class={`lookups ${tone}`}
        viewBox={`0 0 ${LOOKUPS_MAX} 1`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect class="track" width={LOOKUPS_MAX} height="1" />
        <rect class="value" width={Math.min(lookups, LOOKUPS_MAX)} height="1" />
      </svg>
      <ul class="tree">
        <BranchItem branch={root} chosen={chosen.value} onChoose={choose} />
      </ul>
      {names !== "" && <Flattened id={check.check_id} names={names} />}
    </section>
  );
};
