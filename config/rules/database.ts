/** Unsupported parameters of the connection strings. */
import { hostsParameter } from '../../schemas/connection-string.ts'
import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']
const targets = ['any', 'read-write', 'primary']

export function databaseRule({ DATABASE_URL, AUTH_DB_READ_URL }: Config): ConfigIssue[] {
  // A missing or malformed value is reported separately.
  const primary = URL.parse(DATABASE_URL)?.searchParams
  const replicas = (AUTH_DB_READ_URL ?? []).flatMap((text) => URL.parse(text)?.searchParams ?? [])
  return [
    ...(primary ? [...encryptionIssues('DATABASE_URL', primary), ...targetIssues(primary)] : []),
    ...replicas.flatMap((parameters) => [
      ...encryptionIssues('AUTH_DB_READ_URL', parameters),
      ...replicaIssues(parameters),
    ]),
  ]
}

function encryptionIssues(variable: string, parameters: URLSearchParams): ConfigIssue[] {
  const mode = parameters.get('sslmode')
  if (mode !== null && !modes.includes(mode)) {
    return [{ variable, problem: `has sslmode=${mode}`, hint: `sslmode must be one of ${modes}` }]
  }
  if (mode !== 'verify-ca' || parameters.get('sslrootcert')) return []
  const hint =
    'set sslrootcert to the file of the certificate authority, or use sslmode=verify-full'
  return [{ variable, problem: 'has sslmode=verify-ca without sslrootcert', hint }]
}

function targetIssues(parameters: URLSearchParams): ConfigIssue[] {
  const target = parameters.get('target_session_attrs')
  if (target === null || targets.includes(target)) return []
  return [
    {
      variable: 'DATABASE_URL',
      problem: `has target_session_attrs=${target}`,
      hint: 'it must be read-write, primary or any, because this server writes',
    },
  ]
}

/** The lag of a replica is measured on one server, which must be the one that is read. */
function replicaIssues(parameters: URLSearchParams): ConfigIssue[] {
  const variable = 'AUTH_DB_READ_URL'
  const target = parameters.get('target_session_attrs') ?? 'any'
  return [
    ...(parameters.has(hostsParameter)
      ? [
          {
            variable,
            problem: 'has several hosts in one connection string',
            hint: 'write one connection string for each standby, separated by commas',
          },
        ]
      : []),
    ...(target !== 'any'
      ? [{ variable, problem: `has target_session_attrs=${target}`, hint: 'leave it out' }]
      : []),
  ]
}
