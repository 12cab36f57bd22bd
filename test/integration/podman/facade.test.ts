import { facade } from '../facade.js';
import { podmanSubject } from './subject.js';

facade('podman', podmanSubject);
