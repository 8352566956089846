/** A configuration out of variables, with what every server needs already set. */
import { readConfig } from '../../config/read-config.ts'

/** For servers outside development, which require one for a new database. */
export const encryptionKey = '88hhusDdDMDbNcwNGfs5Rd1y_V0otipeLB6anTWgj2o'

const needed = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_DB_DRIVER: 'postgres',
  DATABASE_URL: 'postgres://unused@127.0.0.1:9/unused',
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
}

export function testConfig(variables: Record<string, string> = {}, dev = true) {
  return readConfig({ ...needed, ...variables }, { dev, warn: () => {} })
}
