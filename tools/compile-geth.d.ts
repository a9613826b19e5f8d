/** Returns the path of geth, which exists once it is compiled: `npm run geth`. */
export declare function gethBinary(): string;
