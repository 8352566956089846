/** The configuration out of the environment: every variable read once, every mistake told at once. */
import { type Config, variableEntries } from './config.ts'
import { expectation } from './expectation.ts'
import { type GenericOidcField, genericOidcFields, genericOidcNames } from './generic-oidc.ts'
import { mailLocaleField, mailLocaleNames } from './mail-locales.ts'
import { ConfigError, type Feature, line, type Mistake } from './mistake.ts'
import { type Environment, type Found, lookUp } from './names.ts'
import { giveNotices } from './notices.ts'
import { type Entries, type Faults, readEnvironment } from './read-environment.ts'
import { rules } from './rules/index.ts'

export interface ReadOptions {
  /** Development mode, with the defaults that its starter supplies as environment. */
  dev: boolean
  /** Gets each notice and warning as one sentence. */
  warn(message: string): void
}

/** Under which name each variable that is set was found. */
export type FoundNames = ReadonlyMap<string, Found>

/**
 * Reads and checks the whole configuration; durations come out in seconds.
 * @throws ConfigError with every mistake, each naming its variable and what would be right
 */
export function readConfig(env: Environment, { dev, warn }: ReadOptions): Config {
  const entries = [...variableEntries, ...genericEntries(env), ...mailLocaleEntries(env)]
  const found = findNames(env, entries)
  const texts = Object.fromEntries([...found].map(([variable, { text }]) => [variable, text]))
  const read = readEnvironment({ entries, texts, dev, incomplete: false })
  if (isFaulty(read)) throw new ConfigError(mistakesOf(read, { entries, found, texts, dev }))
  const mistakes = rules.flatMap((rule) => rule(read)).map(asGiven(found))
  const { serious, config } = withoutFeatures(read, mistakes, found, warn)
  if (serious.length > 0) throw new ConfigError(serious)
  giveNotices(env, config, found, warn)
  return asGotrueSigned(config, found, warn)
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
}

/** What is wrong by itself, and what is wrong between variables that are right by themselves. */
function mistakesOf({ missing, wrong }: Faults, given: Given): Mistake[] {
  const { entries, found, texts } = given
  const faulty = new Set([...missing, ...wrong])
  const own = entries.flatMap(([variable, schema]) => {
    const remedy = `it must be ${expectation(schema)}`
    const at = found.get(variable)
    if (!faulty.has(variable)) return []
    if (!at) return [{ variable, problem: 'is not set', remedy }]
    const problem = schema['x-secret'] ? 'has a value that is not right' : `is "${cut(at.text)}"`
    return [{ variable: at.name, problem, remedy }]
  })
  const right = Object.fromEntries(Object.entries(texts).filter(([name]) => !faulty.has(name)))
  const rest = readEnvironment({ ...given, texts: right, incomplete: true })
  if (isFaulty(rest)) return own
  const between = rules.flatMap((rule) => rule(rest))
  const others = between.filter(({ variable }) => !faulty.has(variable))
  return [...own, ...others.map(asGiven(found))]
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
  const isOnlyForeign = ({ askedBy }: Feature) => {
    const asked = askedBy.flatMap((name) => found.get(name) ?? [])
    return asked.length > 0 && asked.every(({ foreign }) => foreign)
  }
  const [serious, light]: [Mistake[], Mistake[]] = [[], []]
  for (const mistake of mistakes) {
    const isLight = mistake.feature !== undefined && isOnlyForeign(mistake.feature)
    ;(isLight ? light : serious).push(mistake)
  }
  for (const mistake of light) {
    warn(
      `${line(mistake).trim().slice(0, -1)}: ${mistake.feature?.name} is switched off until it is.`,
    )
  }
  const off = light.map(({ feature }) => feature?.offBy ?? '')
  const values: Record<string, unknown> = config
  const unset = off.map((name) => [name, values[name] === true ? false : undefined] as const)
  return { serious, config: { ...config, ...Object.fromEntries(unset) } }
}

/** Services that hold GoTrue's shared secret and nothing else go on working until their operator decides. */
function asGotrueSigned(config: Config, found: FoundNames, warn: ReadOptions['warn']): Config {
  const hasOwnKeys = found.has('AUTH_JWT_KEYS') || found.has('AUTH_JWT_ALGORITHM')
  if (hasOwnKeys || !found.get('AUTH_JWT_SECRET')?.foreign) return config
  warn(
    'New tokens are signed with HS256 and GOTRUE_JWT_SECRET, as before; set AUTH_JWT_ALGORITHM=RS256 when every service reads the keys of /.well-known/jwks.json.',
  )
  return { ...config, AUTH_JWT_ALGORITHM: 'HS256' }
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
