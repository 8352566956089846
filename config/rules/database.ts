/** Unsupported parameters of the connection string. */
import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'

const variable = 'DATABASE_URL'
const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']
const targets = ['any', 'read-write', 'primary']

export function databaseRule({ DATABASE_URL }: Config): ConfigIssue[] {
  // A missing or malformed value is reported separately.
  const searchParams = URL.parse(DATABASE_URL)?.searchParams
  if (!searchParams) return []
  const mode = searchParams.get('sslmode')
  const target = searchParams.get('target_session_attrs')
  return [
    ...(mode !== null && !modes.includes(mode)
      ? [{ variable, problem: `has sslmode=${mode}`, remedy: `sslmode must be one of ${modes}` }]
      : []),
    ...(mode === 'verify-ca' && !searchParams.get('sslrootcert')
      ? [
          {
            variable,
            problem: 'has sslmode=verify-ca without sslrootcert',
            remedy:
              'set sslrootcert to the file of the certificate authority, or use sslmode=verify-full',
          },
        ]
      : []),
    ...(target !== null && !targets.includes(target)
      ? [
          {
            variable,
            problem: `has target_session_attrs=${target}`,
            remedy: 'it must be read-write, primary or any, because this server writes',
          },
        ]
      : []),
  ]
}
