import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { MAILPROOF } from "../servers/package.ts";
import { COMPILED, PRELOADED } from "../servers/running.ts";

// The real server with the lab in its own process.

/** The account, and where it is served. */
export type Ready = {
  readonly base_url: string;
  readonly live_key: string;
  readonly test_key: string;
  readonly account_id: string;
  /** The link of the first visit, while the server has no person. */
  readonly sign_in_url?: string;
};

export type RunningServer = {
  readonly ready: Ready;
  /** Its state. */
  readonly folder: string;
  /** What it has written to its log. */
  readonly log: string;
};

export const OPERATOR_KEY = `mp_operator_${"k".repeat(32)}`;

/** The settings are those of docs/settings.md. */
export const startServer = async (
  settings: Record<string, string> = {},
): Promise<RunningServer & { readonly stop: () => Promise<void> }> => {
  const root = mkdtempSync(join(tmpdir(), "mailproof-"));
  const folder = join(root, "state");
  const log = join(root, "log");
  const written = openSync(log, "a");
  const child = spawn(process.execPath, [...PRELOADED, ...MAILPROOF, "start"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      MAILPROOF_DIR: folder,
      PORT: "0",
      REACH_DOMAINS: "",
      ...COMPILED,
      ...settings,
    },
    stdio: ["ignore", "ignore", written],
  });
  closeSync(written);
  const ended = once(child, "exit");
  const file = join(folder, "ready.json");
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`it ended: ${readFileSync(log, "utf8")}`);
    await sleep(10);
  }
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(root, { recursive: true, force: true });
  };
  return { ready: JSON.parse(readFileSync(file, "utf8")) as Ready, folder, log, stop };
};

type AxNode = {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
};

/** What Chromium tells a screen reader, which is not what the roles in the document promise. */
const countRoles = async (page: Page): Promise<Readonly<Record<string, number>>> => {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as {
    readonly nodes: readonly AxNode[];
  };
  await session.detach();
  const roles = nodes.filter(({ ignored }) => !ignored).map(({ role }) => role?.value ?? "");
  const all = Map.groupBy(roles, (role) => role);
  return Object.fromEntries([...all].map(([role, { length }]) => [role, length]));
};

/**
 * On a phone the stacked table of the page is read from top to bottom without scrolling sideways: each cell is whole and
 * behind its column's title. For a screen reader every table is the same as on a wide screen.
 */
export const checkStackedTable = async (page: Page, columns: readonly string[]): Promise<void> => {
  const table = page.locator("table.row-lines");
  const readRoles = async () => {
    const { row, columnheader, rowheader } = await countRoles(page);
    return { row, columnheader, rowheader } as const;
  };
  await page.setViewportSize({ width: 1280, height: 800 });
  const onWideScreen = await readRoles();
  await page.setViewportSize({ width: 375, height: 812 });

  const rows = await table.locator("tbody tr").count();
  expect(onWideScreen.rowheader).toBeGreaterThanOrEqual(rows);
  expect(onWideScreen.columnheader).toBeGreaterThanOrEqual(columns.length);
  expect(await readRoles()).toEqual(onWideScreen);

  // In the page, where the types of the tests end.
  const cells: readonly any[] = await table
    .locator("tbody tr")
    .first()
    .evaluate(({ cells: all, ownerDocument: { defaultView } }: any) =>
      [...all].map((cell) => ({
        top: cell.getBoundingClientRect().top,
        title: defaultView.getComputedStyle(cell, "::before").content,
      })),
    );
  for (const { title } of cells.slice(1)) expect(columns).toContain(/^"([^"]+)"/.exec(title)?.[1]);
  expect(new Set(cells.map(({ top }) => top)).size).toBe(cells.length);
  const overflow = await table.evaluate(
    ({ parentElement: { scrollWidth, clientWidth } }: any) => scrollWidth - clientWidth,
  );
  expect(overflow).toBe(0);
};
