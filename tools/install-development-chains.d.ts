/** Returns the folder that a chain is installed in from npm. */
export declare function folderOf(chain: "hardhat-2" | "hardhat-3" | "ganache"): string;

/** Returns the path of geth, which exists once it is compiled: `npm run dev-chains -- --install geth`. */
export declare function gethBinary(): string;
