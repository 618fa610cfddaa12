import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { emitEvent } from "../webhooks/items.ts";
import type { CheckReport } from "./analyse-domain.ts";
import type { Check, LatestCheck } from "./items.ts";

type AlertState = Pick<LatestCheck, "listedOn" | "isDmarcFailing">;

const NO_ALERTS: AlertState = { listedOn: [], isDmarcFailing: false };

/** Returns the alerts after a check. A list without a verdict, or an unreadable DMARC record, changes no alert. */
export const getAlertState = (report: CheckReport, before: AlertState = NO_ALERTS): AlertState => {
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

const isFailing = ({ status }: CheckReport["dmarc"]): boolean =>
  status === "fail" || status === "missing";

export const createOutboxEvents = (
  world: Pick<World, "now" | "newId">,
  check: Check,
  report: CheckReport,
  before: AlertState = NO_ALERTS,
): readonly Write[] => {
  const after = getAlertState(report, before);
  const { owner, id: check_id, domain, sendingIp: sending_ip } = check;
  const isNew = after.listedOn.some((id) => !before.listedOn.includes(id));
  const { status, policy, issues } = report.dmarc;
  return [
    ...(isNew
      ? [
          emitEvent(world, owner, "blacklist.detected", {
            domain,
            sending_ip,
            check_id,
            listed_on: report.reputation.listedOn.map(({ name }) => name),
          }),
        ]
      : []),
    ...(after.isDmarcFailing && !before.isDmarcFailing
      ? [
          emitEvent(world, owner, "dmarc.failed", {
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
