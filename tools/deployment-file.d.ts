/** Where a script reads and writes. */
export interface DeploymentFolders {
  readonly rpcUrl: string;
  /** The folder of the deployment files. */
  readonly deployments: string;
  /** The folder of forge's records of what it sent. */
  readonly broadcast: string;
}

/**
 * Lists in the deployment file what a script intended to list and what exists: contracts that have code, once
 * no transaction of their account is in the pool.
 *
 * @param run The run that intended it: one that succeeded or failed just now, or an earlier one that was not finished,
 * whose transactions are waited for.
 * @returns The path of the deployment file if it was written.
 * @throws If a transaction is not mined yet. The same call finishes it later.
 */
export declare function finishDeploymentFile(
  folders: DeploymentFolders,
  run: "succeeded" | "failed" | "earlier",
): Promise<string | undefined>;
