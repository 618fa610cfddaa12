import { account, isTestKey } from "../session.ts";

/** What a person has to know before credits are spent. Nothing where mail servers can be asked, or need not be. */
export const ReachNotice = () => {
  const reach = account.value?.reach;
  if (!reach || isTestKey.value || reach.state === "open" || reach.state === "not_measured")
    return null;
  return <p class="notice">{reach.message}</p>;
};
