/** The maximum number of bytes in a key. */
export const MAX_KEY_BYTES = 256;
