/** Where the values of a command come from. */
import { variables } from '../plugins/config/config.ts'
import { withDotEnv } from '../plugins/config/dot-env.ts'
import { type Environment, lookUp } from '../plugins/config/names.ts'
import { findRunningServer } from './dev/running-server.ts'

export interface CommandEnvironment {
  env: Environment
  /** They are those of the development server that runs in this folder. */
  dev: boolean
}

/** The environment and `.env`; where they name no database, the development server of this folder adds its own. */
export function commandEnvironment(): CommandEnvironment {
  const env = withDotEnv(process.env)
  const hasDatabase = lookUp(env, 'DATABASE_URL', variables.DATABASE_URL) !== undefined
  const running = hasDatabase ? undefined : findRunningServer('.data')
  return running ? { env: { ...env, ...running }, dev: true } : { env, dev: false }
}
