/**
 * Whether the signers are more than two thirds of the committee: the contract's rule, exactly.
 *
 * @param absentees The members who did not sign: the rest of the committee.
 */
export function isQuorum(signers: number, absentees: number): boolean {
  return signers > 2 * absentees;
}

/** The most members of a committee that may lie without a wrong value being stored. */
export function faultBound(members: number): number {
  return Math.floor((members - 1) / 3);
}
