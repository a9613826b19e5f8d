/** Shows what is between backquotes as code. */
export const withCode = (text: string) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no identity but their place
  text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
