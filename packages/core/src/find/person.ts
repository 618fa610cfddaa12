/** The names as the client sends them: with titles, middle names and initials, in any script. */
export type Person = { readonly first: string; readonly last: string };
