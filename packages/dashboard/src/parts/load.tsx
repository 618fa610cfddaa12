import { MailproofError } from "@mailproof/client";
import type { ComponentChildren } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ErrorPanel, mayPass } from "./error-panel.tsx";
import { type ShapeName, Waiting } from "./shape.tsx";

/** The API's data, and the outcome of the latest request. Earlier data stay while the next request runs. */
export type Load<T> = {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
  readonly polling?: { readonly run: () => void; readonly failures: number };
};

const isAborted = (error: unknown): boolean =>
  error instanceof MailproofError && error.code === "ABORTED";

type State<T> = { readonly data?: T; readonly error?: unknown; readonly failures: number };

export const AGAIN_MS = 30_000;

/** Loads when the screen opens, when one of the inputs changes, and after a failure that may pass. */
export const useLoad = <T,>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[] = [],
): Load<T> => {
  const [state, setState] = useState<State<T>>({ failures: 0 });
  const latest = useRef<AbortController>(undefined);
  const start = useCallback((isByItself: boolean) => {
    latest.current?.abort();
    const controller = new AbortController();
    latest.current = controller;
    load(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ data, failures: 0 });
      },
      (error: unknown) => {
        if (controller.signal.aborted || isAborted(error)) return;
        // The frame reports a missing network, and loading resumes when the network is back.
        if (isByItself && !navigator.onLine) return;
        setState((before) => ({
          ...before,
          failures: before.failures + 1,
          // A screen reader would read each new error aloud, since each has another request id.
          error: isByItself ? (before.error ?? error) : error,
        }));
      },
    );
  }, inputs);
  const reload = useCallback(() => start(false), [start]);
  useLayoutEffect(() => {
    reload();
    return () => latest.current?.abort();
  }, [reload]);
  const run = useCallback(() => start(true), [start]);
  const { data, error, failures } = state;
  const loaded = { data, error, reload, polling: { run, failures } };
  usePolling(loaded, error !== undefined && mayPass(error) ? AGAIN_MS : null);
  return loaded;
};

/** Loads repeatedly while the page is visible and has a network, with this pause after each response. A null pause stops it. */
export const usePolling = (
  {
    data,
    error,
    reload,
    polling,
  }: Omit<Load<unknown>, "reload"> & { readonly reload: () => unknown },
  everyMs: number | null,
): void => {
  const run = polling?.run ?? reload;
  useLayoutEffect(() => {
    if (everyMs === null) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible" && navigator.onLine)
        timer = setTimeout(run, everyMs);
    };
    schedule();
    document.addEventListener("visibilitychange", schedule);
    addEventListener("online", run);
    return () => {
      clearTimeout(timer);
      removeEventListener("online", run);
      document.removeEventListener("visibilitychange", schedule);
    };
  }, [data, error, polling?.failures, run, everyMs]);
};

type Props<T> = {
  readonly load: Load<T>;
  readonly what: string;
  readonly as?: ShapeName;
  readonly children: (data: T) => ComponentChildren;
};

export const Loaded = <T,>({ load: { data, error, reload }, what, as, children }: Props<T>) => (
  <>
    {error !== undefined && <ErrorPanel error={error} onRetry={reload} />}
    {data !== undefined && children(data)}
    {data === undefined && error === undefined && <Waiting what={what} shape={as} />}
  </>
);
