export { fileOf } from "../../infra/file-of.ts";

export const nameOf = (file: string): string =>
  file.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
