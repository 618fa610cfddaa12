/** Every file of the build is in assets/, whatever the path in front of it, and this one in src/ under npm run dev. */
const app = new URL(import.meta.url.replace(/(?:assets|src)\/[^/]*$/, ""));

/** Where the dashboard is: /app/, or with a base path /mailproof/app/. */
export const APP_PATH = app.pathname;

/** The URL of the API that this dashboard belongs to. */
export const API_URL = app.href.replace(/\/app\/$/, "");

/** The link to a screen: "verify" is /app/verify. */
export const toHref = (path: string): string => APP_PATH + path;

/** The link to a page of the manual, which is beside the dashboard. */
export const toDocsHref = (page = ""): string => `${API_URL}/docs${page}`;
