import { comparesSnapshots } from '../compare.js';
import { podmanSubject } from './subject.js';

comparesSnapshots('podman', podmanSubject);
