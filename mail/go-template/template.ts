/** Mail templates in the `{{ .Name }}` syntax of Go, run by LiquidJS under limits. */
import { Liquid, LiquidError } from 'liquidjs'
import { filters } from './filters.ts'
import { TemplateError } from './template-error.ts'
import { translate } from './translate.ts'

export interface Template {
  /** Throws a TemplateError when the output grows past the limits. */
  render(variables: object): string
}

/** Characters of output, and milliseconds, that one rendering may take. */
const outputLimit = 2_000_000
const timeLimit = 250

const htmlEngine = createEngine(true)
const textEngine = createEngine(false)

/**
 * Compiles a template. As html, every value is escaped for the place it stands in; as text, none is.
 * Throws a TemplateError that names the line of a mistake.
 */
export function compileTemplate(source: string, as: 'html' | 'text'): Template {
  const { liquid, constants, lines } = translate(source, as === 'html')
  const engine = as === 'html' ? htmlEngine : textEngine
  const parsed = engine.parse(liquid)
  return {
    render(variables) {
      try {
        return engine.renderSync(parsed, { ...constants, root: variables })
      } catch (error) {
        if (!LiquidError.is(error)) throw error
        const at = error.token.begin
        const line = lines.findLast(({ begin }) => begin <= at)?.line ?? 1
        throw new TemplateError('the output grows too large or takes too long', line)
      }
    },
  }
}

function createEngine(escaping: boolean): Liquid {
  const engine = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    memoryLimit: outputLimit,
    renderLimit: timeLimit,
    // Nothing is ever read from a disk: there is no template but the one given.
    templates: {},
    ...(escaping ? { outputEscape: 'escape' } : {}),
  })
  for (const [name, filter] of Object.entries(filters)) engine.registerFilter(name, filter)
  return engine
}
