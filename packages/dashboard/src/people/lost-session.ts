import { enter, frameNotice, getOwnClient, hasStatus, membership, signOut } from "../session.ts";

let isFinding = false;

/** The API refused the session in this account: it has ended, the role has changed, or the membership is gone. */
export const findLoss = async (account: string): Promise<void> => {
  // A screen sends several requests, and one answer explains all.
  if (isFinding) return;
  isFinding = true;
  const name = membership.peek()?.name ?? account;
  try {
    const data = await getOwnClient().getPerson();
    if (data.accounts.some(({ account_id: id }) => id === account))
      return signOut(`Your role in ${name} has changed. Sign in again to continue.`);
    enter(data);
    frameNotice.value = `You are no longer a member of ${name}.`;
  } catch (error) {
    if (hasStatus(error, 401)) signOut("Your session has ended. Sign in again.");
  } finally {
    isFinding = false;
  }
};
