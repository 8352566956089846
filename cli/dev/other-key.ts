/** Handles a database in .data/ with another encryption key. */
import { variables } from '../../config/groups/index.ts'
import { type Environment, lookUp } from '../../config/names.ts'
import { DecryptionError } from '../../plugins/security/encryption/index.ts'

/** Returns a start error, with an explanation for a development server if it is about the key. */
export function asDevelopmentError(error: unknown, env: Environment): unknown {
  const isOwn = lookUp(env, 'DATABASE_URL', variables.DATABASE_URL) === undefined
  const key = lookUp(env, 'AUTH_ENCRYPTION_KEY', variables.AUTH_ENCRYPTION_KEY)
  if (!(error instanceof DecryptionError) || !isOwn || key === undefined) return error
  return new Error(`The database in .data/ was created with another ${key.name} than the one in the environment or in .env.
  To keep it:     remove the variable (npm run secrets writes it to .env, for a deployment)
  To start over:  remove .data/`)
}
