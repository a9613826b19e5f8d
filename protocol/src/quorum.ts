/**
 * Returns true if the signers are more than two thirds of the committee, by the same rule as the contract.
 *
 * @param absentees The number of members that did not sign: the rest of the committee.
 */
export function isQuorum(signers: number, absentees: number): boolean {
  return signers > 2 * absentees;
}

/** Returns the number of members that can lie without a wrong value being stored. */
export function faultBound(members: number): number {
  return Math.floor((members - 1) / 3);
}
