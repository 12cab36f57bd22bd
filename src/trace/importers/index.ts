/** The formats that can be read, most particular first. */
import { atif } from './atif.js';
import { chat } from './chat.js';
import type { TraceFormat } from './format.js';
import { harbor } from './harbor.js';
import { inspect } from './inspect/log.js';
import { miniSwe } from './miniSwe.js';
import { native } from './native.js';
import { nemoGym } from './nemoGym.js';
import { sweAgent } from './sweAgent.js';
import { transitions } from './transitions.js';
import { verifiersResults, verifiersTraces } from './verifiers.js';

export const FORMATS: readonly TraceFormat[] = [native, harbor, atif, inspect, sweAgent, miniSwe, verifiersTraces, nemoGym, verifiersResults, chat, transitions];
