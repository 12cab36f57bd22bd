/** The formats that can be read, most particular first. */
import type { TraceFormat } from './format.js';
import { atif } from './atif.js';
import { native } from './native.js';

export const FORMATS: readonly TraceFormat[] = [native, atif];
