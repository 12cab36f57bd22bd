/** Templates, what is built from them, and whether anything can be. */
import { doctor } from '../../engine/doctor.js';
import { templateStatus } from '../../engine/templateStatus.js';
import type { HandlersOf, Services } from './handlers.js';

export function buildHandlers(services: Services): HandlersOf<'doctor' | 'template/status' | 'build'> {
  return {
    doctor: async ({ root, provider }, call) => doctor(await services.engine(root, call), provider, call.signal),
    'template/status': async ({ root, file }, call) => templateStatus(await services.engine(root, call), file),
    build: async ({ root, file, provider, rebuild }, call) => {
      const engine = await services.engine(root, call);
      const onOutput = (text: string) => services.notify('build/output', { root, file, text });
      const { snapshot, built } = await engine.build(file, { provider, rebuild, signal: call.signal, onOutput });
      services.changed(root, 'snapshots');
      return { snapshot, built };
    },
  };
}
