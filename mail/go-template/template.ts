/** Email templates in Go's `{{ .Name }}` syntax: parsed and checked once, rendered under limits. */
import { compile } from './compile.ts'
import { createHtmlCursor } from './html-position.ts'
import { createOutput } from './output.ts'
import { type RootName, rootNames } from './root-names.ts'
import { parseTemplate } from './tree.ts'

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
