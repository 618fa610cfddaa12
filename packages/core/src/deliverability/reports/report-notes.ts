/** Faults in a report that affect no sum, so the report still counts. */
export type ReportNote = { readonly path: string; readonly what: string };

export type AddNote = (path: string, what: string) => void;

/** Further faults show nothing new about a reporter's program. */
const NOTES_MAX = 20;
const LENGTH_MAX = 200;

/** Collects each fault once. The notes quote the sender's text. */
export const createNotes = () => {
  const notes = new Map<string, ReportNote>();
  const add: AddNote = (path, what) => {
    if (notes.size >= NOTES_MAX) return;
    const note = { path: shorten(path), what: shorten(what) };
    notes.set(`${note.path} ${note.what}`, note);
  };
  return { add, list: (): readonly ReportNote[] => [...notes.values()] };
};

const shorten = (text: string): string => text.slice(0, LENGTH_MAX).toWellFormed();
