import { ConfigError, type ConfigIssue } from '../../config/core/config-error.ts'
import type { Config } from '../../config/groups/index.ts'
import type { Environment } from '../../config/names.ts'
import { readConfig } from '../../config/read-config.ts'

/** The minimal configuration of a production server. */
export const minimalEnvironment = {
  AUTH_SITE_URL: 'https://app.example.test',
  AUTH_API_EXTERNAL_URL: 'https://auth.example.test',
  AUTH_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://postern@localhost:5432/postern',
  AUTH_JWT_SECRET: 'thirty-two bytes are the least here',
}

/** The configuration of these variables on top of the minimal ones, and its notices. */
export function read(env: Environment, dev = false): { config: Config; notices: string[] } {
  const notices: string[] = []
  const warn = (message: string) => notices.push(message)
  return { config: readConfig({ ...minimalEnvironment, ...env }, { dev, warn }), notices }
}

/** The errors of a configuration with these variables on top of the minimal ones. */
export function issuesIn(env: Environment): readonly ConfigIssue[] {
  try {
    read(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
}

export function wrongVariables(env: Environment): string[] {
  return issuesIn(env).map(({ variable }) => variable)
}
