/** A bundle of its own, loaded when the first template is opened: YAML and the schema are most of its size. */
import * as vscode from 'vscode';
import { TEMPLATE_GLOB } from '../ids.js';
import { TemplateCompletion, TemplateHover } from './completion.js';
import { TemplateProblems } from './problems.js';

export { withSolution } from '../../template/withSolution.js';

/** It completes and explains from the same schema, which package.json hands to it. */
const YAML_EXTENSION = 'redhat.vscode-yaml';

export function startLanguage(log: vscode.LogOutputChannel): vscode.Disposable {
  const selector = { scheme: 'file', pattern: TEMPLATE_GLOB };
  const features: vscode.Disposable[] = [new TemplateProblems(log)];
  if (!vscode.extensions.getExtension(YAML_EXTENSION)) {
    features.push(vscode.languages.registerCompletionItemProvider(selector, new TemplateCompletion(), ' ', ':'), vscode.languages.registerHoverProvider(selector, new TemplateHover()));
  }
  return vscode.Disposable.from(...features);
}
