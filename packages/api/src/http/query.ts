import { Failure } from "@mailproof/core/lib/failure";

/** No operation has more than ten. */
const PARAMETERS_MAX = 100;

/** Counted before they are read: thousands fit into the line of a request. */
export const assertFewParameters = (search: string): void => {
  let count = 1;
  for (let at = search.indexOf("&"); at >= 0; at = search.indexOf("&", at + 1)) count++;
  if (count <= PARAMETERS_MAX) return;
  const what = `The query has ${count} parameters; at most ${PARAMETERS_MAX} are read.`;
  throw new Failure("INVALID_REQUEST", "nothing_charged", what);
};

/** As in API Gateway, a repeated parameter becomes one value, joined by a comma. */
export const parseQuery = (search: string): Record<string, string> => {
  assertFewParameters(search);
  const pairs = Map.groupBy(new URLSearchParams(search), ([name]) => name);
  return Object.fromEntries(
    [...pairs].map(([name, all]) => [name, all.map(([, value]) => value).join(",")]),
  );
};
