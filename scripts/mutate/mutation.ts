/** One change of the product that a test cited by a row of docs/coverage.md has to detect. */

/** A variable that is ignored or replaced by another value. */
export interface VariableMutation {
  /** The beginning of the row's first cell, without backticks. */
  row: string
  variable: string
  /** Set whenever the variable is set; without it, the variable counts as unset. */
  text?: string
  /** Of a cited suite, the one test that has to detect it; the others are not run. */
  part?: string
}

/** A unique piece of source, and its replacement. */
export interface SourceMutation {
  row: string
  find: string
  replace: string
}

export type Mutation = VariableMutation | SourceMutation

/** Where the configuration reader decides whether a variable is set. */
const reader = 'if (found) names.set(variable, found)'

/** Every mutation becomes a source mutation. */
export function asSource(mutation: Mutation): SourceMutation {
  if ('find' in mutation) return mutation
  const { row, variable, text } = mutation
  const isIt = `variable === '${variable}'`
  const replace =
    text === undefined
      ? `if (found && !(${isIt})) names.set(variable, found)`
      : `if (found) names.set(variable, ${isIt} ? { ...found, text: ${JSON.stringify(text)} } : found)`
  return { row, find: reader, replace }
}

/** One sentence for the report. */
export function describe(mutation: Mutation): string {
  if ('find' in mutation) return `\`${oneLine(mutation.find)}\` → \`${oneLine(mutation.replace)}\``
  const { variable, text } = mutation
  return text === undefined
    ? `\`${variable}\` is ignored`
    : `\`${variable}\` is read as \`${text}\``
}

/**
 * Tests of the configuration reader show that a variable is read, not that it has an effect: they do not count when the
 * variable is mutated.
 */
export function counts(mutation: Mutation, file: string): boolean {
  return 'find' in mutation || !file.startsWith('test/config/')
}

function oneLine(source: string): string {
  return source.replace(/\s+/g, ' ').trim()
}
