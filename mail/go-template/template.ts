/** Mail templates in the `{{ .Name }}` syntax of Go: read into a tree, checked once, and rendered under limits. */
import { compile } from './compile.ts'
import { createHtmlCursor } from './html-position.ts'
import { createOutput } from './output.ts'
import { parseTemplate } from './tree.ts'

export interface Template {
  /** Throws a TemplateError when the output grows past the limits. */
  render(variables: object): string
}

/**
 * Compiles a template. As html, every value is escaped for the place it stands in; as text, none is.
 * Throws a TemplateError that names the line of a mistake.
 */
export function compileTemplate(source: string, as: 'html' | 'text'): Template {
  const html = as === 'html' ? createHtmlCursor() : undefined
  const template = compile(parseTemplate(source), new Set(['$']), html)
  return {
    render(variables) {
      const output = createOutput()
      template({ dot: variables, names: new Map([['$', { value: variables }]]) }, output)
      return output.text()
    },
  }
}
