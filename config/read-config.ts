/** Reads the configuration from the environment: every variable once, and reports all errors together. */
import type { TSchema } from '@sinclair/typebox'

import { ConfigError, type ConfigIssue, formatIssue } from './core/config-error.ts'
import { expectation } from './core/expectation.ts'
import { type Entries, listEntries } from './entries.ts'
import type { FoundNames } from './found-names.ts'
import { withGotrueDefaults } from './gotrue-defaults.ts'
import { asGotrueSigned, asGotrueVerified } from './gotrue-tokens.ts'
import { asGotrueReads } from './gotrue-values.ts'
import type { Config } from './groups/index.ts'
import { type Environment, type Found, isQuoted, lookUp } from './names.ts'
import { emitNotices, listUnknownNames } from './notices.ts'
import { type ConfigIssues, readEnvironment } from './read-environment.ts'
import { rules } from './rules/index.ts'
import { withoutSwitchedOff } from './switched-off.ts'
import { typoSuggestion } from './typos.ts'

interface ReadOptions {
  /** Development mode, whose defaults are in the given environment. */
  dev: boolean
  /** Receives each notice and warning as one sentence. */
  warn(message: string): void
}

/**
 * Reads and validates the whole configuration; durations are seconds. Throws ConfigError with every issue, each with
 * its variable and a hint.
 */
export function readConfig(env: Environment, { dev, warn }: ReadOptions): Config {
  const entries = listEntries(Object.keys(env))
  const found = withoutSwitchedOff(asGotrueReads(findNames(env, entries), warn), warn)
  const texts = Object.fromEntries([...found].map(([variable, { text }]) => [variable, text]))
  const read = readEnvironment({ entries, texts, dev, incomplete: false })
  if (isInvalid(read)) {
    const own = toIssues(read, { entries, found, texts, dev, env })
    throw new ConfigError(own, listUnknownNames(env))
  }
  const signed = asGotrueSigned(read, found)
  const issues = rules.flatMap((rule) => rule(signed)).map(asGiven(found))
  const { serious, config } = withoutFeatures(signed, issues, found, warn)
  if (serious.length > 0) throw new ConfigError(serious, listUnknownNames(env))
  emitNotices(env, config, found, warn)
  return withGotrueDefaults(asGotrueVerified(config, found, warn), found, warn)
}

function findNames(env: Environment, entries: Entries): FoundNames {
  const names = new Map<string, Found>()
  for (const [variable, schema] of entries) {
    const found = lookUp(env, variable, schema)
    if (found) names.set(variable, found)
  }
  return names
}

function isInvalid(read: Config | ConfigIssues): read is ConfigIssues {
  return 'missing' in read
}

interface Given {
  entries: Entries
  found: FoundNames
  texts: Readonly<Record<string, string>>
  dev: boolean
  env: Environment
}

/** Issues of single variables, and issues between valid variables. */
function toIssues({ missing, invalid }: ConfigIssues, source: Given): ConfigIssue[] {
  const { entries, found, texts, env } = source
  const invalidNames = new Set([...missing, ...invalid])
  const own = entries.flatMap(([variable, schema]) => {
    const hint = `it must be ${expectation(schema)}`
    const at = found.get(variable)
    if (!invalidNames.has(variable)) return []
    if (!at) return [{ variable, problem: notSet(typoSuggestion(variable, env)), hint }]
    return [{ variable: at.name, problem: describeProblem(at.text, schema), hint }]
  })
  const right = Object.fromEntries(
    Object.entries(texts).filter(([name]) => !invalidNames.has(name)),
  )
  const rest = readEnvironment({ ...source, texts: right, incomplete: true })
  if (isInvalid(rest)) return own
  const signed = asGotrueSigned(rest, found)
  const between = rules.flatMap((rule) => rule(signed))
  const others = between.filter(({ variable }) => !invalidNames.has(variable))
  const [isTolerated, isLeftOut] = [toleratedIn(found), leftOutIn(found)]
  const given = others.map(asGiven(found))
  return [...own, ...given.filter((issue) => !isTolerated(issue) && !isLeftOut(issue))]
}

function describeProblem(text: string, schema: TSchema): string {
  if (isQuoted(text)) return 'is in quotation marks, which are part of the value'
  return schema['x-secret'] ? 'has an invalid value' : `is "${cut(text)}"`
}

function notSet(typo: string | undefined): string {
  return typo === undefined ? 'is not set' : `is not set (is ${typo} a typo?)`
}

/** Whether an issue, by its name in the environment, is accepted by GoTrue under that name. */
function toleratedIn(found: FoundNames): (issue: ConfigIssue) => boolean {
  const foreign = new Set([...found.values()].flatMap((at) => (at.foreign ? at.name : [])))
  return ({ variable, inGotrue }) => inGotrue !== undefined && foreign.has(variable)
}

/** Whether an issue belongs to a feature requested under GoTrue's names only. */
function leftOutIn(found: FoundNames): (issue: ConfigIssue) => boolean {
  return ({ feature }) => {
    const settings = feature?.enabledBy.flatMap((name) => found.get(name) ?? []) ?? []
    return settings.length > 0 && settings.every(({ foreign }) => foreign)
  }
}

/** Names the issue as in the environment, so that the operator can find it. */
function asGiven(found: FoundNames): (issue: ConfigIssue) => ConfigIssue {
  return (issue) => ({
    ...issue,
    variable: found.get(issue.variable)?.name ?? issue.variable,
  })
}

/**
 * Disables, with a warning, an incomplete feature that was requested under GoTrue's names, as GoTrue does. Under our
 * own names that is an error.
 */
function withoutFeatures(
  config: Config,
  issues: readonly ConfigIssue[],
  found: FoundNames,
  warn: ReadOptions['warn'],
): { serious: ConfigIssue[]; config: Config } {
  const [isTolerated, isLeftOut] = [toleratedIn(found), leftOutIn(found)]
  const others = issues.filter((issue) => !isTolerated(issue))
  const serious = others.filter((issue) => !isLeftOut(issue))
  const leftOut = others.filter(isLeftOut)
  for (const issue of issues.filter(isTolerated)) {
    warn(`${formatIssue(issue)}: ${issue.inGotrue}.`)
  }
  for (const issue of leftOut) {
    warn(`${formatIssue(issue)}: ${issue.feature?.name} is disabled until then.`)
  }
  const off = leftOut.map(({ feature }) => feature?.disabledBy ?? '')
  const values: Record<string, unknown> = config
  const unset = off.map((name) => [name, toOff(values[name])] as const)
  return { serious, config: { ...config, ...Object.fromEntries(unset) } }
}

/** The value of a disabled feature's variable. */
function toOff(value: unknown): unknown {
  if (value === true) return false
  return Array.isArray(value) ? [] : undefined
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
