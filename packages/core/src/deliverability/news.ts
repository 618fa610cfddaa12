import type { Write } from "../table.ts";
import { announce } from "../webhooks/items.ts";
import type { World } from "../world.ts";
import type { Report } from "./analyse-domain.ts";
import type { Check, Latest } from "./items.ts";

type Standing = Pick<Latest, "listedOn" | "isDmarcFailing">;

const NOTHING_STANDS: Standing = { listedOn: [], isDmarcFailing: false };

/** What stands after a check. A list that gave no verdict, or DMARC that could not be read, stands as before. */
export const standingAfter = (report: Report, before: Standing = NOTHING_STANDS): Standing => {
  const { outcomes } = report.reputation;
  const answered = new Map(
    outcomes.flatMap(({ list, verdict: { kind } }) =>
      kind === "listed" || kind === "not_listed" ? [[list.id, kind] as const] : [],
    ),
  );
  const listed = outcomes.flatMap(({ list: { id } }) =>
    answered.get(id) === "listed" ? [id] : [],
  );
  const stillListed = before.listedOn.filter((id) => !answered.has(id));
  return {
    listedOn: [...new Set([...listed, ...stillListed])].toSorted(),
    isDmarcFailing:
      report.dmarc.status === "error" ? before.isDmarcFailing : isFailing(report.dmarc),
  };
};

const isFailing = ({ status }: Report["dmarc"]): boolean =>
  status === "fail" || status === "missing";

/** Said once for each change to the worse, with the check that found it. */
export const newsOf = (
  world: Pick<World, "now" | "newId">,
  check: Check,
  report: Report,
  before: Standing = NOTHING_STANDS,
): readonly Write[] => {
  const after = standingAfter(report, before);
  const { owner, id: check_id, domain, sendingIp: sending_ip } = check;
  const isNew = after.listedOn.some((id) => !before.listedOn.includes(id));
  const { status, policy, issues } = report.dmarc;
  return [
    ...(isNew
      ? [
          announce(world, owner, "blacklist.detected", {
            domain,
            sending_ip,
            check_id,
            listed_on: report.reputation.listedOn.map(({ name }) => name),
          }),
        ]
      : []),
    ...(after.isDmarcFailing && !before.isDmarcFailing
      ? [
          announce(world, owner, "dmarc.failed", {
            domain,
            check_id,
            status,
            policy,
            issues: issues.map(({ id }) => id),
          }),
        ]
      : []),
  ];
};
