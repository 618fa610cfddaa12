import { account, isTestKey } from "../session.ts";

/** Warns before credits are spent. Shows nothing when mail servers can be reached, or need not be. */
export const ReachNotice = () => {
  const reach = account.value?.reach;
  if (!reach || isTestKey.value || reach.state === "open" || reach.state === "not_measured")
    return null;
  return <p class="notice">{reach.message}</p>;
};
