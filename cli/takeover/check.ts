/** What is found in a database before this server is started on it. Reads only. */
import type { Db } from '../../db/database.ts'
import { findMissingInUse, type MissingFeature, missingFeatures } from '../../db/features-in-use.ts'
import { gotrueVersionsIn, hasTable } from '../../db/gotrue-database.ts'
import { gotrueLevel, gotrueVersions } from '../../db/migrations/gotrue-level.ts'
import { findObstacles, foreignEncoding } from '../../db/unusable-database.ts'
import type { Config } from '../../plugins/config/config.ts'
import { signingAlgorithm } from '../../plugins/config/signing-algorithm.ts'
import { audiences } from './audiences.ts'
import { ciphertext } from './ciphertext.ts'
import { contents } from './contents.ts'
import { type Finding, note, ok, stop } from './finding.ts'
import { foreignObjects } from './foreign-objects.ts'
import { hooksInUse } from './hooks.ts'
import { rights } from './rights.ts'
import { templates } from './templates.ts'

export async function examine(db: Db, config: Config): Promise<Finding[]> {
  const schema = config.AUTH_DB_NAMESPACE
  const settings = [
    ok(`The server would answer on port ${config.PORT}.`),
    ok(`New access tokens would be signed with ${signingAlgorithm(config)}.`),
    ...templates(config),
  ]
  const obstacles = [...(await findObstacles(db, schema)), ...(await foreignEncoding(db))]
  if (obstacles.length > 0) return [...obstacles.map(stop), ...(await rights(db, schema))]
  if (!(await hasTable(db, schema, 'users'))) {
    return [ok(`The schema "${schema}" has no people: everything will be made.`), ...settings]
  }
  const level = await levels(db, schema)
  return [
    ...level,
    ...(await rights(db, schema)),
    ...(level.some((finding) => finding.level === 'stop')
      ? [note('What the tables hold is looked at when their migrations are current.')]
      : await rows(db, config)),
    ...(await foreignObjects(db, schema)),
    ...(await hooksInUse(db, config)),
    ...settings,
  ]
}

/** By columns that older tables do not have. */
async function rows(db: Db, config: Config): Promise<Finding[]> {
  const schema = config.AUTH_DB_NAMESPACE
  return [
    ...(await ciphertext(db, schema, config)),
    ...(await audiences(db, config)),
    ...(await features(db, config)),
    ...(await contents(db, schema)),
  ]
}

async function levels(db: Db, schema: string): Promise<Finding[]> {
  const versions = await gotrueVersionsIn(db, schema)
  const last = versions.filter((version) => gotrueVersions.includes(version)).at(-1) ?? 'none'
  if (!versions.includes(gotrueLevel)) {
    return [
      stop(
        `GoTrue's migrations end at ${last}, and ${gotrueLevel} is needed: run GoTrue v2.196.0 or later once with "auth migrate".`,
      ),
    ]
  }
  const newer = versions.filter((version) => version > gotrueLevel)
  if (newer.length === 0) return [ok(`GoTrue's migrations are at ${gotrueLevel}.`)]
  return [note(`GoTrue has ${newer.length} newer migrations than are known here; they are kept.`)]
}

async function features(db: Db, config: Config): Promise<Finding[]> {
  const accepted: readonly MissingFeature[] = config.AUTH_TAKEOVER_ACCEPT_MISSING
  const inUse = await findMissingInUse(db, config.AUTH_DB_NAMESPACE)
  return inUse.map(({ feature, rows }) => {
    const words = `In use and not there yet: ${missingFeatures[feature]} (${rows} rows).`
    return accepted.includes(feature)
      ? note(`${words} Accepted.`)
      : stop(`${words} AUTH_TAKEOVER_ACCEPT_MISSING=${feature} starts without.`)
  })
}
