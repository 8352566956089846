/** Checks the signing and encryption keys and their age. */
import { hasTable } from '../../db/gotrue/database.ts'
import { listSigningKeys, type SigningKeyRow } from '../../db/keys/signing-keys.ts'
import { type DoctorContext, type DoctorFinding, pass, warn } from './finding.ts'

/** Days. */
const maxAgeDays = 180

export async function checkKeys(context: DoctorContext): Promise<DoctorFinding[]> {
  return [...(await signing(context)), encryption(context)]
}

async function signing(context: DoctorContext): Promise<DoctorFinding[]> {
  const { config, now } = context
  if (config.AUTH_JWT_KEYS) return [pass('Tokens are signed with your own key of AUTH_JWT_KEYS.')]
  if (config.AUTH_JWT_ALGORITHM === 'HS256') {
    return [
      warn(
        'Tokens are signed with AUTH_JWT_SECRET: anyone who can verify them can also create them. Set AUTH_JWT_ALGORITHM=RS256 when every service verifies with /.well-known/jwks.json.',
      ),
    ]
  }
  const current = await checkCurrentKey(context)
  if (!current) return []
  const signsSince = current.activates_at ?? current.created_at
  const days = Math.floor((now.getTime() - signsSince.getTime()) / 86_400_000)
  const fact = `The signing key (${current.alg}) is ${days} days old`
  if (days <= maxAgeDays) return [pass(`${fact}.`)]
  return [warn(`${fact}: run npm run keys -- rotate, which signs no one out.`)]
}

function encryption(context: DoctorContext): DoctorFinding {
  if (context.config.AUTH_ENCRYPTION_KEY) {
    return pass('Stored data has its own encryption key.')
  }
  return warn(
    'AUTH_ENCRYPTION_KEY is not set: the key is derived from AUTH_JWT_SECRET, which therefore cannot be changed alone. See docs/operations.md.',
  )
}

/** Undefined before the first start, or when the database is unavailable, which has a separate check. */
export async function checkCurrentKey({
  config,
  db,
}: DoctorContext): Promise<SigningKeyRow | undefined> {
  try {
    if (!(await hasTable(db, config.AUTH_DB_NAMESPACE, 'postern_signing_keys'))) return undefined
    return (await listSigningKeys(db)).find(({ state }) => state === 'current')
  } catch {
    return undefined
  }
}
