/** An error in a template, or an exceeded output limit. */
export class TemplateError extends Error {
  /** 1-based line in the source. */
  readonly line: number

  constructor(problem: string, line: number) {
    super(`line ${line}: ${problem}`)
    this.name = 'TemplateError'
    this.line = line
  }
}
