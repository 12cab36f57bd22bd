/** The Podman provider against a real service: the suite that every provider passes. */
import { conformance } from './conformance.js';
import { podmanSubject } from './podman/subject.js';

conformance('podman', podmanSubject);
