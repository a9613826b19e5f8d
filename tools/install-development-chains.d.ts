export declare function folderOf(chain: "hardhat-2" | "hardhat-3" | "ganache"): string;
