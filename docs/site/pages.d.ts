export interface Page {
  readonly source: string;
  readonly path: string;
  readonly label: string;
  readonly generate?: () => Promise<string> | string;
}
export declare const SECTIONS: readonly { readonly title: string; readonly pages: readonly Page[] }[];
export declare const PAGES: readonly Page[];
