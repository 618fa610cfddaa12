import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Options } from "../../operator.ts";
import { handleSubmit, useAction } from "../../parts/action.ts";
import { Answers, Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Head } from "../../parts/row-table.tsx";
import { runCommand } from "../../session.ts";

type Value = string | number | boolean | null | undefined | readonly Value[] | Fields;
type Fields = { readonly [name: string]: Value };

type OutputProps = { readonly value: unknown; readonly label: string };

/** Prints a value as the command line does: a list as a table, an object as a line for each field. `ok` is a sentence. */
export const Output = ({ value, label }: OutputProps) => {
  const rows = Array.isArray(value) ? (value as readonly Fields[]) : undefined;
  if (rows?.length === 0) return <p class="soft">None.</p>;
  if (rows) return <Table rows={rows} label={label} />;
  const { ok, ...fields } = value as Fields;
  return (
    <>
      {typeof ok === "boolean" && (
        <p class={ok ? "good" : "bad"}>{ok ? "Everything is in order." : "Something is wrong."}</p>
      )}
      <dl class="output">
        {Object.entries(fields).map(([name, field]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{isNested(field) ? <Output value={field} label={name} /> : formatValue(field)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
};

const isNested = (value: Value): boolean =>
  typeof value === "object" &&
  value !== null &&
  (!Array.isArray(value) || value.length === 0 || typeof value[0] === "object");

type TableProps = { readonly rows: readonly Fields[]; readonly label: string };

const Table = ({ rows, label }: TableProps) => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <div class="scroll" role="region" aria-label={`Table: ${label}`} tabIndex={0}>
      <table>
        <Head titles={names} />
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {names.map((name) => (
                <td key={name}>{formatValue(row[name])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

const formatValue = (value: Value): string => {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

type Props = {
  readonly command: string;
  readonly options?: Options | (() => Options);
  readonly label: string;
  readonly busy: string;
  readonly confirm?: string;
  readonly children?: ComponentChildren;
  readonly onDone?: () => void;
};

export const CommandForm = (props: Props) => {
  const { command, options, label, busy, confirm, children, onDone } = props;
  const [isAsked, setAsked] = useState(false);
  const [output, setOutput] = useState<unknown>();
  const action = useAction(async () => {
    try {
      setOutput(await runCommand(command, typeof options === "function" ? options() : options));
      onDone?.();
    } finally {
      setAsked(false);
    }
  });
  return (
    <>
      <form
        class="command"
        onSubmit={handleSubmit(() => (confirm === undefined ? action.run() : setAsked(true)))}
      >
        {children}
        <button type="submit" aria-disabled={action.isRunning}>
          {action.isRunning ? `${busy} …` : label}
        </button>
        {action.error !== undefined && <ErrorPanel error={action.error} />}
        {output !== undefined && (
          <div role="status">
            <Output value={output} label={label} />
          </div>
        )}
      </form>
      {confirm !== undefined && (
        <Dialog title={label} isOpen={isAsked} onClose={() => setAsked(false)}>
          <p>{confirm}</p>
          <Answers
            action={{ ...action, error: undefined }}
            yes={label}
            onClose={() => setAsked(false)}
          />
        </Dialog>
      )}
    </>
  );
};
