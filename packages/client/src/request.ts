import type { Operation } from "./operation.ts";

type Values = Readonly<Record<string, unknown>>;

export type RequestParts = {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
};

export const toRequestParts = (
  { route, fixed, inQuery }: Operation,
  input: Values = {},
): RequestParts => {
  const [method = "", pattern = ""] = route.split(" ");
  const fields: Record<string, unknown> = { ...input, ...fixed };
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = fields[name];
    if (typeof value !== "string" || value === "") throw new TypeError(`${name} is required`);
    delete fields[name];
    return encodeURIComponent(value);
  });
  if ((method === "POST" || method === "PUT") && !inQuery)
    return {
      method,
      path,
      ...(Object.keys(fields).length > 0 && { body: JSON.stringify(fields) }),
    };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields as Record<string, string | undefined>))
    if (value !== undefined) query.set(name, value);
  const search = query.toString();
  return { method, path: search === "" ? path : `${path}?${search}` };
};
