/**
 * Compiles the tree of a template into functions that write its output. Errors are reported here, and the escaping of
 * each value is chosen here; rendering only inserts values.
 */
import type { Expression } from './expression.ts'
import { functions } from './functions.ts'
import type { HtmlContext, HtmlCursor, Position } from './html-position.ts'
import { TemplateError } from './template-error.ts'
import type { AssignNode, BlockNode, Node, OutputNode } from './tree.ts'
import { isTrue, items, ownProperty, print, Untrusted, withoutLinks } from './values.ts'

// Escaping of a value for its HTML context, so that it cannot leave that context.

type Escape = (text: string) => string

/** `encoded`: the value was encoded by `urlquery`. */
function escapeFor(position: Exclude<Position, 'forbidden'>, encoded: boolean): Escape {
  return position === 'query' && encoded ? entities : escapes[position]
}

const escapes: Record<Exclude<Position, 'forbidden'>, Escape> = {
  text: entities,
  // As in Go: comments are not visible, and a value could end one.
  comment: () => '',
  attribute: entities,
  url: (text) => entities(linkStart(text)),
  'url-rest': (text) => entities(linkRest(text)),
  query: (text) => entities(encodeURIComponent(text.toWellFormed())),
  // Characters that could end an unquoted attribute become entities.
  unquoted: (text) => linkStart(text).replace(/[&<>"'`=\s]/g, entity),
}

function entities(text: string): string {
  return text.replace(/[&<>"']/g, entity)
}

const named = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
])

function entity(char: string): string {
  return named.get(char) ?? `&#${char.charCodeAt(0)};`
}

// App schemes are allowed in links, schemes that execute or embed content are not.
function linkStart(text: string): string {
  // Browsers ignore blanks and control characters in a scheme.
  const scheme = [...text].filter((char) => char > ' ').join('')
  return /^(?:javascript|vbscript|data|blob|file):/i.test(scheme) ? '#' : text
}

/** Must not form a scheme together with a preceding value. */
function linkRest(text: string): string {
  const path = text.search(/[/?#]/)
  const end = path === -1 ? text.length : path
  return text.slice(0, end).replaceAll(':', '%3A') + text.slice(end)
}

/** Writes, and returns the scope for the rest of the block. */
type Step = (scope: Scope, output: Output) => Scope

/** A whole block; its variables end with it. */
type Block = (scope: Scope, output: Output) => void

/** Throws a TemplateError. Without a cursor nothing is escaped. */
export function compile(
  nodes: readonly Node[],
  declared: ReadonlySet<string>,
  html: HtmlCursor | undefined,
): Block {
  let known = declared
  const steps = nodes.map((node): Step => {
    if (node.kind === 'text') return literal(node.text, node.line, html)
    const evaluate = evaluator(node.value, known, node.line)
    if (node.kind === 'output') return written(node, evaluate, html)
    if (node.kind === 'declare') {
      known = new Set(known).add(node.name)
      return (scope) => declare(scope, [node.name], [evaluate(scope)])
    }
    if (node.kind === 'assign') return assigned(node, evaluate, known)
    return compileBlock(node, evaluate, known, html)
  })
  return (outer, output) => {
    let scope = outer
    for (const step of steps) scope = step(scope, output)
  }
}

function literal(text: string, line: number, html: HtmlCursor | undefined): Step {
  html?.read(text)
  return (scope, output) => {
    output.write(text, line)
    return scope
  }
}

function written(node: OutputNode, evaluate: Evaluate, html: HtmlCursor | undefined): Step {
  const place = html ? findPlace(html, node) : plainText
  return (scope, output) => {
    const value = evaluate(scope)
    const text = print(value)
    const shown = place.isText && value instanceof Untrusted ? withoutLinks(text) : text
    output.write(place.escape(shown), node.line)
    return scope
  }
}

/** Where a value is written: its escaping, and whether readers see it as text. */
interface Place {
  escape: Escape
  isText: boolean
}

const plainText: Place = { escape: (text) => text, isText: true }

function assigned(
  { name, line }: AssignNode,
  evaluate: Evaluate,
  known: ReadonlySet<string>,
): Step {
  if (!known.has(name)) throw new TemplateError(`${name} is not declared`, line)
  return (scope) => {
    const variable = scope.names.get(name)
    if (variable) variable.value = evaluate(scope)
    return scope
  }
}

function findPlace(html: HtmlCursor, { value, line }: OutputNode): Place {
  const position = html.value()
  if (position !== 'forbidden') {
    const isEncoded = value.kind === 'call' && value.name === 'urlquery'
    return { escape: escapeFor(position, isEncoded), isText: position === 'text' }
  }
  throw new TemplateError(
    'a value must not be in a script, a style or a tag itself, nor be the second in an unquoted link',
    line,
  )
}

function compileBlock(
  node: BlockNode,
  evaluate: Evaluate,
  declared: ReadonlySet<string>,
  html: HtmlCursor | undefined,
): Step {
  const { kind, names, line } = node
  const before = html?.mark()
  if (kind === 'range') html?.enterLoop()
  const start = html?.mark()
  const body = compile(node.body, new Set([...declared, ...names]), html)
  // The content of a loop follows its own end.
  if (kind === 'range') meet(html, start, line)
  const after = html?.mark()
  if (before) html?.reset(before)
  const otherwise = compile(node.otherwise, declared, html)
  meet(html, after, line)

  return (scope, output) => {
    const value = evaluate(scope)
    const rounds = kind === 'range' ? items(value) : isTrue(value) ? [[undefined, value]] : []
    if (rounds.length === 0) otherwise(scope, output)
    for (const [key, item] of rounds) {
      output.checkTime(line)
      const inner = declare(scope, names, names.length === 2 ? [key, item] : [item])
      body(kind === 'if' ? inner : { ...inner, dot: item }, output)
    }
    return scope
  }
}

function meet(html: HtmlCursor | undefined, spot: HtmlContext | undefined, line: number) {
  if (html && spot && !html.meet(spot)) {
    throw new TemplateError('its branches end in different HTML contexts', line)
  }
}

function declare(scope: Scope, names: readonly string[], values: readonly unknown[]): Scope {
  if (names.length === 0) return scope
  const known = new Map(scope.names)
  names.forEach((name, index) => {
    known.set(name, { value: values[index] })
  })
  return { ...scope, names: known }
}

/** The value of `.` and the declared variables, among them `$`. */
interface Scope {
  dot: unknown
  names: ReadonlyMap<string, TemplateVariable>
}

/** Nested blocks may assign another value. */
interface TemplateVariable {
  value: unknown
}

/** Evaluates an expression in a scope. Never throws: a missing value is nil. */
type Evaluate = (scope: Scope) => unknown

/** Throws a TemplateError for an undeclared variable. */
function evaluator(expression: Expression, declared: ReadonlySet<string>, line: number): Evaluate {
  switch (expression.kind) {
    case 'literal':
      return () => expression.value
    case 'variable': {
      const { name } = expression
      if (name === '.') return ({ dot }) => dot
      if (!declared.has(name)) throw new TemplateError(`${name} is not declared`, line)
      return ({ names }) => names.get(name)?.value
    }
    case 'get': {
      const of = evaluator(expression.of, declared, line)
      return (scope) => ownProperty(of(scope), expression.field)
    }
    case 'call': {
      const { call }: { call(...values: unknown[]): unknown } = functions[expression.name]
      const args = expression.args.map((arg) => evaluator(arg, declared, line))
      return (scope) => call(...args.map((arg) => arg(scope)))
    }
  }
}

/** Limits of one rendering, in characters and milliseconds. */
const maxLength = 2_000_000
const maxTime = 250

/** The output of one rendering. Its methods throw a TemplateError with the line when a limit is exceeded. */
interface Output {
  write(text: string, line: number): void
  /** Called in every iteration of a loop, which may produce no output. */
  checkTime(line: number): void
  text(): string
}

export function createOutput(): Output {
  const parts: string[] = []
  const deadline = performance.now() + maxTime
  let length = 0

  function limitExceeded(line: number) {
    return new TemplateError('the output grows too large or takes too long', line)
  }

  return {
    write(text, line) {
      length += text.length
      if (length > maxLength) throw limitExceeded(line)
      parts.push(text)
    },
    checkTime(line) {
      if (performance.now() > deadline) throw limitExceeded(line)
    },
    text: () => parts.join(''),
  }
}
