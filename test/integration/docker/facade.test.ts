import { facade } from '../facade.js';
import { dockerSubject } from './subject.js';

facade('docker', dockerSubject);
