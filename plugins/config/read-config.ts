/** The configuration out of the environment: every variable read once, every mistake told at once. */
import type { TSchema } from '@sinclair/typebox'

import { type Config, variableEntries } from './config.ts'
import { expectation } from './expectation.ts'
import { type GenericOidcField, genericOidcFields, genericOidcNames } from './generic-oidc.ts'
import { asGotrueReads } from './gotrue-values.ts'
import { mailLocaleField, mailLocaleNames } from './mail-locales.ts'
import { ConfigError, clauseOf, type Mistake } from './mistake.ts'
import { type Environment, type Found, isQuoted, lookUp } from './names.ts'
import { giveNotices } from './notices.ts'
import { type Entries, type Faults, readEnvironment } from './read-environment.ts'
import { rules } from './rules/index.ts'
import { slipFor } from './slips.ts'

export interface ReadOptions {
  /** Development mode, with the defaults that its starter supplies as environment. */
  dev: boolean
  /** Gets each notice and warning as one sentence. */
  warn(message: string): void
}

/** Under which name each variable that is set was found. */
export type FoundNames = ReadonlyMap<string, Found>

/**
 * Reads and checks the whole configuration; durations come out in seconds. Throws ConfigError with every mistake, each
 * naming its variable and what would be right.
 */
export function readConfig(env: Environment, { dev, warn }: ReadOptions): Config {
  const entries = [...variableEntries, ...genericEntries(env), ...mailLocaleEntries(env)]
  const found = asGotrueReads(findNames(env, entries), warn)
  const texts = Object.fromEntries([...found].map(([variable, { text }]) => [variable, text]))
  const read = readEnvironment({ entries, texts, dev, incomplete: false })
  if (isFaulty(read)) throw new ConfigError(mistakesOf(read, { entries, found, texts, dev, env }))
  const signed = asGotrueSigned(read, found)
  const mistakes = rules.flatMap((rule) => rule(signed)).map(asGiven(found))
  const { serious, config } = withoutFeatures(signed, mistakes, found, warn)
  if (serious.length > 0) throw new ConfigError(serious)
  giveNotices(env, config, found, warn)
  if (signsAsGotrue(found)) warn(signedAsBefore)
  return asGotrueVerified(config, found, warn)
}

function genericEntries(env: Environment): Entries {
  const fields = Object.keys(genericOidcFields) as GenericOidcField[]
  return genericOidcNames(Object.keys(env)).flatMap((provider) =>
    fields.map(
      (field) => [`AUTH_EXTERNAL_OIDC_${provider}_${field}`, genericOidcFields[field]] as const,
    ),
  )
}

function mailLocaleEntries(env: Environment): Entries {
  return mailLocaleNames(Object.keys(env)).map((name) => [name, mailLocaleField] as const)
}

function findNames(env: Environment, entries: Entries): FoundNames {
  const names = new Map<string, Found>()
  for (const [variable, schema] of entries) {
    const found = lookUp(env, variable, schema)
    if (found) names.set(variable, found)
  }
  return names
}

function isFaulty(read: Config | Faults): read is Faults {
  return 'missing' in read
}

interface Given {
  entries: Entries
  found: FoundNames
  texts: Readonly<Record<string, string>>
  dev: boolean
  env: Environment
}

/** What is wrong by itself, and what is wrong between variables that are right by themselves. */
function mistakesOf({ missing, wrong }: Faults, source: Given): Mistake[] {
  const { entries, found, texts, env } = source
  const faulty = new Set([...missing, ...wrong])
  const own = entries.flatMap(([variable, schema]) => {
    const remedy = `it must be ${expectation(schema)}`
    const at = found.get(variable)
    if (!faulty.has(variable)) return []
    if (!at) return [{ variable, problem: notSet(slipFor(variable, env)), remedy }]
    return [{ variable: at.name, problem: problemOf(at.text, schema), remedy }]
  })
  const right = Object.fromEntries(Object.entries(texts).filter(([name]) => !faulty.has(name)))
  const rest = readEnvironment({ ...source, texts: right, incomplete: true })
  if (isFaulty(rest)) return own
  const signed = asGotrueSigned(rest, found)
  const between = rules.flatMap((rule) => rule(signed))
  const others = between.filter(({ variable }) => !faulty.has(variable))
  const [isTolerated, isLeftOut] = [toleratedIn(found), leftOutIn(found)]
  const given = others.map(asGiven(found))
  return [...own, ...given.filter((mistake) => !isTolerated(mistake) && !isLeftOut(mistake))]
}

function problemOf(text: string, schema: TSchema): string {
  if (isQuoted(text)) return 'stands in quotation marks, which are part of its value'
  return schema['x-secret'] ? 'has a value that is not right' : `is "${cut(text)}"`
}

function notSet(slip: string | undefined): string {
  return slip === undefined ? 'is not set' : `is not set (is ${slip} meant to be it?)`
}

/** Whether a mistake, by the name in the environment, is none in GoTrue and stands under its name. */
function toleratedIn(found: FoundNames): (mistake: Mistake) => boolean {
  const foreign = new Set([...found.values()].flatMap((at) => (at.foreign ? at.name : [])))
  return ({ variable, inGotrue }) => inGotrue !== undefined && foreign.has(variable)
}

/** Whether a mistake is one of a feature that was asked for under GoTrue's names alone. */
function leftOutIn(found: FoundNames): (mistake: Mistake) => boolean {
  return ({ feature }) => {
    const asked = feature?.askedBy.flatMap((name) => found.get(name) ?? []) ?? []
    return asked.length > 0 && asked.every(({ foreign }) => foreign)
  }
}

/** By the name that stands in the environment, so that it is found there. */
function asGiven(found: FoundNames): (mistake: Mistake) => Mistake {
  return (mistake) => ({
    ...mistake,
    variable: found.get(mistake.variable)?.name ?? mistake.variable,
  })
}

/**
 * A feature that was asked for under GoTrue's names, and lacks something, is left out with a warning, as it was there.
 * Under our own names that is a mistake.
 */
function withoutFeatures(
  config: Config,
  mistakes: readonly Mistake[],
  found: FoundNames,
  warn: ReadOptions['warn'],
): { serious: Mistake[]; config: Config } {
  const [isTolerated, isLeftOut] = [toleratedIn(found), leftOutIn(found)]
  const others = mistakes.filter((mistake) => !isTolerated(mistake))
  const serious = others.filter((mistake) => !isLeftOut(mistake))
  const leftOut = others.filter(isLeftOut)
  for (const mistake of mistakes.filter(isTolerated)) {
    warn(`${clauseOf(mistake)}: ${mistake.inGotrue}.`)
  }
  for (const mistake of leftOut) {
    warn(`${clauseOf(mistake)}: ${mistake.feature?.name} is switched off until it is.`)
  }
  const off = leftOut.map(({ feature }) => feature?.offBy ?? '')
  const values: Record<string, unknown> = config
  const unset = off.map((name) => [name, values[name] === true ? false : undefined] as const)
  return { serious, config: { ...config, ...Object.fromEntries(unset) } }
}

/** Services that hold GoTrue's shared secret and nothing else go on working until their operator decides. */
function signsAsGotrue(found: FoundNames): boolean {
  const hasOwnKeys = found.has('AUTH_JWT_KEYS') || found.has('AUTH_JWT_ALGORITHM')
  return !hasOwnKeys && found.get('AUTH_JWT_SECRET')?.foreign === true
}

function asGotrueSigned(config: Config, found: FoundNames): Config {
  return signsAsGotrue(found) ? { ...config, AUTH_JWT_ALGORITHM: 'HS256' } : config
}

const signedAsBefore =
  'New tokens are signed with HS256 and GOTRUE_JWT_SECRET, as before; set AUTH_JWT_ALGORITHM=RS256 when every service reads the keys of /.well-known/jwks.json.'

/** A secret that GOTRUE_JWT_KEYS has retired must not come back to life: GoTrue refuses HS256 when no key is for it. */
function asGotrueVerified(config: Config, found: FoundNames, warn: ReadOptions['warn']): Config {
  const { AUTH_JWT_KEYS: keys = [], AUTH_JWT_VALID_METHODS } = config
  if (!found.get('AUTH_JWT_KEYS')?.foreign || found.has('AUTH_JWT_ACCEPT_SECRET')) return config
  const methods = AUTH_JWT_VALID_METHODS ?? keys.map(({ alg }) => alg)
  if (methods.includes('HS256')) return config
  warn(
    'Tokens signed with GOTRUE_JWT_SECRET are refused, as before, because no key of GOTRUE_JWT_KEYS is for HS256; AUTH_JWT_ACCEPT_SECRET=true accepts them.',
  )
  return { ...config, AUTH_JWT_ACCEPT_SECRET: false }
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
