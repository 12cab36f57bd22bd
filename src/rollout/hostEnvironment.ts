/** What a program on this machine needs of the environment to start at all; everything else, and every secret that the template does not name, stays out. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'PATHEXT', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'];

export function hostEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(INHERITED.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])));
}
