import type { ProcessFileData } from "@mailproof/client";
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { toHref } from "../../base.ts";
import { formatCount, formatNumber, formatShare } from "../../format.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { useLoad } from "../../parts/load.tsx";
import { loadPrices } from "../../parts/price.ts";
import { Screen } from "../../parts/screen.tsx";
import { refreshAccount } from "../../session.ts";
import { ChooseList, type ChosenList } from "./choose-list.tsx";
import { Preview, Price } from "./preview.tsx";
import { type ReadList, readList } from "./read-list.ts";
import "./new-list.css";
import {
  forgetListIntent,
  type ListIntent,
  processList,
  readListIntent,
  uploadList,
} from "./send-list.ts";

type State =
  | { readonly kind: "empty"; readonly fault?: string }
  | { readonly kind: "reading"; readonly rows: number }
  | { readonly kind: "preview"; readonly chosen: ChosenList; readonly list: ReadList }
  | { readonly kind: "uploading"; readonly sent: number; readonly of: number }
  | { readonly kind: "charging"; readonly intent: ListIntent }
  | { readonly kind: "failed"; readonly error: unknown; readonly onRetry: () => void }
  | { readonly kind: "accepted"; readonly data: ProcessFileData };

const ZIP = [0x50, 0x4b, 0x03, 0x04];

/** A spreadsheet is converted here, by code that is loaded when it is needed. Any other list is read as it is. */
const toText = async (chosen: ChosenList): Promise<ChosenList> => {
  const head = new Uint8Array(await chosen.file.slice(0, ZIP.length).arrayBuffer());
  if (!ZIP.every((byte, at) => head[at] === byte)) return chosen;
  const { convertSpreadsheet } = await import("./convert-spreadsheet.ts");
  return { ...chosen, file: await convertSpreadsheet(chosen.file) };
};

type Choice = { readonly emailColumn?: number; readonly hasHeader?: boolean };

/** One list from its choice to its job. Starting another one aborts it. */
const useNewList = () => {
  const state = useSignal<State>({ kind: "empty" });
  const current = useRef(new AbortController());
  const begin = (): AbortSignal => {
    current.current.abort();
    current.current = new AbortController();
    return current.current.signal;
  };
  /** Shows the outcome, unless something else has started meanwhile. */
  const follow = async (signal: AbortSignal, work: () => Promise<State>, retry: () => void) => {
    const outcome = await work().catch(
      (error: unknown): State => ({ kind: "failed", error, onRetry: retry }),
    );
    if (!signal.aborted) state.value = outcome;
  };

  const read = (chosen: ChosenList, { emailColumn, hasHeader }: Choice = {}): void => {
    const signal = begin();
    state.value = { kind: "reading", rows: 0 };
    const work = async (): Promise<State> => {
      const text = await toText(chosen);
      const list = await readList(text.file, {
        signal,
        onProgress: (rows) => {
          if (!signal.aborted) state.value = { kind: "reading", rows };
        },
        ...(emailColumn !== undefined && { emailColumn: String(emailColumn) }),
        ...(hasHeader !== undefined && { hasHeader }),
      });
      return list.kind === "fault"
        ? { kind: "empty", fault: list.message }
        : { kind: "preview", chosen: text, list };
    };
    void follow(signal, work, () => read(chosen));
  };
  const charge = (intent: ListIntent): void => {
    const signal = begin();
    state.value = { kind: "charging", intent };
    const work = async (): Promise<State> => {
      const data = await processList(intent);
      void refreshAccount();
      return { kind: "accepted", data };
    };
    void follow(signal, work, () => charge(intent));
  };
  const send = (chosen: ChosenList, { format }: ReadList, name: string): void => {
    const signal = begin();
    state.value = { kind: "uploading", sent: 0, of: chosen.file.size };
    const list = { ...chosen, name, emailColumn: format.emailColumn, hasHeader: format.hasHeader };
    uploadList(list, signal, (progress) => {
      if (!signal.aborted) state.value = { kind: "uploading", ...progress };
    }).then(
      (intent) => {
        if (!signal.aborted) charge(intent);
      },
      (error: unknown) => {
        const onRetry = () => send(chosen, { format } as ReadList, name);
        if (!signal.aborted) state.value = { kind: "failed", error, onRetry };
      },
    );
  };
  const restart = (): void => {
    begin();
    forgetListIntent();
    state.value = { kind: "empty" };
  };
  useLayoutEffect(() => {
    const intent = readListIntent();
    if (intent) charge(intent);
    return () => current.current.abort();
  }, []);
  return { state: state.value, read, send, restart };
};

type NewListState = ReturnType<typeof useNewList>;

const PreviewStep = ({
  state,
  read,
  send,
  restart,
}: NewListState & { readonly state: State & { readonly kind: "preview" } }) => {
  const { chosen, list } = state;
  const name = useRef<HTMLInputElement>(null);
  const prices = useLoad(loadPrices);
  const price = prices.data?.verify_file_per_address;
  const { hasHeader } = list.format;
  return (
    <>
      <Preview
        list={list}
        onColumn={(emailColumn) => read(chosen, { emailColumn, hasHeader })}
        onHeader={(wanted) =>
          read(chosen, { emailColumn: list.format.emailColumn, hasHeader: wanted })
        }
      />
      {prices.error !== undefined && <ErrorPanel error={prices.error} onRetry={prices.reload} />}
      <form
        class="send"
        onSubmit={(event) => {
          event.preventDefault();
          if (price !== undefined) send(chosen, list, name.current?.value.trim() ?? "");
        }}
      >
        <label for="list-name">Name of the list</label>
        <input
          ref={name}
          id="list-name"
          type="text"
          autocomplete="off"
          defaultValue={chosen.fileName}
        />
        {price !== undefined && <Price list={list} price={price} />}
        <div class="actions">
          <button type="submit" class="primary" aria-disabled={price === undefined}>
            Verify {formatCount(list.unique, "address", "addresses")}
          </button>
          <button type="button" onClick={restart}>
            Choose another list
          </button>
        </div>
      </form>
    </>
  );
};

const Accepted = ({ data, restart }: { data: ProcessFileData; restart: () => void }) => (
  <section class="panel" aria-labelledby="accepted">
    <h2 id="accepted">
      {formatCount(data.unique_emails, "address is", "addresses are")} being verified
    </h2>
    <p>Charged: {formatCount(data.credits_used, "credit")}. Its page shows the progress.</p>
    <p class="soft">
      Job <code>{data.job_id}</code>
    </p>
    <div class="actions">
      <a class="button primary" href={toHref(`lists/${data.job_id}`)}>
        Open the list
      </a>
      <button type="button" onClick={restart}>
        Verify another list
      </button>
    </div>
  </section>
);

const Step = (list: NewListState) => {
  const { state, read, restart } = list;
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
          <button type="button" onClick={restart}>
            Cancel
          </button>
        </div>
      );
    case "charging":
      return <p role="status">Waiting for the service to read the list …</p>;
    case "failed":
      return (
        <>
          <ErrorPanel error={state.error} onRetry={state.onRetry} />
          <button type="button" onClick={restart}>
            Choose another list
          </button>
        </>
      );
    case "accepted":
      return <Accepted data={state.data} restart={restart} />;
  }
};

export const NewList = () => (
  <Screen title="New list" lead="See what a list contains and what it costs before you send it.">
    <Step {...useNewList()} />
  </Screen>
);
