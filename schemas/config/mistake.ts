/** What is wrong with one variable, and what would be right, each as a part of a sentence. */
export interface Mistake {
  variable: string
  problem: string
  remedy: string
}

/** Every mistake of a configuration in one error; its message has a line for each. */
export class ConfigError extends Error {
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    const count = mistakes.length === 1 ? 'one mistake' : `${mistakes.length} mistakes`
    super([`The configuration has ${count}:`, ...mistakes.map(line)].join('\n'))
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

function line({ variable, problem, remedy }: Mistake): string {
  return `  ${variable} ${problem}; ${remedy}.`
}
