import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** The names of keys and people by id, in the order of their lists. Empty when the reader may not list them. */
export const KeyNames = createContext<ReadonlyMap<string, string>>(new Map());

/** The start of an id tells keys apart. */
const shorten = (id: string): string => `${id.slice(0, 12)}…`;

/** A revoked key and a removed member have no name any more. */
export const useKeyName = (): ((id: string) => string) => {
  const names = useContext(KeyNames);
  return (id) => names.get(id) ?? shorten(id);
};
