/** What a client's builder of templates asks for, as a template of this project. */
import { Refusal, type TemplateBuild } from './e2b/machine.js';

/** What the builder starts from if nobody says: here the provider's own root. */
const DEFAULT_IMAGES = /^(docker\.io\/)?e2bdev\/(base|code-interpreter)(:|@|$)/;

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** @throws Refusal for what cannot be */
export function templateOf(name: string, { cpuCount, memoryMB }: { readonly cpuCount: number; readonly memoryMB: number }, { fromImage, fromTemplate, steps = [], startCmd }: TemplateBuild): { readonly name: string } {
  if (fromTemplate !== undefined && fromTemplate !== 'base') throw new Refusal(400, 'a template cannot be built from another one here: build it from an image');
  if (startCmd) throw new Refusal(400, 'a start command is not kept here: write a template file with `services`');
  const env: Record<string, string> = {};
  const setup: { run: string }[] = [];
  let folder: string | undefined;
  for (const { type, args = [] } of steps) {
    const [first = ''] = args;
    if (type === 'ENV') for (let at = 0; at + 1 < args.length; at += 2) env[args[at]!] = args[at + 1]!;
    else if (type === 'WORKDIR') setup.push({ run: `mkdir -p ${quote((folder = first))}` });
    else if (type === 'RUN') setup.push({ run: folder === undefined ? first : `cd ${quote(folder)} && ${first}` });
    else if (type === 'USER' ? !/^(root|user)$/.test(first) : true) throw new Refusal(400, `the build step ${type} ${first} cannot be taken here: write a template file`);
  }
  return {
    name,
    ...(fromImage === undefined || DEFAULT_IMAGES.test(fromImage) ? {} : { image: fromImage }),
    resources: { cpu: cpuCount, memory: `${memoryMB}Mi` },
    ...(Object.keys(env).length > 0 && { env }),
    ...(setup.length > 0 && { setup }),
    ...{ episode: { run: 'true' }, reward: 'exit_code' },
  } as { readonly name: string };
}
