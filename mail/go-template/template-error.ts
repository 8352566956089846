/** A mistake in a template, or one whose output exceeds the limits. */
export class TemplateError extends Error {
  /** Counted from 1, in the template as its author wrote it. */
  readonly line: number

  constructor(problem: string, line: number) {
    super(`line ${line}: ${problem}`)
    this.name = 'TemplateError'
    this.line = line
  }
}
