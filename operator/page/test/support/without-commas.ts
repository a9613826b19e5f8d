/** Removes the commas of a shown number. */
export const withoutCommas = (text: string | null) => (text ?? "").replaceAll(",", "").trim();
