/** The source of a command's variables. */
import { withDotEnv } from '../../config/dot-env.ts'
import { variables } from '../../config/groups/index.ts'
import { type Environment, lookUp } from '../../config/names.ts'
import { findRunningServer } from '../dev/running-server.ts'

interface CommandEnvironment {
  env: Environment
  /** They come from the development server that runs in this folder. */
  dev: boolean
}

/** The environment and `.env`; without a database, the development server of this folder adds its variables. */
export function commandEnvironment(): CommandEnvironment {
  const env = withDotEnv(process.env)
  const hasDatabase = lookUp(env, 'DATABASE_URL', variables.DATABASE_URL) !== undefined
  const running = hasDatabase ? undefined : findRunningServer('.data')
  return running ? { env: { ...env, ...running }, dev: true } : { env, dev: false }
}
