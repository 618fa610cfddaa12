import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatCount, formatNumber, formatShare } from "../../format.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { useLoad } from "../../parts/load.tsx";
import { loadPrices } from "../../parts/price.ts";
import { ReachNotice } from "../../parts/reach-notice.tsx";
import { Screen } from "../../parts/screen.tsx";
import { navigate, query } from "../../router.ts";
import { refreshAccount } from "../../session.ts";
import { ChooseList, type ChosenList } from "./choose-list.tsx";
import { Comparison } from "./comparison.tsx";
import { Preview, PriceSentence, Settled } from "./preview.tsx";
import { type Reading, type ReadList, readList } from "./read-list.ts";
import "./new-list.css";
import {
  forgetListIntent,
  type ListIntent,
  processList,
  readListIntent,
  uploadList,
} from "./send-list.ts";

type PreviewState = {
  readonly kind: "preview";
  readonly chosen: ChosenList;
  readonly list: ReadList;
  readonly name?: string;
  readonly skipSettled?: boolean;
};

type State =
  | { readonly kind: "empty"; readonly fault?: string }
  | { readonly kind: "reading"; readonly rows: number }
  | PreviewState
  | {
      readonly kind: "uploading";
      readonly sent: number;
      readonly of: number;
      readonly preview: PreviewState;
    }
  | { readonly kind: "compared"; readonly intent: ListIntent; readonly continues: string }
  | { readonly kind: "charging" }
  | {
      readonly kind: "failed";
      readonly error: unknown;
      readonly onRetry?: (() => void) | undefined;
      readonly preview?: PreviewState;
    };

const ZIP = [0x50, 0x4b, 0x03, 0x04];

/** Converts a spreadsheet in the browser, with code that loads on demand. Any other list stays as it is. */
const toText = async (chosen: ChosenList, sheets?: readonly string[]): Promise<ChosenList> => {
  const head = new Uint8Array(await chosen.file.slice(0, ZIP.length).arrayBuffer());
  if (!ZIP.every((byte, at) => head[at] === byte)) return chosen;
  const { convertSpreadsheet } = await import("./convert-spreadsheet.ts");
  return { ...chosen, ...(await convertSpreadsheet(chosen.file, sheets)) };
};

/** Replaces the API's sentence, which does not offer spreadsheets. */
const FAULTS: Readonly<Record<string, string>> = {
  binary: "The file is neither text nor an Excel workbook. Save it as CSV, TXT or XLSX.",
};

type Choice = {
  readonly emailColumns?: readonly number[];
  readonly hasHeader?: boolean;
  readonly sheets?: readonly string[];
};

/** The list that the new one continues. */
const readContinued = (): string | undefined => query.value.get("continues") ?? undefined;

const preview = async (
  chosen: ChosenList,
  { emailColumns, hasHeader, sheets }: Choice,
  reading: Reading,
): Promise<State> => {
  const text = await toText(chosen, sheets);
  const list = await readList(text.file, {
    ...reading,
    emailColumns: emailColumns?.map(String),
    ...(hasHeader !== undefined && { hasHeader }),
  });
  return list.kind === "fault"
    ? { kind: "empty", fault: FAULTS[list.fault] ?? list.message }
    : { kind: "preview", chosen: text, list };
};

/** Follows one list from its choice to its job. Starting with another list aborts the first one. */
const useNewList = () => {
  const state = useSignal<State>({ kind: "empty" });
  const current = useRef(new AbortController());
  const begin = (): AbortSignal => {
    current.current.abort();
    current.current = new AbortController();
    return current.current.signal;
  };
  const follow = async (signal: AbortSignal, work: () => Promise<State>, onRetry?: () => void) => {
    const outcome = await work().catch(
      (error: unknown): State => ({ kind: "failed", error, onRetry }),
    );
    if (!signal.aborted) state.value = outcome;
  };

  const read = (chosen: ChosenList, choice: Choice = {}): void => {
    const signal = begin();
    state.value = { kind: "reading", rows: 0 };
    const onProgress = (rows: number): void => {
      if (!signal.aborted) state.value = { kind: "reading", rows };
    };
    void follow(signal, () => preview(chosen, choice, { signal, onProgress }));
  };
  const charge = (intent: ListIntent): void => {
    const signal = begin();
    state.value = { kind: "charging" };
    const pay = async (): Promise<State> => {
      const { job_id: job, credits_used: used, idempotent_replay } = await processList(intent);
      // A repeat charges nothing, and does not report the first request's charge.
      const charged = idempotent_replay ? undefined : used;
      void refreshAccount();
      // The list replaces this screen in the history: Back does not return to a list that was sent.
      if (!signal.aborted) navigate(`lists/${job}`, { replace: true, state: { charged } });
      return { kind: "charging" };
    };
    void follow(signal, pay, () => charge(intent));
  };
  const send = (preview: PreviewState): void => {
    const signal = begin();
    const { chosen, list, name = "", skipSettled = false } = preview;
    const { emailColumns, hasHeader } = list.format;
    state.value = { kind: "uploading", sent: 0, of: chosen.file.size, preview };
    uploadList(
      { file: chosen.file, fileName: chosen.fileName, name, emailColumns, hasHeader, skipSettled },
      signal,
      (progress) => {
        if (!signal.aborted) state.value = { kind: "uploading", ...progress, preview };
      },
    ).then(
      (intent) => {
        if (signal.aborted) return;
        const continues = readContinued();
        if (continues === undefined) charge(intent);
        else state.value = { kind: "compared", intent, continues };
      },
      (error: unknown) => {
        if (!signal.aborted) keep({ kind: "failed", error, onRetry: () => send(preview), preview });
      },
    );
  };
  const keep = (preview: State): void => {
    begin();
    forgetListIntent();
    state.value = preview;
  };
  useLayoutEffect(() => {
    const intent = readListIntent();
    if (intent) charge(intent);
    return () => current.current.abort();
  }, []);
  const restart = () => keep({ kind: "empty" });
  return { state: state.value, read, send, charge, keep, restart };
};

type NewListState = ReturnType<typeof useNewList>;

const PreviewStep = ({
  state,
  read,
  send,
  restart,
}: NewListState & { readonly state: PreviewState }) => {
  const { chosen, list } = state;
  const name = useRef<HTMLInputElement>(null);
  const prices = useLoad(loadPrices);
  const price = prices.data?.verify_file_per_address;
  const { hasHeader, emailColumns } = list.format;
  const isContinued = readContinued() !== undefined;
  const [skipSettled, setSkipSettled] = useState(state.skipSettled ?? false);
  const addresses = list.unique - (skipSettled ? list.settled : 0);
  return (
    <>
      <Preview
        list={list}
        sheets={chosen.workbook?.sheets ?? []}
        onSheets={(sheets) =>
          read({ ...chosen, file: chosen.workbook?.file ?? chosen.file }, { sheets })
        }
        onColumns={(wanted) => read(chosen, { emailColumns: wanted, hasHeader })}
        onHeader={(wanted) => read(chosen, { emailColumns, hasHeader: wanted })}
      />
      {prices.error !== undefined && <ErrorPanel error={prices.error} onRetry={prices.reload} />}
      <form
        class="send"
        onSubmit={(event) => {
          event.preventDefault();
          if (price !== undefined)
            send({ ...state, skipSettled, name: name.current?.value.trim() ?? "" });
        }}
      >
        <label for="list-name">Name of the list</label>
        <input
          ref={name}
          id="list-name"
          type="text"
          autocomplete="off"
          defaultValue={state.name ?? chosen.fileName}
        />
        <Settled list={list} price={price} isSkipped={skipSettled} onSkip={setSkipSettled} />
        {price !== undefined && !isContinued && <PriceSentence sum={addresses * price} />}
        <div class="actions">
          <button type="submit" class="primary" aria-disabled={price === undefined}>
            {isContinued
              ? "Compare with the earlier list"
              : `Verify ${formatCount(addresses, "address", "addresses")}`}
          </button>
          <button type="button" onClick={restart}>
            Choose another list
          </button>
        </div>
      </form>
    </>
  );
};

const Step = (list: NewListState) => {
  const { state, read, charge, keep, restart } = list;
  switch (state.kind) {
    case "empty":
      return (
        <>
          {state.fault !== undefined && (
            <p class="error" role="alert">
              {state.fault}
            </p>
          )}
          <ChooseList onChoose={read} />
        </>
      );
    case "reading":
      return <p role="status">Reading the list: {formatNumber(state.rows)} rows …</p>;
    case "preview":
      return <PreviewStep {...list} state={state} />;
    case "uploading":
      return (
        <div role="status">
          <p>
            Uploading: {formatNumber(state.sent)} of {formatNumber(state.of)} bytes,{" "}
            {formatShare(state.of === 0 ? 1 : state.sent / state.of)}. Nothing is charged yet.
          </p>
          <button type="button" onClick={() => keep(state.preview)}>
            Cancel
          </button>
        </div>
      );
    case "compared": {
      const { intent, continues } = state;
      return (
        <Comparison
          intent={intent}
          continues={continues}
          onVerify={(freshDays) => charge({ ...intent, continues, freshDays })}
        />
      );
    }
    case "charging":
      return <p role="status">Waiting for the service to read the list …</p>;
    case "failed": {
      const { error, onRetry, preview } = state;
      return (
        <>
          <ErrorPanel error={error} onRetry={onRetry} />
          {preview && (
            <button type="button" onClick={() => keep(preview)}>
              Back to the preview
            </button>
          )}{" "}
          <button type="button" onClick={restart}>
            Choose another list
          </button>
        </>
      );
    }
  }
};

export const NewList = () => (
  <Screen title="New list" lead="See what a list contains and what it costs before you send it.">
    <ReachNotice />
    <Step {...useNewList()} />
  </Screen>
);
