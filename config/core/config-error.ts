/** An error of one variable and a hint how to correct it, each as part of a sentence. */
export interface ConfigIssue {
  variable: string
  problem: string
  hint: string
  /** The feature that is incomplete; an issue without one concerns the whole server. */
  feature?: DisabledFeature
  /** GoTrue's behaviour with the value, as a clause: under GoTrue's names this server does the same, with a warning. */
  inGotrue?: string
}

/** A feature that can be disabled. */
export interface DisabledFeature {
  /** Its name in a notice. */
  name: string
  /** The variables that enable it. */
  enabledBy: readonly string[]
  /** The variable whose absence disables it. */
  disabledBy: string
}

/** Every issue of a configuration in one error; its message has a line for each. */
export class ConfigError extends Error {
  readonly issues: readonly ConfigIssue[]

  /** `unknown` are sentences about unknown names that may explain an issue. */
  constructor(issues: readonly ConfigIssue[], unknown: readonly string[] = []) {
    const count = issues.length === 1 ? 'one error' : `${issues.length} errors`
    const names = unknown.length === 0 ? [] : ['Unknown names:', ...unknown.map(indent)]
    super([`The configuration has ${count}:`, ...issues.map(line), ...names].join('\n'))
    this.name = 'ConfigError'
    this.issues = issues
  }
}

function line(issue: ConfigIssue): string {
  return indent(`${formatIssue(issue)}.`)
}

function indent(sentence: string): string {
  return `  ${sentence}`
}

export function formatIssue({ variable, problem, hint }: ConfigIssue): string {
  return `${variable} ${problem}; ${hint}`
}
