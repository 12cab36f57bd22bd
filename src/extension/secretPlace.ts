/** How VS Code keeps a key, as far as an extension can know it: in which kind of window it runs. Whether there is a keyring no extension is told. */
import * as l10n from '@vscode/l10n';

export interface Window {
  /** In a browser. */
  readonly web: boolean;
  /** What the window is connected to, such as `ssh-remote`. */
  readonly remote: string | undefined;
  readonly platform: NodeJS.Platform;
}

/** One sentence. */
export function secretPlace({ web, remote, platform }: Window): string {
  if (web) return l10n.t('In a browser VS Code keeps it as the server of this window lets it: in the browser, encrypted with a key of the server, or only until the window is reloaded.');
  const here = remote === undefined ? l10n.t('this computer') : l10n.t('the computer that you sit at');
  // Elsewhere the operating system always has a store.
  if (platform !== 'linux' && remote === undefined) return l10n.t('VS Code keeps it encrypted, with a key in the credential store of {0}.', here);
  return l10n.t('VS Code keeps it encrypted, with a key in the keyring of {0}; where there is no keyring, VS Code says so and forgets it when it is closed.', here);
}
