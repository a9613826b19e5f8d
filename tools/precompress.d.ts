export declare function precompress(folder: string): void;
