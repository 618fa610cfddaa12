// A process runs one command, and --quiet holds for all of it.
let isQuiet = false;

export const silenceNotes = (): void => {
  isQuiet = true;
};

export const areNotesSilent = (): boolean => isQuiet;

export const writeNote = (text: string): void => {
  if (!isQuiet) process.stderr.write(text);
};
