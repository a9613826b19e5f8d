/** Announces text to screen readers, in the live region of index.html: a region must exist before its text changes. */
export function tellScreenReaders(text: string): void {
  const region = document.querySelector("[role=status]");
  if (region) region.textContent = text;
}
