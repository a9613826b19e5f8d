/** How many of a committee must sign: more than two thirds. */
export const quorumOf = (members: number) => Math.floor((2 * members) / 3) + 1;
