/** Markdown to a small tree of our own; markup in it stays text. Loaded with the first text that needs it. */
import { type Token, type Tokens, lexer } from 'marked';

export interface Block {
  readonly type:
    | 'text' | 'paragraph' | 'heading' | 'strong' | 'emphasis' | 'deleted' | 'codeSpan' | 'code' | 'quote' | 'list' | 'item' | 'rule' | 'break'
    | 'table' | 'row' | 'head' | 'cell' | 'link';
  readonly text?: string;
  readonly children?: readonly Block[];
  readonly level?: number;
  readonly language?: string;
  readonly ordered?: boolean;
  readonly start?: number;
  readonly checked?: boolean;
  readonly url?: string;
}

/** Deeper nesting is shown as text. */
const DEEPEST = 24;

/** Undefined for what the parser does not take, such as thousands of nested quotes. */
export function parseMarkdown(text: string): readonly Block[] | undefined {
  try {
    return blocks(lexer(text, { gfm: true, breaks: true }), 0);
  } catch {
    return undefined;
  }
}

const text = (value: string): Block => ({ type: 'text', text: value });

const blocks = (tokens: readonly Token[] | undefined, depth: number): Block[] => (tokens ?? []).flatMap((token) => block(token, depth + 1));

function block(token: Token, depth: number): Block[] {
  if (depth > DEEPEST) return [text(token.raw)];
  const children = () => blocks('tokens' in token ? token.tokens : undefined, depth);
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'paragraph':
      return [{ type: 'paragraph', children: children() }];
    case 'heading':
      return [{ type: 'heading', level: (token as Tokens.Heading).depth, children: children() }];
    case 'strong':
      return [{ type: 'strong', children: children() }];
    case 'em':
      return [{ type: 'emphasis', children: children() }];
    case 'del':
      return [{ type: 'deleted', children: children() }];
    case 'codespan':
      return [{ type: 'codeSpan', text: (token as Tokens.Codespan).text }];
    case 'code':
      return [{ type: 'code', text: (token as Tokens.Code).text, language: /^[\w+#.-]+/.exec((token as Tokens.Code).lang ?? '')?.[0] ?? '' }];
    case 'blockquote':
      return [{ type: 'quote', children: children() }];
    case 'list': {
      const { ordered, start, items } = token as Tokens.List;
      return [{ type: 'list', ordered, start: start === '' ? 1 : start, children: items.flatMap((item) => block(item, depth)) }];
    }
    case 'list_item': {
      const { task, checked } = token as Tokens.ListItem;
      return [{ type: 'item', ...(task && { checked: checked === true }), children: children() }];
    }
    case 'hr':
      return [{ type: 'rule' }];
    case 'br':
      return [{ type: 'break' }];
    case 'table':
      return [table(token as Tokens.Table, depth)];
    case 'link':
      return [{ type: 'link', url: (token as Tokens.Link).href, children: children() }];
    case 'image':
      // Nothing is fetched: an address stands in for the picture.
      return [{ type: 'link', url: (token as Tokens.Image).href, children: [text((token as Tokens.Image).text || (token as Tokens.Image).href)] }];
    case 'escape':
      return [text((token as Tokens.Escape).text)];
    case 'text': {
      const { tokens, raw } = token as Tokens.Text;
      return tokens ? blocks(tokens, depth) : [text(unescapeEntities(raw))];
    }
    default:
      return [text(token.raw)];
  }
}

function table({ header, rows }: Tokens.Table, depth: number): Block {
  const cells = (row: readonly Tokens.TableCell[], type: 'head' | 'cell') => row.map((cell): Block => ({ type, children: blocks(cell.tokens, depth) }));
  return { type: 'table', children: [{ type: 'row', children: cells(header, 'head') }, ...rows.map((row): Block => ({ type: 'row', children: cells(row, 'cell') }))] };
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&nbsp;': '\u00a0' };
const unescapeEntities = (raw: string): string => raw.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity]!);
