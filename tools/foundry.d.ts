export declare function foundryBinary(tool: "forge" | "cast" | "anvil"): string;
export declare function foundryEnv(): NodeJS.ProcessEnv;
export declare function runFoundry(tool: "forge" | "cast" | "anvil", args: string[]): Promise<number>;
