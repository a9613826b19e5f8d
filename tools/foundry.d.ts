export declare function foundryBinary(tool: "forge" | "cast" | "anvil"): string;
export declare function foundryEnv(): NodeJS.ProcessEnv;
export declare function runFoundry(tool: "forge" | "cast" | "anvil", args: string[]): Promise<number>;

/** The flags with which every script runs: the node estimates the gas of each transaction, one after the other. */
export declare const SCRIPT_FLAGS: readonly string[];
