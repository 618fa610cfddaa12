/** Where an endpoint lives, from its route: "GET /v1/jobs/{id}" is in get-jobs-id. */
export const fileOf = (route: string): string =>
  route
    .toLowerCase()
    .replace("/v1/", "/")
    .replaceAll(/[ /_{}]+/g, "-")
    .replace(/-$/, "");
