import { MailproofError, type UploadReportData } from "@mailproof/client";
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { toHref } from "../../base.ts";
import { formatCount, formatDate } from "../../format.ts";
import { DropZone } from "../../parts/drop-zone.tsx";
import { toSentence } from "../../parts/error-panel.tsx";
import { getClient, may } from "../../session.ts";
import { toReports } from "./path.ts";

/** The API accepts 5,000,000 bytes of JSON, and base64 is a third longer than the file. */
const FILE_BYTES_MAX = 3_700_000;

type Outcome =
  | { readonly kind: "waiting" }
  | { readonly kind: "sending" }
  | { readonly kind: "answered"; readonly data: UploadReportData }
  | { readonly kind: "refused"; readonly error: unknown };

type Entry = { readonly id: number; readonly file: File; readonly outcome: Outcome };

const readBase64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      resolve((reader.result as string).split(",")[1] ?? "");
    });
    reader.addEventListener("error", () =>
      reject(new Error("The browser cannot read this file. Choose it again.")),
    );
    reader.readAsDataURL(file);
  });

/** The API stores a repeated report only once, so a retry is always safe. */
const send = async (file: File): Promise<Outcome> => {
  try {
    if (file.size > FILE_BYTES_MAX)
      throw new Error(
        "This file is larger than 3.7 MB. Compress it with gzip, or upload it with the command mailproof report.",
      );
    const content = await readBase64(file);
    return { kind: "answered", data: await getClient().uploadReport({ content }) };
  } catch (error) {
    return { kind: "refused", error };
  }
};

/** The mails of an mbox file (RFC 4155), because a request takes one report. Each byte is a character, so places are offsets. */
const splitMailbox = async (file: File): Promise<readonly File[]> => {
  if ((await file.slice(0, MAILBOX_START.length).text()) !== MAILBOX_START) return [file];
  const text = new TextDecoder("latin1").decode(await file.arrayBuffer());
  const starts = [...text.matchAll(/^From /gm)].map(({ index }) => index);
  return starts.map(
    (start, at) => new File([file.slice(start, starts[at + 1])], `${file.name}, mail ${at + 1}`),
  );
};

const MAILBOX_START = "From ";

const useUploads = (onStored: () => void) => {
  const entries = useSignal<readonly Entry[]>([]);
  const queue = useRef<Promise<void>>(Promise.resolve());
  const set = (id: number, outcome: Outcome) => {
    entries.value = entries.value.map((one) => (one.id === id ? { ...one, outcome } : one));
  };
  const upload = async ({ id, file }: Entry): Promise<void> => {
    set(id, { kind: "sending" });
    const outcome = await send(file);
    set(id, outcome);
    if (outcome.kind === "answered" && !outcome.data.duplicate) onStored();
  };
  const enqueue = (entry: Entry) => {
    queue.current = queue.current.then(() => upload(entry));
  };
  return {
    entries: entries.value,
    add: async (files: readonly File[]) => {
      const parts = (await Promise.all(files.map(splitMailbox))).flat();
      const added = parts.map((file, at): Entry => {
        const id = entries.value.length + at;
        return { id, file, outcome: { kind: "waiting" } };
      });
      entries.value = [...entries.value, ...added];
      for (const entry of added) enqueue(entry);
    },
    retry: (entry: Entry) => {
      set(entry.id, { kind: "waiting" });
      enqueue(entry);
    },
  };
};

type Props = {
  readonly domain?: string;
  readonly onStored: () => void;
};

export const Upload = ({ domain, onStored }: Props) => {
  const { entries, add, retry } = useUploads(onStored);
  if (!may("deliverability:write")) return null;
  return (
    <section class="upload" aria-labelledby="upload">
      <h2 id="upload">Upload reports</h2>
      <DropZone
        what="Choose one or more report files"
        how=", or drop them here"
        note="DMARC (XML) or TLS (JSON): gzip, zip or uncompressed, or the mails (.eml, mbox) that brought them. Free."
        accept=".xml,.gz,.zip,.json,.eml,.mbox"
        isMultiple
        onFiles={(files) => void add(files)}
      />
      <ul class="plain uploads" aria-live="polite" aria-label="Uploaded files">
        {entries.map((entry) => (
          <li key={entry.id}>
            <b>{entry.file.name}</b>{" "}
            <Answer domain={domain} outcome={entry.outcome} onRetry={() => retry(entry)} />
          </li>
        ))}
      </ul>
    </section>
  );
};

/** A lost connection or a busy service is no fault of the file. */
const isRetryable = (error: unknown): boolean =>
  error instanceof MailproofError && (error.retryable || error.code === "NETWORK");

/** The screen shows 30 days until today, unless its address names others. */
const RECENT_MS = 29 * 86_400_000;

const isRecent = (at: string): boolean => Date.parse(at) > Date.now() - RECENT_MS;

/** A report about an earlier day is shown in the days that end with it. */
const toResults = ({ domain, ends_at: at }: UploadReportData): string =>
  toReports({ domain, to: isRecent(at) ? undefined : at.slice(0, 10) });

type AnswerProps = {
  readonly domain: string | undefined;
  readonly outcome: Outcome;
  readonly onRetry: () => void;
};

const Answer = ({ domain, outcome, onRetry }: AnswerProps) => {
  if (outcome.kind === "waiting") return <span class="soft">waiting for the files before it</span>;
  if (outcome.kind === "sending") return <span class="soft">reading …</span>;
  if (outcome.kind === "refused")
    return (
      <>
        <b class="bad">not stored</b> {toSentence(outcome.error)}{" "}
        {isRetryable(outcome.error) && (
          <button type="button" class="quiet" onClick={onRetry}>
            Retry
          </button>
        )}
      </>
    );
  const { data } = outcome;
  return (
    <>
      <b class={data.duplicate ? "grey" : "good"}>{data.duplicate ? "stored before" : "stored"}</b>{" "}
      {data.type === "tls" ? "TLS" : "DMARC"} report of {data.reporter} about{" "}
      {data.domain === domain && isRecent(data.ends_at) ? (
        data.domain_unicode
      ) : (
        <a href={toHref(toResults(data))}>{data.domain_unicode}</a>
      )}{" "}
      from {formatDate(data.begins_at)}:{" "}
      {formatCount(data.messages, data.type === "tls" ? "session" : "message")}.
    </>
  );
};
