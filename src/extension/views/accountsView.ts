import * as vscode from 'vscode';
import type { AccountState } from '../accounts.js';
import { Views } from '../ids.js';
import type { Services } from '../services.js';
import { accountChildren, accountNode } from './accountNodes.js';
import { Tree } from './tree.js';

/** Accounts at services. A service is asked when a person looks, once for each account. */
export function createAccountsView({ accounts, log }: Services): Tree {
  const states = (): Promise<AccountState[]> => Promise.all(accounts.services.map((service) => accounts.state(service)));
  const tree: Tree = new Tree({
    id: Views.accounts,
    load: async (parent) => (await states()).flatMap((state) => (parent === undefined ? [accountNode(state)] : parent.account === state.service.id ? accountChildren(state) : [])),
    onShown: () => void ask(),
  });
  const ask = async (): Promise<void> => {
    for (const { service, source, report } of await states()) {
      if (report || source.kind === 'none' || !tree.view.visible) continue;
      await accounts.check(service).catch((error: unknown) => log.warn(`checking the account at ${service.title}: ${String(error)}`));
    }
  };
  tree.also(
    accounts.onDidChange(() => {
      tree.refresh();
      void ask();
    }),
  );
  tree.also(vscode.workspace.onDidGrantWorkspaceTrust(() => tree.refresh()));
  return tree;
}
