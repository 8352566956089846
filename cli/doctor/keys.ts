/** The keys that sign tokens and encrypt what is stored: which they are, and how old. */
import { findProbe } from '../../db/encryption-probe.ts'
import { hasTable } from '../../db/gotrue-database.ts'
import { findTakeover } from '../../db/takeover.ts'
import { NoEncryptionKeyError, probe } from '../../plugins/encryption-probe.ts'
import { currentKey } from './current-key.ts'
import { type Finding, fail, pass, type Surroundings, warn } from './finding.ts'

/** Days. */
const longestUse = 180

export async function keys(surroundings: Surroundings): Promise<Finding[]> {
  return [...(await signing(surroundings)), await encryption(surroundings)]
}

async function signing(surroundings: Surroundings): Promise<Finding[]> {
  const { config, now } = surroundings
  if (config.AUTH_JWT_KEYS) return [pass('Tokens are signed with your own key of AUTH_JWT_KEYS.')]
  if (config.AUTH_JWT_ALGORITHM === 'HS256') {
    return [
      warn(
        'Tokens are signed with AUTH_JWT_SECRET: whoever can verify them can make them. Set AUTH_JWT_ALGORITHM=RS256 when every service reads /.well-known/jwks.json.',
      ),
    ]
  }
  const current = await currentKey(surroundings)
  if (!current) return []
  const signsSince = current.activates_at ?? current.created_at
  const days = Math.floor((now.getTime() - signsSince.getTime()) / 86_400_000)
  const fact = `The signing key (${current.alg}) is ${days} days old`
  if (days <= longestUse) return [pass(`${fact}.`)]
  return [warn(`${fact}: run npm run keys -- rotate, which nobody notices.`)]
}

async function encryption(surroundings: Surroundings): Promise<Finding> {
  if (surroundings.config.AUTH_ENCRYPTION_KEY) {
    return pass('What is stored has an encryption key of its own.')
  }
  if (await isNew(surroundings)) return fail(new NoEncryptionKeyError().message)
  return warn(
    'AUTH_ENCRYPTION_KEY is not set: the key comes from AUTH_JWT_SECRET, which then cannot be replaced alone. docs/operations.md says how to set it.',
  )
}

/** Whether nothing is encrypted in the database, and no GoTrue has people there. */
async function isNew({ config, db }: Surroundings): Promise<boolean> {
  const schema = config.AUTH_DB_NAMESPACE
  try {
    if (!(await hasTable(db, schema, 'postern_encryption_probe'))) {
      return !(await hasTable(db, schema, 'users'))
    }
    if ((await findTakeover(db)).state === 'shared') return false
    return (await findProbe(db, probe.id)) === undefined
  } catch {
    // Why the database does not answer is told by its own check.
    return false
  }
}
