/**
 * Compiles the tree of a template into functions that write its output. Errors are reported here, and the escaping of
 * each value is chosen here; rendering only inserts values.
 */
import { type Escape, escapeFor } from './escape.ts'
import { type Evaluate, evaluator, type Scope } from './evaluate.ts'
import type { HtmlContext, HtmlCursor } from './html-position.ts'
import type { Output } from './output.ts'
import { TemplateError } from './template-error.ts'
import type { AssignNode, BlockNode, Node, OutputNode } from './tree.ts'
import { isTrue, items, print } from './values.ts'

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
  const escaped = html ? escapeAt(html, node) : (text: string) => text
  return (scope, output) => {
    output.write(escaped(print(evaluate(scope))), node.line)
    return scope
  }
}

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

function escapeAt(html: HtmlCursor, { value, line }: OutputNode): Escape {
  const position = html.value()
  if (position !== 'forbidden') {
    return escapeFor(position, value.kind === 'call' && value.name === 'urlquery')
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
