/** What came of reading text from outside: a value, or what is wrong with the text and how to mend it. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value });

export const refused = (problem: string): Parsed<never> => ({ ok: false, problem });
