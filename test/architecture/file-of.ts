/** Where an endpoint lives, from its route: "GET /v1/jobs/{id}" is in get-jobs-id. */
export const fileOf = (route: string): string =>
  route
    .toLowerCase()
    .replace("/v1/", "/")
    .replaceAll(/[ /_{}]+/g, "-")
    .replace(/-$/, "");

export const nameOf = (file: string): string =>
  file.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
