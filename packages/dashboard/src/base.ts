/** The build puts every file into assets/, below any path; npm run dev serves this file from src/. */
const app = new URL(import.meta.url.replace(/(?:assets|src)\/[^/]*$/, ""));

export const APP_PATH = app.pathname;

export const API_URL = app.href.replace(/\/app\/$/, "");

export const toHref = (path: string): string => APP_PATH + path;

export const toDocsHref = (page = ""): string => `${API_URL}/docs${page}`;
