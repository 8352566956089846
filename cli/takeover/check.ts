/** Checks a GoTrue database before the first start on it. All changes are rolled back. */
import type { Config } from '../../config/groups/index.ts'
import { signingAlgorithm } from '../../config/groups/signing-algorithm.ts'
import type { Db } from '../../db/core/database.ts'
import { findMissingRights, foreignEncoding } from '../../db/core/requirements.ts'
import { gotrueVersionsIn, hasTable } from '../../db/gotrue/database.ts'
import { countOAuthClients } from '../../db/gotrue/oauth-clients.ts'
import { gotrueLevel, knownGotrueVersions } from '../../db/migrations/gotrue-level.ts'
import type { CommandContext } from '../shared/context.ts'
import { describeExpiredMetadata } from '../shared/expired-metadata.ts'
import { audiences } from './audiences.ts'
import { ciphertext } from './ciphertext.ts'
import { contents } from './contents.ts'
import { note, ok, stop, type TakeoverFinding } from './finding.ts'
import { foreignObjects } from './foreign-objects.ts'
import { hooksInUse } from './hooks.ts'
import { migrationTrial } from './migration-trial.ts'
import { rights } from './rights.ts'
import { templates } from './templates.ts'

/** Returns what an operator should know before the first start, and the reasons that prevent it. */
export async function checkTakeover(
  context: Pick<CommandContext, 'config' | 'db' | 'pool'>,
): Promise<TakeoverFinding[]> {
  const { config, db, pool } = context
  const schema = config.AUTH_DB_NAMESPACE
  const blockers = [...(await findMissingRights(db, schema)), ...(await foreignEncoding(db))]
  if (blockers.length > 0) return [...blockers.map(stop), ...(await rights(db, schema))]
  if (!(await hasTable(db, schema, 'users'))) {
    const isNew = ok(`The schema "${schema}" has no users: a new installation.`)
    return [isNew, ...(await migrationTrial(pool, schema)), ...settings(config)]
  }
  const level = await levels(db, schema)
  const granted = await rights(db, schema)
  const mayMigrate = ![...level, ...granted].some(isStop)
  return [
    ...level,
    ...granted,
    ...(level.some(isStop)
      ? [note('The contents of the tables are checked once their migrations are current.')]
      : await rows(db, config)),
    // A known blocker would also make the dry run fail.
    ...(mayMigrate ? await migrationTrial(pool, schema) : []),
    ...(await foreignObjects(db, schema)),
    ...(await hooksInUse(db, config)),
    ...settings(config),
  ]
}

function settings(config: Config): TakeoverFinding[] {
  return [
    ok(`The server would listen on port ${config.PORT}.`),
    ok(`New access tokens would be signed with ${signingAlgorithm(config)}.`),
    ...templates(config),
  ]
}

const isStop = ({ level }: TakeoverFinding) => level === 'stop'

/** Uses columns that older tables do not have. */
async function rows(db: Db, config: Config): Promise<TakeoverFinding[]> {
  const schema = config.AUTH_DB_NAMESPACE
  return [
    ...(await ciphertext(db, schema, config)),
    ...(await audiences(db, config)),
    ...(await oauthClients(db, config)),
    ...(await describeExpiredMetadata({ config, db }, new Date())).map(note),
    ...(await contents(db, schema)),
  ]
}

async function levels(db: Db, schema: string): Promise<TakeoverFinding[]> {
  const versions = await gotrueVersionsIn(db, schema)
  const last = versions.filter((version) => knownGotrueVersions.includes(version)).at(-1) ?? 'none'
  if (!versions.includes(gotrueLevel)) {
    return [
      stop(
        `GoTrue's migrations end at ${last}, and ${gotrueLevel} is needed: run GoTrue v2.196.0 or later once with "auth migrate".`,
      ),
    ]
  }
  const newer = versions.filter(
    (version) => version > gotrueLevel && !knownGotrueVersions.includes(version),
  )
  if (newer.length === 0) return [ok(`GoTrue's migrations are at ${last}.`)]
  return [
    note(`GoTrue has ${newer.length} newer migrations than this version supports; they are kept.`),
  ]
}

async function oauthClients(db: Db, config: Config): Promise<TakeoverFinding[]> {
  if (config.AUTH_OAUTH_SERVER_ENABLED) return []
  const clients = await countOAuthClients(db, config.AUTH_DB_NAMESPACE)
  if (clients === 0) return []
  const words = `The database has OAuth clients (${clients}), and the OAuth server is off.`
  return config.AUTH_TAKEOVER_ACCEPT_MISSING.includes('oauth_server')
    ? [note(`${words} Accepted.`)]
    : [
        stop(
          `${words} Set AUTH_OAUTH_SERVER_ENABLED=true, or AUTH_TAKEOVER_ACCEPT_MISSING=oauth_server to start without it.`,
        ),
      ]
}
