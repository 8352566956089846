/** The configuration out of the environment: every variable parsed once, every mistake told at once. */
import type { TSchema } from '@sinclair/typebox'

import { type Config, variableEntries } from './config.ts'
import { type GenericOidcField, genericOidcFields, genericOidcNames } from './generic-oidc.ts'
import { ConfigError, type Mistake } from './mistake.ts'
import type { Environment } from './names.ts'
import { giveNotices } from './notices.ts'
import { type Reading, readVariable } from './read-variable.ts'
import { rules } from './rules/index.ts'

export interface ReadOptions {
  /** Development mode, with the defaults that its starter supplies as environment. */
  dev: boolean
  /** Gets each notice and warning as one sentence. */
  warn(message: string): void
}

/**
 * Reads and checks the whole configuration; durations come out in seconds.
 * @throws ConfigError with every mistake, each naming its variable and what would be right
 */
export function readConfig(env: Environment, { dev, warn }: ReadOptions): Config {
  const readings = new Map(
    allVariables(env).map(([name, schema]) => [name, readVariable(env, name, schema)]),
  )
  const values: Record<string, unknown> = { dev }
  for (const [name, { value }] of readings) values[name] = value
  const config = values as Config

  const mistakes = [...mistakesOf(readings), ...crossChecks(config, readings)]
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  giveNotices(env, config, readings, warn)
  return config
}

function allVariables(env: Environment): [string, TSchema][] {
  const fields = Object.entries(genericOidcFields) as [GenericOidcField, TSchema][]
  const generic = genericOidcNames(Object.keys(env)).flatMap((provider) =>
    fields.map(([field, schema]): [string, TSchema] => [
      `AUTH_EXTERNAL_OIDC_${provider}_${field}`,
      schema,
    ]),
  )
  return [...variableEntries, ...generic]
}

function mistakesOf(readings: Map<string, Reading>): Mistake[] {
  return [...readings.values()].flatMap(({ mistake }) => (mistake ? [mistake] : []))
}

/** A variable whose own text is wrong is not blamed a second time for what follows from it. */
function crossChecks(config: Config, readings: Map<string, Reading>): Mistake[] {
  const isWrong = (variable: string) => readings.get(variable)?.mistake !== undefined
  return rules.flatMap((rule) => rule(config)).filter(({ variable }) => !isWrong(variable))
}
