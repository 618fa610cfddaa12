import { Failure } from "@mailproof/core/lib/failure";

/** Every operation has at most ten parameters. */
const PARAMETERS_MAX = 100;

/** Counts the parameters before parsing: thousands fit into the request line. */
export const assertFewParameters = (search: string): void => {
  let count = 1;
  for (let at = search.indexOf("&"); at >= 0; at = search.indexOf("&", at + 1)) count++;
  if (count <= PARAMETERS_MAX) return;
  const what = `The query has ${count} parameters; at most ${PARAMETERS_MAX} are read.`;
  throw new Failure("INVALID_REQUEST", "nothing_charged", what);
};

/** Joins the values of a repeated parameter with a comma, as API Gateway does. */
export const parseQuery = (search: string): Record<string, string> => {
  assertFewParameters(search);
  const pairs = Map.groupBy(new URLSearchParams(search), ([name]) => name);
  return Object.fromEntries(
    [...pairs].map(([name, all]) => [name, all.map(([, value]) => value).join(",")]),
  );
};
