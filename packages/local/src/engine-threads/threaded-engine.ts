import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { createUnansweredResult } from "@mailproof/core/smtp-pool/results";
import { toSlotKey } from "@mailproof/core/smtp-pool/slots/slots";
import type { MailQuestions } from "@mailproof/core/verify/engine";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import type { Environment } from "../environment.ts";
import { startThread } from "../installation.ts";
import type { LabAddress } from "../mail-ports.ts";
import { getMessage } from "../storage/sqlite.ts";
import { type Calls, createCalls, ENDED } from "./calls.ts";
import type { EngineThreadHandlers, EngineThreadOptions } from "./engine-thread.ts";
import { createMainHandlers, createThreadConnections, type MainPorts } from "./main-handlers.ts";
import { createProviderItems, type ProviderItems } from "./slot-calls.ts";

/** Webhooks and domain checks ask DNS on the main thread; a check asks at most 250 questions. */
export const MAIN_PACKETS_SHARE = 0.2;
/** The pause before a new thread, so that a thread that always ends at its start keeps no core busy. Probes wait meanwhile. */
const RESTART_MS = 1_000;

type ThreadSettings = {
  readonly environment: Environment;
  readonly lab: LabAddress | null;
  readonly threads: number;
};

export type ThreadedQuestions = MailQuestions & {
  readonly start: () => void;
  readonly close: () => void;
};

/** Answers the questions to DNS and mail servers on separate threads, and restarts a thread that ended. */
export const createThreadedQuestions = (
  { environment, lab, threads }: ThreadSettings,
  ports: MainPorts,
): ThreadedQuestions => {
  const providers = createProviderItems();
  const all = Array.from({ length: threads }, (_, number) => {
    // One thread does all look-ups, so the limits of DNS and its cache are as exact as in one process.
    const packets = number === 0 ? 1 - MAIN_PACKETS_SHARE : 0;
    const share = { packets, sessions: 1 / threads };
    const isOneOfSeveral = threads > 1;
    const reportsConnections = ports.connections !== undefined;
    const reportsSessions = ports.onSession !== undefined;
    const reports = { reportsConnections, reportsSessions };
    const options = { environment, lab, share, isOneOfSeveral, ...reports };
    return createThread(options, ports, providers);
  });
  const getThread = (number: number) => all[number] as EngineThread;

  return {
    findMailHosts: async (domain, account) => {
      const found = await (await getThread(0).calls()).call("findMailHosts", domain, account);
      return found === ENDED ? { kind: "inconclusive", why: "internal", dnsQueries: [] } : found;
    },
    probe: async (question) => {
      const thread = getThread(chooseThread(question.hosts, threads));
      const result = await (await thread.calls()).call("probe", question);
      if (result !== ENDED) return result;
      return {
        ...createUnansweredResult(question.recipient),
        host: question.hosts[0]?.host ?? "",
      };
    },
    start: () => all.forEach((thread) => void thread.calls()),
    close: () => all.forEach((thread) => thread.close()),
  };
};

/**
 * Sends all questions for one mail provider to one thread, so they share its sessions. Hosts of one priority come in any order, so the
 * smallest key decides.
 */
export const chooseThread = (hosts: readonly MailHost[], threads: number): number => {
  if (threads === 1) return 0;
  const first = hosts.filter(({ priority }) => priority === hosts[0]?.priority);
  const [key = ""] = first.map((host) => toSlotKey(host).providerKey).toSorted();
  return createHash("sha256").update(key).digest().readUInt32BE() % threads;
};

type EngineThread = {
  readonly calls: () => Promise<Calls<EngineThreadHandlers>>;
  readonly close: () => void;
};

type RunningThread = {
  readonly worker: Worker;
  readonly calls: Calls<EngineThreadHandlers>;
};

/** Starts the thread with its first call, and again with the next call after its end. */
const createThread = (
  workerData: EngineThreadOptions,
  ports: MainPorts,
  providers: ProviderItems,
): EngineThread => {
  let running: RunningThread | null = null;
  let pause: Promise<unknown> | null = null;
  let isClosed = false;

  const end = (worker: Worker, calls: RunningThread["calls"]): void => {
    running = null;
    void providers.releaseAll(worker);
    pause = setTimeout(RESTART_MS, null, { ref: false });
    calls.end();
  };

  const begin = (): RunningThread => {
    if (isClosed) throw new Error("the engine is closed");
    const worker = startThread(new URL("./engine-thread.ts", import.meta.url), workerData);
    // The threads must not keep the server's process alive.
    worker.unref();
    const calls = createCalls<EngineThreadHandlers>(worker);
    const connections = createThreadConnections(ports.connections);
    calls.serve(createMainHandlers(ports, providers, worker, connections));
    const stopWatch = watchThread(
      () => calls.call("ping"),
      () => {
        ports.log("engine_thread_hung", {});
        void worker.terminate();
      },
    );
    let error: string | null = null;
    worker.on("error", (cause) => {
      error = getMessage(cause);
    });
    worker.on("exit", (code) => {
      stopWatch();
      if (isClosed) return;
      connections.closeAll();
      ports.log("engine_thread_ended", { code, error });
      end(worker, calls);
    });
    running = { worker, calls };
    return running;
  };

  return {
    calls: async () => {
      await pause;
      return (running ?? begin()).calls;
    },
    close: () => {
      isClosed = true;
      void running?.worker.terminate();
    },
  };
};

/** A thread whose event loop missed several pings in a row is ended, and its questions are asked again. */
const PING_INTERVAL_MS = 10_000;
const UNANSWERED_PINGS_MAX = 3;

/** Calls `onHang` once, when several pings in a row got no answer. Returns the function that ends the watch. */
export const watchThread = (
  ping: () => Promise<unknown>,
  onHang: () => void,
  intervalMs = PING_INTERVAL_MS,
): (() => void) => {
  let unanswered = 0;
  // Counts pings instead of time, because a blocked server thread sends no pings.
  const timer = setInterval(() => {
    if (unanswered === UNANSWERED_PINGS_MAX) {
      clearInterval(timer);
      return onHang();
    }
    unanswered++;
    void ping().then(() => {
      unanswered = 0;
    });
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
};
