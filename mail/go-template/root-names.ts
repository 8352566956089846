/** The variables that a template uses. One that its type of email does not have is always empty. */
import type { Expression } from './expression.ts'
import type { Node } from './tree.ts'

export interface RootName {
  name: string
  line: number
  /** Used as a condition of `if` or `with`, so that the template expects its absence. */
  isTested: boolean
}

/** In the order of the template. Inside `with` and `range` only `$` refers to the root. */
export function rootNames(nodes: readonly Node[], dotIsRoot = true): RootName[] {
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
