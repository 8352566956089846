/** Email templates in Go's `{{ .Name }}` syntax: parsed and checked once, rendered under limits. */
import { compile, createOutput } from './compile.ts'
import type { Expression } from './expression.ts'
import { createHtmlCursor } from './html-position.ts'
import { type Node, parseTemplate } from './tree.ts'

export interface Template {
  /** Throws a TemplateError when the output exceeds the limits. */
  render(variables: object): string
  /** The variables that it uses. */
  names: readonly RootName[]
}

/**
 * Compiles a template. As html, every value is escaped for its context; as text, none is. Throws a TemplateError with
 * the line of an error.
 */
export function compileTemplate(source: string, as: 'html' | 'text'): Template {
  const html = as === 'html' ? createHtmlCursor() : undefined
  const nodes = parseTemplate(source)
  const template = compile(nodes, new Set(['$']), html)
  return {
    names: rootNames(nodes),
    render(variables) {
      const output = createOutput()
      template({ dot: variables, names: new Map([['$', { value: variables }]]) }, output)
      return output.text()
    },
  }
}

export interface RootName {
  name: string
  line: number
  /** Used as a condition of `if` or `with`, so that the template expects its absence. */
  isTested: boolean
}

/** In the order of the template. Inside `with` and `range` only `$` refers to the root. */
function rootNames(nodes: readonly Node[], dotIsRoot = true): RootName[] {
  return nodes.flatMap((node) => {
    if (node.kind === 'text') return []
    const isTested = node.kind === 'if' || node.kind === 'with'
    const own = listKeys(node.value, dotIsRoot).map((name) => ({ name, line: node.line, isTested }))
    if (!('body' in node)) return own
    const body = rootNames(node.body, dotIsRoot && node.kind === 'if')
    return [...own, ...body, ...rootNames(node.otherwise, dotIsRoot)]
  })
}

function listKeys(expression: Expression, dotIsRoot: boolean): string[] {
  if (expression.kind === 'call') return expression.args.flatMap((arg) => listKeys(arg, dotIsRoot))
  if (expression.kind !== 'get') return []
  const { of, field } = expression
  if (of.kind !== 'variable') return listKeys(of, dotIsRoot)
  return of.name === '$' || (of.name === '.' && dotIsRoot) ? [field] : []
}
