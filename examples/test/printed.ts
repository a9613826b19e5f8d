const NUMBER = "\\d+(\\.\\d+)?";

/** What each of the JavaScript examples prints. */
export const PRINTED = new RegExp(
  `^Requested: ${NUMBER}, by transaction 0x[0-9a-f]{64}\\.\nRead paid: ${NUMBER}\\.\nRead verified: ${NUMBER}\\.\nWritten fresh: ${NUMBER}\\.\n$`,
);
