/**
 * `npm run doctor -- --upgrade`, run by the new version before its first start: reports its changes of the database of
 * the running version, and settings that it interprets differently.
 */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { variableChanges } from '../../config/changes.ts'
import { servesNewer } from '../../db/migrate/applied-migrations.ts'
import { describeTooOld, migrationState } from '../../db/migrate/index.ts'
import { missingIndexes } from '../../db/migrate/indexes.ts'
import { version } from '../../version.ts'
import { type Check, type DoctorContext, type DoctorFinding, fail, pass, warn } from './finding.ts'

const timeoutMs = 5_000
const Health = Type.Object({ version: Type.String() })

export const upgradeChecks: Record<string, Check> = {
  versions: async (context) => [versions(await runningVersion(context))],
  migrations,
  'way back': checkRollback,
  defaults: async (context) => changedDefaults(context, await runningVersion(context)),
}

function versions(running: string | undefined): DoctorFinding {
  if (running === undefined) {
    return warn(
      `This is ${version}. The running version is unknown, because no server responds at AUTH_API_EXTERNAL_URL/health: every known change of a default is listed.`,
    )
  }
  return pass(`This is ${version}, and ${running} is running.`)
}

async function migrations({ db, config }: DoctorContext): Promise<DoctorFinding[]> {
  const schema = config.AUTH_DB_NAMESPACE
  const { applied, pending, unknown, missing } = await migrationState(db, schema)
  if (unknown.length > 0) return [await newer(db, schema, unknown)]
  if (missing.length > 0) return [fail(describeTooOld(schema, missing))]
  const scope = { schema, indexesUserNames: config.AUTH_DB_INDEX_USER_NAMES }
  const indexes = applied.length === 0 ? [] : await missingIndexes(db, scope)
  if (pending.length === 0 && indexes.length === 0) {
    return [pass('This version changes nothing in the database.')]
  }
  return [
    ...pending.map((name) => warn(`The first start applies the migration ${name}.`)),
    ...indexes.map(({ name, table }) =>
      warn(`The first start builds the index ${name} on ${table}, while requests are served.`),
    ),
  ]
}

async function newer(
  db: DoctorContext['db'],
  schema: string,
  unknown: string[],
): Promise<DoctorFinding> {
  const names = unknown.join(', ')
  return (await servesNewer(db, schema))
    ? warn(`The database was migrated by a newer version (${names}). This one can serve it.`)
    : fail(
        `The database was migrated by a newer version (${names}), and this one cannot serve it: start a newer one, or restore a backup.`,
      )
}

async function checkRollback({ db, config }: DoctorContext): Promise<DoctorFinding[]> {
  const { applied, pending, missing } = await migrationState(db, config.AUTH_DB_NAMESPACE)
  if (pending.length === 0) return [pass('The running version can be started again at any time.')]
  if (applied.length === 0) return [pass('The database is new: there is no version to go back to.')]
  if (missing.length > 0) return [pass('This version does not start, and so changes nothing.')]
  return [
    pass('The running version serves the migrated database too: replace replicas one by one.'),
  ]
}

/** Variables that are not set, whose defaults differ from those of the running version. */
function changedDefaults({ config }: DoctorContext, running: string | undefined): DoctorFinding[] {
  const changed = variableChanges.filter(
    ({ variable, lastRelease }) =>
      (running === undefined || !isAbove(running, lastRelease)) && !config.given.has(variable),
  )
  if (changed.length === 0) return [pass('No variable that is not set has another default.')]
  return changed.map(({ variable, sentence }) => warn(`${variable}: ${sentence}.`))
}

function isAbove(running: string, release: string): boolean {
  return running.localeCompare(release, 'en', { numeric: true }) > 0
}

async function runningVersion({ config, fetch }: DoctorContext): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(`${config.AUTH_API_EXTERNAL_URL}/health`, { signal })
    const body: unknown = await response.json()
    return Value.Check(Health, body) ? body.version : undefined
  } catch {
    return undefined
  }
}
