/** Reads the configuration from the environment: every variable once, and reports all errors together. */
import type { TSchema } from '@sinclair/typebox'

import { ConfigError, type ConfigIssue, formatIssue } from './core/config-error.ts'
import { expectation } from './core/expectation.ts'
import { parsers } from './core/parsers.ts'
import { asGotrueReads, withGotrueDefaults } from './gotrue-values.ts'
import { type Config, type ConfigVariableName, variableEntries, variables } from './groups/index.ts'
import {
  type Entries,
  type Environment,
  type Found,
  type FoundNames,
  isQuoted,
  listEntries,
  lookUp,
} from './names.ts'
import { emitNotices, listUnknownNames } from './notices.ts'
import { accepts, type ConfigIssues, readEnvironment } from './read-environment.ts'
import { rules } from './rules/index.ts'
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

// Invalid variables of a disabled feature do not prevent the start.

const switches = {
  AUTH_SAML_: 'AUTH_SAML_ENABLED',
  AUTH_OAUTH_SERVER_: 'AUTH_OAUTH_SERVER_ENABLED',
} as const satisfies Record<string, ConfigVariableName>

type Switch = (typeof switches)[keyof typeof switches]

/** Removes invalid values of disabled features, with a warning for each. */
function withoutSwitchedOff(found: FoundNames, warn: (notice: string) => void): FoundNames {
  const remaining = new Map<string, Found>(found)
  for (const [variable, schema] of variableEntries) {
    const at = found.get(variable)
    const flag = findSwitch(variable)
    if (!at || flag === undefined || isOn(flag, found) || accepts(schema, at.text)) continue
    const problem = schema['x-secret'] ? 'has an invalid value' : `is "${at.text}"`
    const hint = `it must be ${expectation(schema)}`
    warn(
      `${formatIssue({ variable: at.name, problem, hint })}: it is ignored because ${flag} is not true.`,
    )
    remaining.delete(variable)
  }
  return remaining
}

function findSwitch(variable: string): Switch | undefined {
  const [, flag] = Object.entries(switches).find(([prefix]) => variable.startsWith(prefix)) ?? []
  return flag === variable ? undefined : flag
}

/** An invalid switch is reported by itself. */
function isOn(flag: Switch, found: FoundNames): boolean {
  const text = found.get(flag)?.text
  return text !== undefined && parsers.bool?.(text, variables[flag]) !== false
}

type Warn = (message: string) => void

/** Services that only have GoTrue's shared secret keep working until the operator decides otherwise. */
function signsAsGotrue(found: FoundNames): boolean {
  const hasOwnKeys = found.has('AUTH_JWT_KEYS') || found.has('AUTH_JWT_ALGORITHM')
  return !hasOwnKeys && found.get('AUTH_JWT_SECRET')?.foreign === true
}

/** Token rules under GoTrue's names, where the same variables under our names are stricter. */
function asGotrueSigned(config: Config, found: FoundNames): Config {
  return signsAsGotrue(found) ? { ...config, AUTH_JWT_ALGORITHM: 'HS256' } : config
}

/** Adds a notice for each rule that is applied as in GoTrue. */
function asGotrueVerified(config: Config, found: FoundNames, warn: Warn): Config {
  if (signsAsGotrue(found)) warn(signedAsBefore)
  return anyAudience(withoutRetiredSecret(config, found, warn), found, warn)
}

const signedAsBefore =
  'New tokens are signed with HS256 and GOTRUE_JWT_SECRET, as before; set AUTH_JWT_ALGORITHM=RS256 when every service verifies with /.well-known/jwks.json.'

/** A secret retired by GOTRUE_JWT_KEYS must stay rejected: GoTrue rejects HS256 without an HS256 key. */
function withoutRetiredSecret(config: Config, found: FoundNames, warn: Warn): Config {
  const { AUTH_JWT_KEYS: keys = [], AUTH_JWT_VALID_METHODS } = config
  if (!found.get('AUTH_JWT_KEYS')?.foreign || found.has('AUTH_JWT_ACCEPT_SECRET')) return config
  const methods = AUTH_JWT_VALID_METHODS ?? keys.map(({ alg }) => alg)
  if (methods.includes('HS256')) return config
  warn(
    'Tokens signed with GOTRUE_JWT_SECRET are rejected, as before, because GOTRUE_JWT_KEYS has no HS256 key; AUTH_JWT_ACCEPT_SECRET=true accepts them.',
  )
  return { ...config, AUTH_JWT_ACCEPT_SECRET: false }
}

/** Apps of GoTrue may use audiences that its configuration does not list. */
function anyAudience(config: Config, found: FoundNames, warn: Warn): Config {
  const names = ['AUTH_JWT_AUD', 'AUTH_JWT_SECRET']
  const isGotrue = names.some((name) => found.get(name)?.foreign)
  if (!isGotrue || found.has('AUTH_JWT_ALLOWED_AUDIENCES')) return config
  warn(
    'X-JWT-AUD may name any audience, as before, and a signed token then carries it; AUTH_JWT_ALLOWED_AUDIENCES lists those that you use.',
  )
  return { ...config, AUTH_JWT_ALLOWED_AUDIENCES: ['*'] }
}
