/** The caller for whom a Web Oracle key is found and read. */
export interface WebCaller {
  /** The caller's address or network. */
  readonly id: string;
  /** Allows use of the reserved parts of rate limits and allowances. */
  readonly isReserved: boolean;
}
