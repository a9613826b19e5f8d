/** Returns the smallest number of members that is more than two thirds of a committee. */
export const quorumOf = (members: number) => Math.floor((2 * members) / 3) + 1;
