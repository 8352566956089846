/**
 * Changes that docs/operations.md ("Versions") forbids between two releases. A patch keeps database objects, API,
 * tokens and configuration; a minor keeps API and configuration; a major keeps nothing.
 */
import { type Answers, brokenAnswers } from './response-fields.ts'

type Change = 'major' | 'minor' | 'patch'

export interface Release {
  version: string
  /** `METHOD /path` of each operation, with its parameters and fields: names, and whether they are required. */
  operations: ReadonlyMap<string, ReadonlyMap<string, boolean>>
  /** The response fields of each operation. */
  answers: ReadonlyMap<string, Answers>
  /** Default of every variable, as documented. */
  variables: ReadonlyMap<string, string>
  /** Text of every migration, by name. */
  migrations: ReadonlyMap<string, string>
}

/** Statements that remove what a database client may use. */
const destructive =
  /drop\s+(table|column|view|function|type|index)|truncate|alter\s+column\s+\S+\s+(set\s+data\s+)?type|dropTable|dropColumn|dropIndex/i

/** Throws for an invalid version, and for one not above the other. */
export function changeBetween(before: string, after: string): Change {
  const [major = 0, minor = 0, patch = 0] = parseVersion(before)
  const [nextMajor = 0, nextMinor = 0, nextPatch = 0] = parseVersion(after)
  if (nextMajor > major) return 'major'
  if (nextMajor === major && nextMinor > minor) return 'minor'
  if (nextMajor === major && nextMinor === minor && nextPatch > patch) return 'patch'
  throw new Error(`${after} is not above ${before}`)
}

function parseVersion(version: string): number[] {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(version)
  if (!parts) throw new Error(`${version} is no semantic version`)
  return parts.slice(1).map(Number)
}

/** One sentence for each violation. */
export function brokenPromises(before: Release, after: Release): string[] {
  const change = changeBetween(before.version, after.version)
  const migrations = [...changedMigrations(before, after), ...earlyContractions(before, after)]
  if (change === 'major') return migrations
  const more =
    change === 'patch' ? [...changedDefaults(before, after), ...losses(before, after)] : []
  return [
    ...migrations,
    ...lostOperations(before, after),
    ...lostAnswers(before, after),
    ...lostVariables(before, after),
    ...more,
  ]
}

/** An applied migration is history, whatever the version. */
function changedMigrations(before: Release, after: Release): string[] {
  return [...before.migrations].flatMap(([name, text]) => {
    const now = after.migrations.get(name)
    if (now === undefined) {
      return [
        `The migration ${name} was removed: the server does not start on databases that have it.`,
      ]
    }
    return now === text
      ? []
      : [`The migration ${name} has changed although it has already run. Add a new one.`]
  })
}

/** Expand, then contract a release later: replicas of the last release serve the new schema while they are replaced. */
function earlyContractions(before: Release, after: Release): string[] {
  return addedMigrations(before, after).flatMap(([name, text]) => {
    if (!destructive.test(text)) return []
    const floor = /serveFrom\(\w+, '([^']+)'\)/.exec(text)?.[1]
    return floor !== undefined && before.migrations.has(floor)
      ? []
      : [
          `The migration ${name} removes something: its serveFrom must name the migration of ${before.version} that stopped needing it.`,
        ]
  })
}

function addedMigrations(before: Release, after: Release): [name: string, text: string][] {
  return [...after.migrations].filter(([name]) => !before.migrations.has(name))
}

function lostOperations(before: Release, after: Release): string[] {
  return [...before.operations].flatMap(([operation, fields]) => {
    const now = after.operations.get(operation)
    if (!now) return [`${operation} is gone.`]
    const demanded = [...now].filter(([name, required]) => required && !fields.get(name))
    const lost = [...fields.keys()].filter((name) => !now.has(name))
    return [
      ...demanded.map(([name]) => `${operation} now demands ${name}.`),
      ...lost.map((name) => `${operation} no longer accepts ${name}.`),
    ]
  })
}

/** A removed operation is reported once. */
function lostAnswers(before: Release, after: Release): string[] {
  return [...before.answers].flatMap(([operation, responses]) => {
    const now = after.answers.get(operation)
    return now ? brokenAnswers(operation, responses, now) : []
  })
}

function lostVariables(before: Release, after: Release): string[] {
  const lost = [...before.variables.keys()].filter((name) => !after.variables.has(name))
  return lost.map((name) => `The variable ${name} was removed: keep it, with x-deprecated.`)
}

function changedDefaults(before: Release, after: Release): string[] {
  return [...before.variables].flatMap(([name, value]) => {
    const now = after.variables.get(name)
    return now === undefined || now === value ? [] : [`${name} was ${value} and is now ${now}.`]
  })
}

function losses(before: Release, after: Release): string[] {
  return addedMigrations(before, after)
    .filter(([, text]) => destructive.test(text))
    .map(([name]) => `The migration ${name} removes something: that requires a minor version.`)
}
