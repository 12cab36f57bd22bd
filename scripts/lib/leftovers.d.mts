export function processesUsing(folder: string): Promise<{ readonly pid: number; readonly command: string }[]>;
