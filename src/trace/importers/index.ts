/** The formats that can be read, most particular first. */
import { atif } from './atif.js';
import type { TraceFormat } from './format.js';
import { harbor } from './harbor.js';
import { miniSwe } from './miniSwe.js';
import { native } from './native.js';
import { sweAgent } from './sweAgent.js';

export const FORMATS: readonly TraceFormat[] = [native, harbor, atif, sweAgent, miniSwe];
