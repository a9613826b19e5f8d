export interface Page {
  /** The path of its Markdown from the repository's root; a generated page has no such file. */
  readonly source: string;
  /** Its folder on the site, with a slash at the end; empty for the first page. */
  readonly path: string;
  /** Its name in navigation. */
  readonly label: string;
  /** The levels of headings that "On this page" lists, if not 2 and 3. */
  readonly outline?: "2" | "[2, 4]";
  /** Generates the Markdown of a page without a file. */
  readonly generate?: () => Promise<string> | string;
}
export declare const SECTIONS: readonly { readonly title: string; readonly pages: readonly Page[] }[];
export declare const PAGES: readonly Page[];
