/**
 * Installs what the lock of a folder names, unless that is what is installed.
 *
 * @param folder Its path from the repository's root.
 */
export declare function installFolder(folder: string, env?: NodeJS.ProcessEnv): void;
