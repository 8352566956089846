import type { Config } from '../../../plugins/config/config.ts'
import { ConfigError, type Mistake } from '../../../plugins/config/mistake.ts'
import type { Environment } from '../../../plugins/config/names.ts'
import { readConfig } from '../../../plugins/config/read-config.ts'

/** The least a production server needs. */
export const leastEnvironment = {
  AUTH_SITE_URL: 'https://app.example.test',
  AUTH_API_EXTERNAL_URL: 'https://auth.example.test',
  AUTH_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://postern@localhost:5432/postern',
  AUTH_JWT_SECRET: 'thirty-two bytes are the least here',
}

/** What a configuration with these variables on top of the least ones is, and what is said about it. */
export function read(env: Environment, dev = false): { config: Config; notices: string[] } {
  const notices: string[] = []
  const warn = (message: string) => notices.push(message)
  return { config: readConfig({ ...leastEnvironment, ...env }, { dev, warn }), notices }
}

/** The mistakes of a configuration with these variables on top of the least ones. */
export function mistakesIn(env: Environment): readonly Mistake[] {
  try {
    read(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
}

export function wrongVariables(env: Environment): string[] {
  return mistakesIn(env).map(({ variable }) => variable)
}
