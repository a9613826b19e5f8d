/** The version that programs get which need a newer Node than this repository does. */
export declare const NEWER: 22;

/** Returns the path of a version's binary, which is installed. */
export declare function nodeBinary(major: 20 | 22 | 24): string;

/** The paths of the binaries of all supported versions. */
export declare const NODES: readonly string[];

/** Returns an environment in which a version comes first. */
export declare function withNode(major: 20 | 22 | 24, env?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;

export declare function installNodes(): void;
