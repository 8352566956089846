/**
 * Translates a template's tree to LiquidJS source.
 * The source holds only statements made here: literal text and strings become named constants, so
 * whatever an operator's template or a value contains, LiquidJS never reads it as code.
 */
import type { Expression } from './expression.ts'
import { createHtmlCursor, type HtmlCursor, type Position, type Spot } from './html-position.ts'
import { TemplateError } from './template-error.ts'
import { type BlockNode, type Node, parseTemplate } from './tree.ts'

export interface Translation {
  liquid: string
  constants: Record<string, unknown>
  /** Where each statement of the source begins, and the template's line it came from. */
  lines: { begin: number; line: number }[]
}

/** In scope at a node: what `.` is, and the variables declared so far. */
interface Scope {
  dot: string
  names: ReadonlyMap<string, string>
}

export function translate(source: string, html: boolean): Translation {
  const translator = createTranslator(html ? createHtmlCursor() : undefined)
  translator.nodes(parseTemplate(source), { dot: 'root', names: new Map([['$', 'root']]) })
  return translator.result()
}

function createTranslator(html: HtmlCursor | undefined) {
  const statements: string[] = []
  const constants: Record<string, unknown> = {}
  const lines: Translation['lines'] = []
  let length = 0
  let counter = 0

  function emit(statement: string, line: number) {
    lines.push({ begin: length, line })
    statements.push(statement)
    length += statement.length
  }

  function constant(value: unknown): string {
    const name = `k${counter++}`
    constants[name] = value
    return name
  }

  function assign(value: string, line: number): string {
    const name = `t${counter++}`
    emit(`{%assign ${name}=${value}%}`, line)
    return name
  }

  /** Emits what computes the value and returns the name that holds it. */
  function compute(value: Expression, scope: Scope, line: number): string {
    switch (value.kind) {
      case 'literal':
        return constant(value.value)
      case 'variable':
        return variable(value.name, scope, line)
      case 'get': {
        const of = compute(value.of, scope, line)
        return assign(`${of}|go_get:${constant(value.field)}`, line)
      }
      case 'call': {
        const [first, ...others] = value.args.map((arg) => compute(arg, scope, line))
        const args = others.length > 0 ? `:${others.join(',')}` : ''
        return assign(`${first}|go_${value.name}${args}`, line)
      }
    }
  }

  function variable(name: string, scope: Scope, line: number): string {
    const known = name === '.' ? scope.dot : scope.names.get(name)
    if (known === undefined) throw new TemplateError(`${name} is not declared`, line)
    return known
  }

  function nodes(list: Node[], outer: Scope) {
    let scope = outer
    for (const node of list) {
      if (node.kind === 'text') text(node.text, node.line)
      else if (node.kind === 'output') output(node.value, scope, node.line)
      else if (node.kind === 'assign') {
        scope = declare(scope, [node.name], [compute(node.value, scope, node.line)])
      } else block(node, scope)
    }
  }

  function text(literal: string, line: number) {
    html?.read(literal)
    emit(`{{${constant(literal)}|put|raw}}`, line)
  }

  function output(value: Expression, scope: Scope, line: number) {
    const name = compute(value, scope, line)
    const encoded = value.kind === 'call' && value.name === 'urlquery'
    emit(`{{${name}|${outputFilter(html?.value() ?? 'text', encoded, line)}}}`, line)
  }

  function block(node: BlockNode, scope: Scope) {
    const value = compute(node.value, scope, node.line)
    const list = node.kind === 'range' ? assign(`${value}|go_items`, node.line) : value
    const condition = assign(`${list}|go_true`, node.line)
    emit(`{%if ${condition}%}`, node.line)
    const before = html?.mark()
    if (node.kind === 'range') range(node, list, scope)
    else {
      const inner = declare(scope, node.names, [value])
      nodes(node.body, node.kind === 'with' ? { ...inner, dot: value } : inner)
    }
    const after = html?.mark()
    if (before) html?.reset(before)
    if (node.otherwise.length > 0) {
      emit('{%else%}', node.line)
      nodes(node.otherwise, scope)
    }
    if (after) meet(after, node.line)
    emit('{%endif%}', node.line)
  }

  function meet(spot: Spot, line: number) {
    if (html && !html.meet(spot)) {
      throw new TemplateError('its branches end at different places of the HTML', line)
    }
  }

  function range(node: BlockNode, list: string, scope: Scope) {
    const item = `t${counter++}`
    emit(`{%for ${item} in ${list}%}`, node.line)
    const key = assign(`${item}.key`, node.line)
    const value = assign(`${item}.value`, node.line)
    const declared = declare(scope, node.names, node.names.length === 2 ? [key, value] : [value])
    html?.enterLoop()
    const start = html?.mark()
    nodes(node.body, { ...declared, dot: value })
    if (start) meet(start, node.line)
    emit('{%endfor%}', node.line)
  }

  return { nodes, result: (): Translation => ({ liquid: statements.join(''), constants, lines }) }
}

function declare(scope: Scope, names: string[], values: string[]): Scope {
  const known = new Map(scope.names)
  names.forEach((name, i) => {
    const value = values[i]
    if (value !== undefined) known.set(name, value)
  })
  return { ...scope, names: known }
}

function outputFilter(position: Position, encoded: boolean, line: number): string {
  switch (position) {
    case 'text':
    case 'attribute':
      return 'put'
    case 'url':
      return 'put_url'
    case 'url-rest':
      return 'put_url_rest'
    case 'query':
      return encoded ? 'put' : 'put_query'
    case 'unquoted':
      return 'put_unquoted|raw'
    case 'forbidden':
      throw new TemplateError(
        'a value cannot stand in a script, a style or a tag itself, nor be the second in a link without quotes',
        line,
      )
  }
}
