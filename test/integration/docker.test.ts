/** The Docker provider against a real engine: the suite that every provider passes. */
import { conformance } from './conformance.js';
import { dockerSubject } from './docker/subject.js';

conformance('docker', dockerSubject);
