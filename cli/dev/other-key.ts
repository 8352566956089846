/** A database in .data/ meets another encryption key than the one it was made with. */
import { variables } from '../../plugins/config/config.ts'
import { type Environment, lookUp } from '../../plugins/config/names.ts'
import { DecryptionError } from '../../plugins/encryption.ts'

/** The error of a start; one of that kind in words for a development server. */
export function asDevelopmentError(error: unknown, env: Environment): unknown {
  const isOwn = lookUp(env, 'DATABASE_URL', variables.DATABASE_URL) === undefined
  const key = lookUp(env, 'AUTH_ENCRYPTION_KEY', variables.AUTH_ENCRYPTION_KEY)
  if (!(error instanceof DecryptionError) || !isOwn || key === undefined) return error
  return new Error(`The database in .data/ was made with another ${key.name} than the one in the environment or in .env.
  To go on with it:  leave that out (npm run secrets writes it into .env, for a deployment)
  To begin anew:     remove .data/`)
}
