import { getClient, isTestKey, membership, person } from "../session.ts";

type Names = ReadonlyMap<string, string>;

const readKeys = async (signal: AbortSignal): Promise<Names> => {
  const { api_keys: keys } = await getClient().listApiKeys({ signal });
  const mode = isTestKey.peek() ? "test" : "live";
  return new Map(keys.filter((key) => key.mode === mode).map(({ key_id, name }) => [key_id, name]));
};

const readMembers = async (signal: AbortSignal): Promise<Names> => {
  const { members } = await getClient().listMembers({ signal });
  return new Map(members.map(({ person_id: id, name }) => [id, name]));
};

/** The names of keys and people by their ids: what the reader may list. Everybody knows the own name. */
export const loadNames = async (signal: AbortSignal): Promise<Names> => {
  const role = membership.peek()?.role;
  const own = person.peek();
  const [keys, members] = await Promise.all([
    role === undefined || role === "owner" ? readKeys(signal) : new Map<string, string>(),
    role === "owner" || role === "admin" ? readMembers(signal) : new Map<string, string>(),
  ]);
  return new Map([...(own ? [[own.person_id, own.name] as const] : []), ...members, ...keys]);
};
