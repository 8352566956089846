/** What is wrong with one variable, and what would be right, each as a part of a sentence. */
export interface Mistake {
  variable: string
  problem: string
  remedy: string
  /** The feature that lacks something; a mistake without one is about the whole server. */
  feature?: Feature
  /** What GoTrue does with it, as a clause: under its names that is done here, too, with a warning. */
  inGotrue?: string
}

/** A feature that can be left out. */
export interface Feature {
  /** What it is called in a notice. */
  name: string
  /** The variables that ask for it. */
  askedBy: readonly string[]
  /** The variable without which it is off. */
  offBy: string
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

function line(mistake: Mistake): string {
  return `  ${clauseOf(mistake)}.`
}

export function clauseOf({ variable, problem, remedy }: Mistake): string {
  return `${variable} ${problem}; ${remedy}`
}
