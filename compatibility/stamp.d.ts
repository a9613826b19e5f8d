/** The names of the tests. */
export declare const SUBJECTS: readonly string[];

/** Hashes the files of a repository as git would store them now: new ones too, unless they are ignored. */
export declare function hashFiles(repository: string, patterns: readonly string[]): string;

/** The blocks of code in the documents that import another library than viem, which these tests run. */
export declare function documentedBlocks(repository: string): string[];

/** Says what to do if something has changed since the stamp was written, else returns null. */
export declare function complaint(
  stamp: Readonly<Record<string, string>>,
  current: Readonly<Record<string, string>>,
): string | null;

/** Writes the hashes of what these subjects check now. */
export declare function renewStamp(subjects: readonly string[]): Promise<void>;
