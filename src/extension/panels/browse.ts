/** Opens an address that stands in a trace: a person sees it first, as it really is. */
import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { Failure } from '../failure.js';
import { webAddress } from './webAddress.js';

export async function browse(text: string): Promise<void> {
  const address = webAddress(text);
  if (address === undefined) throw new Failure(l10n.t('only http and https addresses are opened'));
  const open = l10n.t('Open');
  if ((await vscode.window.showWarningMessage(l10n.t('Open this address? It comes from the trace.'), { modal: true, detail: address }, open)) !== open) return;
  await vscode.env.openExternal(vscode.Uri.parse(address, true));
}
