/** Splits a template into texts and actions, and parses them into a tree of blocks (`if`, `range`, `with`). */
import { type Expression, parseExpression, type Token, tokenize } from './expression.ts'
import { TemplateError } from './template-error.ts'

export type Node =
  | { kind: 'text'; text: string; line: number }
  | OutputNode
  | { kind: 'declare'; name: string; value: Expression; line: number }
  | AssignNode
  | BlockNode

export interface OutputNode {
  kind: 'output'
  value: Expression
  line: number
}

/** An assignment to a declared variable. */
export interface AssignNode {
  kind: 'assign'
  name: string
  value: Expression
  line: number
}

export interface BlockNode {
  kind: 'if' | 'with' | 'range'
  /** The variables of the block's `$x :=`; of two names in a range the first is the key. */
  names: string[]
  value: Expression
  body: Node[]
  otherwise: Node[]
  line: number
}

const maxDepth = 50

interface Action {
  keyword: string
  tokens: Token[]
  line: number
}

/** An action that starts a block. */
interface Opener extends Action {
  keyword: BlockNode['kind']
}

/** Throws a TemplateError for everything that Go's parser rejects, and for unsupported syntax. */
export function parseTemplate(source: string): Node[] {
  const pieces = splitTemplate(source)
  let next = 0

  function block(depth: number, opener: Opener | undefined): { nodes: Node[]; closer?: Action } {
    if (opener && depth > maxDepth) throw new TemplateError('nested too deeply', opener.line)
    const nodes: Node[] = []
    for (let piece = pieces[next++]; piece; piece = pieces[next++]) {
      if (piece.kind === 'text') {
        nodes.push(piece)
        continue
      }
      const action = readAction(piece.body, piece.line)
      if (action.keyword === 'end' || action.keyword === 'else') {
        if (!opener) throw new TemplateError(`{{ ${action.keyword} }} closes nothing`, piece.line)
        return { nodes, closer: action }
      }
      nodes.push(isOpener(action) ? blockNode(action, depth) : simpleNode(action))
    }
    if (opener) throw new TemplateError(`{{ ${opener.keyword} }} has no {{ end }}`, opener.line)
    return { nodes }
  }

  function blockNode(action: Opener, depth: number): BlockNode {
    const { names, value } = declaration(action, action.keyword === 'range' ? 2 : 1)
    const { nodes: body, closer } = block(depth + 1, action)
    const otherwise = closer?.keyword === 'else' ? alternative(closer, action, depth) : []
    if (closer?.keyword === 'end') expectNothing(closer)
    return {
      kind: action.keyword,
      names,
      value,
      body,
      otherwise,
      line: action.line,
    }
  }

  function alternative(closer: Action, opener: Opener, depth: number): Node[] {
    const [keyword, ...tokens] = closer.tokens
    if (keyword?.type === 'name' && (keyword.text === 'if' || keyword.text === 'with')) {
      // `else if` shares the {{ end }} of its opener.
      return [blockNode({ keyword: keyword.text, tokens, line: closer.line }, depth + 1)]
    }
    expectNothing(closer)
    const { nodes, closer: end } = block(depth + 1, opener)
    if (end?.keyword === 'else') throw new TemplateError('a second {{ else }}', end.line)
    return nodes
  }

  return block(0, undefined).nodes
}

const keywords = new Set(['if', 'range', 'with', 'else', 'end'])
const unsupported = new Set(['define', 'template', 'block', 'break', 'continue'])

function isOpener(action: Action): action is Opener {
  const { keyword } = action
  return keyword === 'if' || keyword === 'range' || keyword === 'with'
}

function readAction(body: string, line: number): Action {
  const tokens = tokenize(body, line)
  const first = tokens[0]
  if (!first) throw new TemplateError('{{ }} is empty', line)
  if (first.type !== 'name') return { keyword: '', tokens, line }
  if (unsupported.has(first.text)) {
    throw new TemplateError(`{{ ${first.text} }} is not supported`, line)
  }
  if (!keywords.has(first.text)) return { keyword: '', tokens, line }
  return { keyword: first.text, tokens: tokens.slice(1), line }
}

function simpleNode(action: Action): Node {
  const { names, value, sign } = declaration(action, 1)
  const [name] = names
  if (name === undefined) return { kind: 'output', value, line: action.line }
  const kind = sign === '=' ? 'assign' : 'declare'
  return { kind, name, value, line: action.line }
}

const assignSigns = [':=', '=']

/** `$a := value` or `$a, $b := value`, outside of blocks also `$a = value`, or a bare value. */
function declaration(action: Action, max: number) {
  const { keyword, tokens, line } = action
  const assign = tokens.findIndex(({ type, text }) => type === 'mark' && assignSigns.includes(text))
  const sign = tokens[assign]?.text
  if (sign === '=' && isOpener(action)) {
    throw new TemplateError(`= is not allowed in {{ ${keyword} }}`, line)
  }
  const names = tokens.slice(0, Math.max(assign, 0)).filter((token) => token.text !== ',')
  if (assign !== -1 && (names.length < 1 || names.length > max)) {
    throw new TemplateError(`${sign} takes 1 to ${max} variable(s) here`, line)
  }
  for (const name of names) {
    if (name.type !== 'variable' || name.text === '$') {
      throw new TemplateError(`"${name.text}" cannot be declared`, line)
    }
  }
  const value = parseExpression(tokens.slice(assign + 1), line)
  return { names: names.map((name) => name.text), value, sign }
}

function expectNothing({ keyword, tokens, line }: Action) {
  if (tokens.length > 0) {
    throw new TemplateError(`{{ ${keyword} }} does not take "${tokens[0]?.text}"`, line)
  }
}

type Piece =
  | { kind: 'text'; text: string; line: number }
  | { kind: 'action'; body: string; line: number }

// Quoted strings may contain closing braces.
const actionEnd = /(?:"(?:\\.|[^"\\\n])*"|`[^`]*`|(?!\}\})[^"`])*\}\}/y
const commentEnd = /\/\*[\s\S]*?\*\/([ \t\r\n]+-)?\}\}/y
const trimLeft = /^-(?=[ \t\r\n])/
const trimRight = /[ \t\r\n]-$/

/** Returns the pieces in order, with trim markers applied and without comments. Throws for an unclosed action. */
function splitTemplate(source: string): Piece[] {
  const pieces: Piece[] = []
  const lineAt = lineCounter(source)
  let position = 0
  let trimNext = false
  while (position < source.length) {
    const open = source.indexOf('{{', position)
    const action = open === -1 ? undefined : readRawAction(source, open, lineAt(open))
    let text = source.slice(position, action ? open : undefined)
    if (trimNext) text = text.replace(/^[ \t\r\n]+/, '')
    if (action?.trimBefore) text = trimEnd(text)
    if (text) pieces.push({ kind: 'text', text, line: lineAt(position) })
    if (!action) break
    if (action.body !== undefined) {
      pieces.push({ kind: 'action', body: action.body, line: lineAt(open) })
    }
    trimNext = action.trimAfter
    position = action.end
  }
  return pieces
}

interface RawAction {
  /** Absent for a comment. */
  body?: string
  trimBefore: boolean
  trimAfter: boolean
  end: number
}

function readRawAction(source: string, open: number, line: number): RawAction {
  const trimBefore = trimLeft.test(source.slice(open + 2, open + 4))
  const start = open + (trimBefore ? 3 : 2)
  const comment = /^[ \t\r\n]*\/\*/.exec(source.slice(start, start + 64))
  if (comment) {
    commentEnd.lastIndex = start + comment[0].length - 2
    const match = commentEnd.exec(source)
    if (!match) throw new TemplateError('a comment is not closed with */}}', line)
    return { trimBefore, trimAfter: match[1] !== undefined, end: commentEnd.lastIndex }
  }
  actionEnd.lastIndex = start
  const match = actionEnd.exec(source)
  if (!match) throw new TemplateError('{{ is not closed with }}', line)
  const inner = match[0].slice(0, -2)
  const trimAfter = trimRight.test(inner)
  const body = (trimAfter ? inner.slice(0, -1) : inner).trim()
  return { body, trimBefore, trimAfter, end: actionEnd.lastIndex }
}

// A regular expression anchored at the end would take quadratic time on long runs of blanks.
function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && ' \t\r\n'.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Positions must be requested in ascending order, which keeps the count linear. */
function lineCounter(source: string): (position: number) => number {
  let seen = 0
  let line = 1
  return (position) => {
    for (; seen < position; seen++) if (source.charCodeAt(seen) === 10) line++
    return line
  }
}
