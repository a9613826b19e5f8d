/** Shows what is between backquotes as code. */
export const renderInlineCode = (text: string) =>
  text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
