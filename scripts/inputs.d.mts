export const root: string;
export const buildStamp: string;
export function inputsHash(): string;
export function isBuilt(): boolean;
export function readOrEmpty(path: string): string;
