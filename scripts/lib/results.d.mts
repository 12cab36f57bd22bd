export class Results {
  constructor(file: string);
  readonly passed: number;
  update(): Promise<void>;
}
